#include "formats/ordered_recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/errors.hpp"

namespace echoform::formats {
namespace {

// Bytes that are read and converted while they are in the processor's cache.
constexpr std::size_t block_bytes = std::size_t{1} << 20;

}  // namespace

void OrderedRecording::set_order(PairOrder order, std::size_t file_rows, const Amplitudes& amplitudes) {
  order_ = std::move(order);
  amplitudes_ = amplitudes;
  rows_of_source_.assign(file_rows, no_row);
  for (std::size_t row = 0; row < order_.source.size(); ++row) {
    if (order_.source[row] != PairOrder::none) rows_of_source_[order_.source[row]] = row;
  }
}

std::size_t OrderedRecording::number_bytes() const {
  return amplitudes_.as_counts ? sizeof(std::int16_t) : sizeof(float);
}

std::size_t OrderedRecording::rows_at_once() const {
  if (reads_whole_frames()) return rows_of_source_.size();
  return std::clamp<std::size_t>(block_bytes / row_bytes(), 1, rows_of_source_.size());
}

/// Goes through a frame in the file's order: calls use(source, count, bytes).
template <class Use>
void OrderedRecording::for_each_block(std::size_t frame, const Use& use) {
  const std::size_t at_once = rows_at_once();
  std::vector<std::byte> block(at_once * row_bytes());
  for (std::size_t source = 0; source < rows_of_source_.size(); source += at_once) {
    const std::size_t count = std::min(at_once, rows_of_source_.size() - source);
    const auto bytes = std::span(block).first(count * row_bytes());
    read_source(frame, source, count, bytes);
    use(source, count, bytes);
  }
}

void OrderedRecording::to_amplitudes(std::size_t frame, std::size_t source, std::span<float> samples) const {
  const auto zero = static_cast<float>(amplitudes_.zero);
  const auto scale = static_cast<float>(amplitudes_.scale);
  bool finite = true;
  for (float& sample : samples) {
    sample = (sample - zero) * scale;
    finite = finite & (std::abs(sample) <= std::numeric_limits<float>::max());
  }
  if (finite) return;
  const auto bad = std::ranges::find_if(samples, [](float sample) { return !std::isfinite(sample); });
  throw InputError(fmt::format("{}, sample {}", place_of(frame, source), bad - samples.begin() + 1), fmt::format("{}", *bad),
                   "finite samples");
}

void OrderedRecording::read_frame(std::size_t frame, std::span<float> samples) {
  check_request(frame, samples.size());
  const std::size_t length = acquisition_.samples;
  if (order_.missing > 0) std::ranges::fill(samples, 0.0F);
  for_each_block(frame, [&](std::size_t source, std::size_t count, std::span<const std::byte> bytes) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t row = rows_of_source_[source + k];
      if (row == no_row) continue;
      const auto target = samples.subspan(row * length, length);
      const std::byte* const from = bytes.data() + k * row_bytes();
      if (amplitudes_.as_counts) {
        const auto scale = static_cast<float>(amplitudes_.scale);
        const auto* const counts = reinterpret_cast<const std::int16_t*>(from);
        for (std::size_t n = 0; n < length; ++n) target[n] = scale * static_cast<float>(counts[n]);
      } else {
        std::memcpy(target.data(), from, row_bytes());
        to_amplitudes(frame, source + k, target);
      }
    }
  });
}

Acquisition OrderedRecording::stored() const {
  Acquisition stored = acquisition_;
  if (!amplitudes_.as_counts) return stored;
  stored.encoding = SampleEncoding::int16;
  stored.sample_scale = amplitudes_.scale;
  return stored;
}

void OrderedRecording::read_stored(std::size_t frame, std::span<std::byte> bytes) {
  if (!amplitudes_.as_counts) return Recording::read_stored(frame, bytes);
  check_request(frame, bytes.size() / sizeof(std::int16_t));
  bool as_in_file = rows_of_source_.size() == order_.source.size();
  for (std::size_t row = 0; row < order_.source.size() && as_in_file; ++row) as_in_file = order_.source[row] == row;
  if (as_in_file) return read_source(frame, 0, rows_of_source_.size(), bytes);
  if (order_.missing > 0) std::ranges::fill(bytes, std::byte{0});
  for_each_block(frame, [&](std::size_t source, std::size_t count, std::span<const std::byte> block) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t row = rows_of_source_[source + k];
      if (row != no_row) std::memcpy(bytes.data() + row * row_bytes(), block.data() + k * row_bytes(), row_bytes());
    }
  });
}

void OrderedRecording::read_rows(std::size_t frame, std::span<const RowRange> rows, std::span<std::byte> bytes) {
  if (reads_whole_frames()) return Recording::read_rows(frame, rows, bytes);
  check_rows(frame, rows, bytes.size());
  for (const RowRange& range : rows) {
    for (std::size_t row = range.first; row < range.first + range.count;) {
      const std::size_t source = order_.source[row];
      std::size_t count = 1;
      while (source != PairOrder::none && row + count < range.first + range.count && order_.source[row + count] == source + count)
        ++count;
      const auto target = bytes.first(count * row_bytes());
      if (source == PairOrder::none) {
        std::ranges::fill(target, std::byte{0});
      } else {
        read_source(frame, source, count, target);
        if (!amplitudes_.as_counts) {
          for (std::size_t k = 0; k < count; ++k) {
            to_amplitudes(frame, source + k, {reinterpret_cast<float*>(target.data() + k * row_bytes()), acquisition_.samples});
          }
        }
      }
      bytes = bytes.subspan(target.size());
      row += count;
    }
  }
}

std::size_t OrderedRecording::reading_bytes() const {
  return reads_whole_frames() ? 2 * rows_of_source_.size() * row_bytes() : rows_at_once() * row_bytes();
}

std::string OrderedRecording::place_of(std::size_t frame, std::size_t source) const {
  return fmt::format("{}, frame {}, A-scan {}", path_.string(), frame, source + 1);
}

}  // namespace echoform::formats
