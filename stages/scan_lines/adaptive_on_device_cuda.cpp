#include "gpu/on_device.hpp"
#include "stages/scan_lines/adaptive_lines.hpp"
#include "stages/scan_lines/adaptive_on_device.hpp"

namespace echoform::gpu {

void AdaptiveSumsOnDevice::prepare(const ScanLinesOptions& options, std::size_t pitch) {
  held_.clear();
  const AdaptiveKind& kind = adaptive_kind(options.adaptive.kind, "scan-lines stage");
  const LineSet& set = *options.lines;
  const scan_lines::AdaptiveTables tables = scan_lines::make_adaptive_tables(kind.sums_of, set, pitch);
  beside_ = {};
  beside_.sums = kind.sums_of;
  beside_.low_frequencies = static_cast<std::uint32_t>(options.adaptive.low_frequencies);
  beside_.half_window = static_cast<std::uint32_t>(options.adaptive.half_window);
  beside_.by_weight = !options.normalise;
  beside_.weight = keep(tables.weight);
  beside_.pairs = keep(tables.pairs);
  beside_.cosine = keep(tables.cosine);
  const std::size_t points = set.lines.size() * pitch;
  beside_.sum = keep_room(points);
  beside_.second = keep_room(points);
  if (kind.sums_of == ChannelSums::low_frequencies) beside_.low = keep_room(points);
}

void AdaptiveSumsOnDevice::process(const LineSums& sums, cudaStream_t stream) const noexcept {
  launch_sums_beside(sums, beside_, stream);
  launch_weighed_lines(sums, beside_, stream);
}

std::size_t AdaptiveSumsOnDevice::bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Buffer& buffer : held_) bytes += buffer.size();
  return bytes;
}

const float* AdaptiveSumsOnDevice::keep(const std::vector<float>& numbers) {
  if (numbers.empty()) return nullptr;
  held_.push_back(on_device(numbers, backend_));
  return static_cast<const float*>(held_.back().data());
}

float* AdaptiveSumsOnDevice::keep_room(std::size_t numbers) {
  held_.push_back(backend_.allocate(numbers * sizeof(float), MemoryUse::working));
  return static_cast<float*>(held_.back().data());
}

}  // namespace echoform::gpu
