#include "stages/scan_lines/adaptive_lines.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace echoform::scan_lines {

std::size_t AdaptiveLines::Scratch::bytes() const noexcept {
  return (beside.size() + channels.size() + gathered.size() + weights.size()) * sizeof(float) +
         heard.size() * sizeof(std::uint32_t) + workspace.size() * sizeof(double);
}

std::size_t adaptive_tables_bytes(ChannelSums sums, const LineSet& lines, std::size_t ranges) {
  if (sums == ChannelSums::none) return 0;
  const std::size_t tables = sums == ChannelSums::roots || sums == ChannelSums::low_frequencies ? 2 : 1;
  return tables * lines.lines.size() * ranges * sizeof(float);
}

AdaptiveTables make_adaptive_tables(ChannelSums sums, const LineSet& lines, std::size_t ranges) {
  const std::size_t count = lines.ranges.count;
  const bool roots = sums == ChannelSums::roots;
  const bool low = sums == ChannelSums::low_frequencies;
  AdaptiveTables tables;
  if (sums == ChannelSums::none) return tables;
  tables.weight.assign(lines.lines.size() * ranges, 0.0F);
  if (roots) tables.pairs.assign(tables.weight.size(), 0.0F);
  if (low) tables.cosine.assign(tables.weight.size(), 1.0F);
  std::size_t entry = 0;
  for (std::size_t line = 0; line < lines.lines.size(); ++line) {
    const std::size_t receivers = lines.events[lines.lines[line].event].receivers.size();
    for (std::size_t k = 0; k < count; ++k) {
      double sum = 0.0;
      double root_sum = 0.0;
      std::size_t heard = 0;
      for (std::size_t row = 0; row < receivers; ++row) {
        const std::uint32_t table = lines.weight_tables[entry + row];
        if (table == LineSet::unheard) continue;
        const double w = lines.weights[table * count + k];
        sum += w;
        root_sum += std::sqrt(w);
        if (w > 0.0) ++heard;
      }
      const std::size_t at = line * ranges + k;
      tables.weight[at] = static_cast<float>(low ? static_cast<double>(heard) : sum);
      if (roots && heard > 1) tables.pairs[at] = static_cast<float>(2.0 / (root_sum * root_sum - sum));
      if (low && heard > 0) {
        tables.cosine[at] = static_cast<float>(std::cos(2.0 * std::numbers::pi / static_cast<double>(heard)));
      }
    }
    entry += receivers;
  }
  return tables;
}

AdaptiveLines::Sizes AdaptiveLines::sizes_of(const AdaptiveOptions& options, const LineSet& lines, std::size_t ranges) {
  const AdaptiveKind& kind = adaptive_kind(options.kind, "adaptive weights");
  Sizes sizes;
  if (kind.sums_of == ChannelSums::none) return sizes;
  if (kind.of_sums != nullptr) {
    sizes.beside = 3 * ranges + point_workspace(options, ranges);
    return sizes;
  }
  for (const LineEvent& event : lines.events) sizes.receivers = std::max(sizes.receivers, event.receivers.size());
  const std::size_t parts = kind.analytic ? 2 : 1;
  sizes.channels = parts * sizes.receivers * ranges;
  sizes.gathered = parts * sizes.receivers * (2 * options.half_window + 1);
  sizes.workspace = channel_workspace(options, sizes.receivers);
  return sizes;
}

std::size_t AdaptiveLines::bytes_of(const AdaptiveOptions& options, const LineSet& lines, std::size_t ranges,
                                    std::size_t members) {
  const Sizes sizes = sizes_of(options, lines, ranges);
  return adaptive_tables_bytes(adaptive_kind(options.kind, "adaptive weights").sums_of, lines, ranges) +
         members * ((sizes.beside + sizes.channels + sizes.gathered + sizes.receivers) * sizeof(float) +
                    sizes.receivers * sizeof(std::uint32_t) + sizes.workspace * sizeof(double));
}

AdaptiveLines::AdaptiveLines(const AdaptiveOptions& options, bool normalise, const LineSet& lines, std::size_t ranges,
                             std::size_t members)
    : options_(options), kind_(&adaptive_kind(options.kind, "adaptive weights")), normalise_(normalise), ranges_(ranges) {
  if (kind_->sums_of == ChannelSums::none) return;
  const Sizes sizes = sizes_of(options, lines, ranges);
  receivers_ = sizes.receivers;
  tables_ = make_adaptive_tables(kind_->sums_of, lines, ranges);
  scratch_.resize(members);
  for (Scratch& scratch : scratch_) {
    scratch.beside.resize(sizes.beside);
    scratch.channels.resize(sizes.channels);
    scratch.gathered.resize(sizes.gathered);
    scratch.weights.resize(sizes.receivers);
    scratch.heard.resize(sizes.receivers);
    scratch.workspace.resize(sizes.workspace);
  }
}

