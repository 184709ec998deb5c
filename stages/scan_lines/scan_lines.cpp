#include "stages/scan_lines/scan_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/raw_rows/frame_facts.hpp"
#include "stages/raw_rows/sample_scale.hpp"
#include "stages/scan_lines/line_kernels.hpp"
#include "stages/scan_lines/line_sizes.hpp"
#include "stages/scan_lines/line_tables.hpp"
#include "stages/time_gain/time_gain.hpp"

namespace echoform {
namespace {

template <class Found>
void require(bool right, const char* option, const Found& found, const char* expected) {
  if (!right) throw InputError(fmt::format("scan-lines stage, {}", option), fmt::format("{}", found), expected);
}

bool same(const auto& a, const auto& b) {
  return a == b || (a && b && *a == *b);
}

void validate(const LineSet& set) {
  require(!set.lines.empty(), "lines", set.lines.size(), "at least one");
  require(set.ranges.count >= 2, "ranges", set.ranges.count, "at least 2");
  require(set.ranges.first.value >= 0.0 && std::isfinite(set.ranges.first.value), "first range", set.ranges.first.value,
          "0 m or more");
  require(set.ranges.spacing.value > 0.0 && std::isfinite(set.ranges.spacing.value), "distance of ranges",
          set.ranges.spacing.value, "above 0 m");
  require(set.transmit_times.size() == set.lines.size() * set.ranges.count, "transmit times", set.transmit_times.size(),
          "one for each line and range");
  std::size_t entries = 0;
  for (const ImageLine& line : set.lines) {
    require(line.event < set.events.size(), "event of a line", line.event, "one of the events");
    const Direction& n = line.direction;
    require(std::abs(std::hypot(n.x, n.y, n.z) - 1.0) < 1e-9, "direction of a line", fmt::format("{} {} {}", n.x, n.y, n.z),
            "one of unit length");
    entries += set.events[line.event].receivers.size();
  }
  for (const LineEvent& event : set.events) {
    for (const std::uint32_t element : event.receivers) {
      require(element < set.elements.size(), "receiver", element, "one of the elements");
    }
  }
  require(set.weight_tables.size() == entries, "tables of weights", set.weight_tables.size(),
          "one for each line and receiver of its event");
  for (const std::uint32_t table : set.weight_tables) {
    require(table == LineSet::unheard || (table + std::size_t{1}) * set.ranges.count <= set.weights.size(), "table of weights",
            table, "one of those that are there");
  }
  require(std::ranges::all_of(set.weights, [](float w) { return w >= 0.0F && std::isfinite(w); }), "weights", "another",
          "finite ones, 0 or more");
}

}  // namespace

bool operator==(const ScanLinesOptions& a, const ScanLinesOptions& b) {
  return same(a.lines, b.lines) && a.velocity == b.velocity && a.sample_rate == b.sample_rate && a.start_time == b.start_time &&
         a.gate == b.gate && a.filter == b.filter && a.normalise == b.normalise && a.adaptive == b.adaptive &&
         a.demodulated == b.demodulated && a.sample_scale == b.sample_scale && same(a.time_gain, b.time_gain);
}

void validate(const ScanLinesOptions& options) {
  require(options.lines != nullptr, "lines", "none", "a set of lines");
  validate(*options.lines);
  validate(options.filter, "scan-lines stage, delay filter");
  validate(options.adaptive, "scan-lines stage,");
  require(options.velocity.value > 0.0 && std::isfinite(options.velocity.value), "velocity", options.velocity.value,
          "above 0 m/s");
  require(options.sample_rate.value > 0.0 && std::isfinite(options.sample_rate.value), "sample rate", options.sample_rate.value,
          "above 0 Hz");
  require(std::isfinite(options.start_time.value), "start time", options.start_time.value, "a finite one");
  require_sample_scale(options.sample_scale, "scan-lines");
  if (options.demodulated) {
    require(options.adaptive.kind == "none", "adaptive weights", options.adaptive.kind, "none, of samples of baseband");
    const double frequency = options.demodulated->value;
    require(frequency > 0.0 && std::isfinite(frequency), "demodulation frequency", frequency, "above 0 Hz");
    require(options.time_gain == nullptr, "time gain", "one", "none of complex samples: before their demodulation");
  }
  if (options.time_gain == nullptr) return;
  require_gain(*options.time_gain, options.gate.count, "scan-lines");
}

void require_lines_on_cuda(const ScanLinesOptions& options) {
  require(is_on_cuda(adaptive_kind(options.adaptive.kind, "scan-lines stage")), "adaptive weights", options.adaptive.kind,
          "others on a GPU: these are for the CPU alone");
}

std::size_t scan_lines_device_bytes(const ScanLinesOptions& options, const BlockSpec& input) {
  return gpu::line_sizes(options, input).bytes();
}

BlockSpec scan_lines_output(const ScanLinesOptions& options, const BlockSpec& input, BackendKind backend) {
  if (options.demodulated) {
    require_block(input, "scan-lines", {ElementType::complex64});
  } else {
    require_block(input, "scan-lines", {ElementType::raw, ElementType::float32});
  }
  std::size_t rows = 0;
  for (const LineEvent& event : options.lines->events) rows = std::max(rows, event.first_row + event.receivers.size());
  if (input.rows < rows)
    throw InputError("scan-lines stage, input A-scans", fmt::format("{}", input.rows), fmt::format("{}", rows));
  if (input.columns != options.gate.count) {
    throw InputError("scan-lines stage, input samples", fmt::format("{}", input.columns), fmt::format("{}", options.gate.count));
  }
  const std::size_t least = std::max<std::size_t>(2, make_delay_filter(options.filter).taps);
  if (input.columns < least || input.columns >= std::size_t{1} << 28) {
    throw InputError("scan-lines stage, input samples", fmt::format("{}", input.columns),
                     fmt::format("{} or more, as many as the delay filter has taps, and fewer than 2^28", least));
  }
  BlockSpec output;
  output.type = options.demodulated ? ElementType::complex64 : ElementType::float32;
  output.rows = options.lines->lines.size();
  output.columns = options.lines->ranges.count;
  const bool image = adaptive_kind(options.adaptive.kind, "scan-lines stage").result == AdaptiveResult::image;
  output.row_stride = image ? output.columns : padded_columns(output.columns);
  if (backend == BackendKind::cuda && input.type == ElementType::raw) {
    // The facts stand at the end, aligned to 8 bytes.
    output.trailer = facts_trailer + output.bytes() % alignof(FrameFacts);
  }
  return output;
}

constinit const StageKind scan_lines_stage{
    .name = "scan-lines",
    .cpu = [](const StageOptions& options,
              Backend& backend) { return make_scan_lines_cpu(options.as<ScanLinesOptions>(), team_size(backend)); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_scan_lines_cuda(options.as<ScanLinesOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<ScanLinesOptions>();
          validate(wanted);
          const BlockSpec& input = inputs.only("scan-lines");
          StageStatement statement{scan_lines_output(wanted, input, site.backend), {}};
          if (site.backend == BackendKind::cuda) {
            require_lines_on_cuda(wanted);
            statement.memory.device = scan_lines_device_bytes(wanted, input);
          } else {
            statement.memory.host = scan_lines_bytes(wanted, team_size(site));
          }
          return statement;
        },
};

}  // namespace echoform
