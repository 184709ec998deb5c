#include "stages/unpack/raw_samples.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"

namespace echoform {

ElementType raw_element_type(SampleEncoding encoding) {
  switch (encoding) {
    case SampleEncoding::int16:
      return ElementType::int16;
    case SampleEncoding::packed12:
      return ElementType::packed12;
    case SampleEncoding::float32:
      return ElementType::float32;
  }
  return ElementType::float32;
}

SampleEncoding encoding_of(ElementType type) {
  if (type == ElementType::int16) return SampleEncoding::int16;
  return type == ElementType::packed12 ? SampleEncoding::packed12 : SampleEncoding::float32;
}

std::size_t raw_row_bytes(const BlockSpec& raw) {
  const std::size_t stride = stride_of(raw);
  if (raw.type == ElementType::packed12) return stride;
  return stride * (raw.type == ElementType::int16 ? sizeof(std::int16_t) : sizeof(float));
}

std::size_t raw_bytes(ElementType type, std::size_t samples) {
  if (type == ElementType::packed12) return (3 * samples + 1) / 2;
  return samples * (type == ElementType::int16 ? sizeof(std::int16_t) : sizeof(float));
}

BlockSpec raw_block(const Acquisition& acquisition) {
  BlockSpec spec;
  spec.type = raw_element_type(acquisition.encoding);
  spec.rows = acquisition.a_scans();
  spec.columns = acquisition.samples;
  spec.row_stride = spec.type == ElementType::packed12 ? acquisition.bytes_per_a_scan() : acquisition.samples;
  spec.matrix = acquisition.matrix;
  return spec;
}

void require_sample_scale(double sample_scale, std::string_view stage) {
  const float single = static_cast<float>(sample_scale);
  if (!std::isfinite(single) || std::fpclassify(single) != FP_NORMAL) {
    throw InputError(fmt::format("{} stage, sample scale", stage), fmt::format("{}", sample_scale),
                     "a number other than 0 that single precision can hold");
  }
}

}  // namespace echoform