void AdaptiveLines::point(LineTask& task, std::size_t line, std::size_t member) noexcept {
  Scratch& scratch = scratch_[member];
  if (kind_->sums_of == ChannelSums::channels) {
    task.channels = scratch.channels.data();
    return;
  }
  task.second = scratch.beside.data();
  if (kind_->sums_of != ChannelSums::low_frequencies) return;
  task.low = task.second + ranges_;
  task.low_frequencies = static_cast<std::uint32_t>(options_.low_frequencies);
  task.heard = tables_.weight.data() + line * ranges_;
  task.cosine = tables_.cosine.data() + line * ranges_;
}

void AdaptiveLines::point_quadrature(LineTask& task, std::size_t member) noexcept {
  task.channels = scratch_[member].channels.data() + receivers_ * ranges_;
}

float AdaptiveLines::scaled(float value, float weight) const noexcept {
  return kind_->result == AdaptiveResult::image || normalise_ ? value : value * weight;
}

void AdaptiveLines::finish(const LineTask& task, std::size_t line, std::size_t member, const float* divisor, std::size_t count,
                           float* out) noexcept {
  Scratch& scratch = scratch_[member];
  const float* const weight = tables_.weight.data() + line * ranges_;
  if (kind_->of_channels != nullptr) {
    finish_channels(task, divisor, count, scratch, weight, out);
    return;
  }
  float* const result = scratch.beside.data() + 2 * ranges_;
  kind_->of_sums(options_,
                 {.sum = task.out,
                  .second = task.second,
                  .low = task.low,
                  .weight = weight,
                  .pairs = tables_.pairs.data() + (tables_.pairs.empty() ? 0 : line * ranges_),
                  .points = count,
                  .workspace = result + ranges_},
                 result);
  if (kind_->result == AdaptiveResult::factor) {
    for (std::size_t k = 0; k < count; ++k) out[k] = task.out[k] * divisor[k] * result[k];
  } else {
    for (std::size_t k = 0; k < count; ++k) out[k] = scaled(result[k], weight[k]);
  }
}

ChannelWindow AdaptiveLines::window_at(const LineTask& task, std::size_t range, std::size_t count,
                                       Scratch& scratch) const noexcept {
  const std::size_t half = options_.half_window;
  const std::size_t first = range - std::min(range, half);
  const std::size_t points = std::min(count - 1, range + half) + 1 - first;
  std::size_t heard = 0;
  for (std::uint32_t j = 0; j < task.receiver_count; ++j) {
    const float weight = task.receivers[j].weights[range];
    if (!(weight > 0.0F)) continue;
    scratch.weights[heard] = weight;
    scratch.heard[heard++] = j;
  }
  float* gathered = scratch.gathered.data();
  const float* from = scratch.channels.data();
  ChannelWindow window{.weights = scratch.weights.data(),
                       .real = gathered,
                       .imaginary = kind_->analytic ? gathered + points * heard : nullptr,
                       .channels = heard,
                       .points = points,
                       .centre = range - first,
                       .workspace = scratch.workspace.data()};
  for (int part = 0; part < (kind_->analytic ? 2 : 1); ++part) {
    for (std::size_t n = 0; n < heard; ++n) {
      const float* const row = from + scratch.heard[n] * ranges_ + first;
      for (std::size_t k = 0; k < points; ++k) gathered[k * heard + n] = row[k];
    }
    gathered += points * heard;
    from += receivers_ * ranges_;
  }
  return window;
}

void AdaptiveLines::finish_channels(const LineTask& task, const float* divisor, std::size_t count, Scratch& scratch,
                                    const float* weight, float* out) const noexcept {
  for (std::size_t k = 0; k < count; ++k) {
    const ChannelWindow window = window_at(task, k, count, scratch);
    if (window.channels == 0) {
      out[k] = 0.0F;
      continue;
    }
    const float result = kind_->of_channels(options_, window);
    if (kind_->result != AdaptiveResult::factor) {
      out[k] = scaled(result, weight[k]);
      continue;
    }
    const float* const here = window.real + window.centre * window.channels;
    float sum = 0.0F;
    for (std::size_t n = 0; n < window.channels; ++n) sum += window.weights[n] * here[n];
    out[k] = sum * divisor[k] * result;
  }
}

std::size_t AdaptiveLines::bytes() const noexcept {
  std::size_t bytes = tables_.bytes();
  for (const Scratch& scratch : scratch_) bytes += scratch.bytes();
  return bytes;
}

}  // namespace echoform::scan_lines
