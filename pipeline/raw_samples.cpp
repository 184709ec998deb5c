#include "pipeline/raw_samples.hpp"

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
  return spec;
}

GatedSamples gated(const BlockSpec& raw, const SampleGate& gate) {
  GatedSamples samples{raw, raw_bytes(raw.type, gate.first)};
  samples.spec.columns = gate.count;
  return samples;
}

DeviceRows device_rows(const BlockSpec& raw, const SampleGate& gate) {
  DeviceRows rows;
  rows.row_bytes = raw_bytes(raw.type, gate.count);
  rows.pitch = (rows.row_bytes + 15) / 16 * 16;
  rows.spec = raw;
  rows.spec.columns = gate.count;
  rows.spec.row_stride = raw.type == ElementType::packed12 ? rows.pitch : rows.pitch / raw_bytes(raw.type, 1);
  return rows;
}

}  // namespace echoform
