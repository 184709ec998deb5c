#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "acquisition/sample_encodings.hpp"
#include "apps/play.hpp"
#include "base/errors.hpp"
#include "offline/recorded_frame.hpp"
#include "simulators/encode.hpp"

namespace echoform {
namespace {

/// A Hello has one width and one length. Files state those of each element, equal except for rounding. Where they truly differ, a
/// warning states that the mean is sent.
void use_one_size(Probe& probe, Metres Element::*size, std::string_view name) {
  double sum = 0.0;
  double least = (probe.elements.front().*size).value;
  double most = least;
  for (const Element& element : probe.elements) {
    const double value = (element.*size).value;
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  if (least == most) return;
  const double mean = sum / static_cast<double>(probe.elements.size());
  if (most - least > 0.01 * mean) {
    spdlog::warn("elements have {}s from {:g} to {:g} mm: the mean, {:g} mm, is sent", name, 1e3 * least, 1e3 * most, 1e3 * mean);
  }
  for (Element& element : probe.elements) element.*size = Metres(mean);
}

}  // namespace

void use_one_element_size(Probe& probe) {
  use_one_size(probe, &Element::width, "width");
  use_one_size(probe, &Element::length, "length");
}

RecordingSource::RecordingSource(std::unique_ptr<Recording> recording, std::optional<SampleEncoding> encoding,
                                 std::size_t memory_limit)
    : recording_(std::move(recording)),
      acquisition_(encoding ? recording_->acquisition() : recording_->stored()),
      as_stored_(!encoding) {
  log_warnings(*recording_);
  // The encoder counts give the place of the probe for each frame.
  if (recording_->placed_by_encoder()) acquisition_.probe = recording_->probe_at(Pose{});
  if (encoding) acquisition_.encoding = *encoding;
  use_one_element_size(acquisition_.probe);
  if (!as_stored_) values_.resize(acquisition_.a_scans() * acquisition_.samples);
  if (encoding && facts_of(*encoding).counts()) {
    float peak = 0.0F;
    for (std::size_t frame = 0; frame < recording_->frames(); ++frame) {
      recording_->read_frame(frame, values_);
      for (const float value : values_) peak = std::max(peak, std::abs(value));
    }
    if (peak > 0.0F) acquisition_.sample_scale = static_cast<double>(peak) / facts_of(*encoding).highest_count;
  }
  const std::size_t frame_bytes = acquisition_.frame_bytes();
  in_memory_ = recording_->frames() <= memory_limit / frame_bytes;
  bytes_.resize(in_memory_ ? recording_->frames() * frame_bytes : frame_bytes);
  if (!in_memory_) return;
  for (std::size_t frame = 0; frame < recording_->frames(); ++frame)
    encode(frame, {bytes_.data() + frame * frame_bytes, frame_bytes});
}

std::span<const std::byte> RecordingSource::frame(std::uint64_t index) {
  const std::size_t frame_bytes = acquisition_.frame_bytes();
  if (in_memory_) return {bytes_.data() + index * frame_bytes, frame_bytes};
  encode(index, bytes_);
  return bytes_;
}

void RecordingSource::encode(std::uint64_t index, std::span<std::byte> bytes) {
  if (as_stored_) return recording_->read_stored(index, bytes);
  recording_->read_frame(index, values_);
  if (!facts_of(acquisition_.encoding).counts()) {
    std::memcpy(bytes.data(), values_.data(), bytes.size());
    return;
  }
  const double counts_per_unit = 1.0 / acquisition_.sample_scale;
  std::vector<std::int16_t> counts(acquisition_.samples);
  const std::size_t a_scan_bytes = acquisition_.bytes_per_a_scan();
  for (std::size_t a_scan = 0; a_scan < acquisition_.a_scans(); ++a_scan) {
    const float* values = values_.data() + a_scan * acquisition_.samples;
    for (std::size_t n = 0; n < counts.size(); ++n)
      counts[n] = static_cast<std::int16_t>(std::lrint(values[n] * counts_per_unit));
    const std::span<std::byte> place(bytes.data() + a_scan * a_scan_bytes, a_scan_bytes);
    encode_counts(counts, acquisition_.encoding, acquisition_.sample_scale, place);
  }
}

}  // namespace echoform
