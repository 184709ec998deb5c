#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gpu/on_device.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/scan_lines/adaptive_lines.hpp"
#include "stages/scan_lines/adaptive_on_device.hpp"
#include "stages/scan_lines/line_sizes.hpp"

namespace echoform::gpu {

void AdaptiveLinesOnDevice::prepare(const ScanLinesOptions& options, std::size_t pitch, const BlockSpec& rows) {
  held_.clear();
  analytic_.reset();
  if (adaptive_kind(options.adaptive.kind, "scan-lines stage").on_cuda == AdaptiveOnCuda::sums) {
    weighing_ = {};
    prepare_sums(options, pitch);
  } else {
    prepare_channels(options, rows);
  }
}

void AdaptiveLinesOnDevice::prepare_sums(const ScanLinesOptions& options, std::size_t pitch) {
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
  const std::size_t bytes = set.lines.size() * pitch * sizeof(float);
  beside_.sum = keep_room(bytes);
  beside_.second = keep_room(bytes);
  if (kind.sums_of == ChannelSums::low_frequencies) beside_.low = keep_room(bytes);
}

void AdaptiveLinesOnDevice::prepare_channels(const ScanLinesOptions& options, const BlockSpec& rows) {
  const LineSet& set = *options.lines;
  require_channels(most_receivers(set), "scan-lines");
  weighing_ = channel_weighing(options.adaptive);
  sizes_ = channel_sizes(options.adaptive, set.lines.size(), set.ranges.count, most_receivers(set), weighing_.complex ? 2 : 1);
  channels_ = {};
  channels_.pitch = sizes_.pitch;
  channels_.values = keep_room(sizes_.values);
  channels_.weights = keep_room(sizes_.weights);
  weighing_.channels = channels_.values;
  weighing_.weights = channels_.weights;
  weighing_.points = static_cast<std::uint32_t>(set.ranges.count);
  weighing_.pitch = sizes_.pitch;
  weighing_.by_weight = !options.normalise;
  const std::size_t workspace = weighing_workspace_bytes(weighing_);
  if (workspace != 0) weighing_.workspace = keep_room(workspace);
  prepare_weigh_channels(weighing_);
  if (!weighing_.complex) return;
  analytic_ = make_analytic_signal_cuda({}, backend_);
  analytic_rows_ = analytic_->prepare(rows);
  analytic_memory_ = keep_room(analytic_rows_.bytes());
}

void AdaptiveLinesOnDevice::process(const LineSums& sums, ExecutionQueue& queue) const noexcept {
  const cudaStream_t stream = stream_of(queue);
  if (weighing_.kind == AdaptiveOnCuda::none) {
    launch_sums_beside(sums, beside_, stream);
    launch_weighed_lines(sums, beside_, stream);
    return;
  }
  LineSums of_rows = sums;
  if (analytic_) {
    analytic_->process({sums.rows}, {analytic_memory_}, queue);
    of_rows.rows = analytic_memory_ + 2 * analytic_rows_.lead;
    of_rows.row_stride = analytic_rows_.row_stride;
    of_rows.complex = true;
  }
  weigh_channels(of_rows, stream);
  launch_close_lines(sums, stream);
}

/// Processes some lines at a time.
void AdaptiveLinesOnDevice::weigh_channels(const LineSums& sums, cudaStream_t stream) const noexcept {
  LineChannels to = channels_;
  ChannelWeighing weighing = weighing_;
  weighing.divisor_pitch = sums.set.pitch;
  weighing.out_line = sums.out_stride;
  for (std::uint32_t line = 0; line < sums.set.lines; line += sizes_.lines_at_once) {
    to.first_line = line;
    to.lines = std::min(sizes_.lines_at_once, sums.set.lines - line);
    launch_align_channels(sums, to, stream);
    weighing.lines = to.lines;
    weighing.divisor = sums.set.turn_re + std::size_t{line} * sums.set.pitch;
    weighing.out = sums.out + line * sums.out_stride;
    launch_weigh_channels(weighing, stream);
  }
}

std::size_t AdaptiveLinesOnDevice::bytes() const noexcept {
  std::size_t bytes = analytic_ ? analytic_->bytes() : 0;
  for (const Buffer& buffer : held_) bytes += buffer.size();
  return bytes;
}

const float* AdaptiveLinesOnDevice::keep(const std::vector<float>& numbers) {
  if (numbers.empty()) return nullptr;
  held_.push_back(on_device(numbers, backend_));
  return static_cast<const float*>(held_.back().data());
}

float* AdaptiveLinesOnDevice::keep_room(std::size_t bytes) {
  held_.push_back(backend_.allocate(bytes, MemoryUse::working));
  return static_cast<float*>(held_.back().data());
}

}  // namespace echoform::gpu
