#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "stages/analytic_signal/row_transform.hpp"
#include "stages/raw_rows/quality_counter.hpp"
#include "stages/raw_rows/sample_kernels.hpp"
#include "stages/scan_lines/adaptive_lines.hpp"
#include "stages/scan_lines/complex_line_kernels.hpp"
#include "stages/scan_lines/delay_filter_kind.hpp"
#include "stages/scan_lines/line_kernels.hpp"
#include "stages/scan_lines/line_tables.hpp"
#include "stages/scan_lines/scan_lines.hpp"
#include "stages/scan_lines/tap_table.hpp"

namespace echoform {
namespace {

using namespace scan_lines;  // NOLINT(google-build-using-namespace): the stage is its own folder's

std::size_t longest_event(const LineSet& lines) {
  std::size_t rows = 0;
  for (const LineEvent& event : lines.events) rows = std::max(rows, event.receivers.size());
  return rows;
}
std::size_t heard_rows_pitch(std::size_t samples) {
  return padded(row_lead + samples + row_lead, 16);
}

bool wants_quadrature(const ScanLinesOptions& options) {
  return adaptive_kind(options.adaptive.kind, "scan-lines stage").analytic;
}
/// Whether rows are made four times as dense once, for all lines of an event.
bool wants_phases(const ScanLinesOptions& options) {
  return !options.demodulated && !wants_quadrature(options) &&
         delay_filter_kind(options.filter.kind, "scan-lines stage").upsampling;
}
/// Number of consecutive rows that one A-scan becomes: real and imaginary part, or phases.
std::size_t rows_of_scan(const ScanLinesOptions& options) {
  return options.demodulated ? 2 : wants_phases(options) ? upsampling_factor : 1;
}
/// Number of floats of a thread's rows; rows in quadrature stand behind the others.
std::size_t heard_rows_size(const ScanLinesOptions& options, std::size_t samples) {
  const std::size_t rows = wants_quadrature(options) ? 2 : rows_of_scan(options);
  return rows * longest_event(*options.lines) * heard_rows_pitch(samples);
}

/// Each thread processes one event at a time: the event's rows, converted to floats, stay in the thread's caches while its lines
/// are summed.
class ScanLinesCpu final : public Stage {
 public:
  ScanLinesCpu(ScanLinesOptions options, std::size_t members, SimdLevel level)
      : options_(std::move(options)), level_(level), scratch_(members) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("scan-lines");
    output_ = scan_lines_output(options_, input);
    input_stride_ = stride_of(input);
    raw_ = input.type == ElementType::raw;
    complex_ = options_.demodulated.has_value();
    rows_of_scan_ = rows_of_scan(options_);
    samples_ = input.columns;
    if (raw_) unpack_ = row_kernel(input.encoding, RowStore::cached, level_);
    tables_ = make_line_tables(options_);
    ranges_ = tables_.range.size();
    const LineSet& set = *options_.lines;
    adaptive_ = AdaptiveLines(options_.adaptive, options_.normalise, set, ranges_, scratch_.size());
    if (wants_quadrature(options_)) quadrature_.emplace(samples_, scratch_.size(), level_);
    pad_weights();
    choose_kernel();
    lines_of_.assign(set.events.size(), {});
    for (std::uint32_t line = 0; line < set.lines.size(); ++line) lines_of_[set.lines[line].event].push_back(line);
    pitch_ = heard_rows_pitch(samples_);
    for (Scratch& scratch : scratch_) {
      scratch.rows.assign(heard_rows_size(options_, samples_), 0.0F);
      scratch.receivers.resize(longest_event(set));
      for (auto* places : {&scratch.along, &scratch.square, &scratch.across_square}) {
        places->resize(padded(longest_event(set), receiver_step));
      }
      scratch.sums.resize(parts() * ranges_);
    }
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    quality_.reset();
    team_of(queue).for_each(lines_of_.size(), 1, [&](std::size_t first, std::size_t last, std::size_t member) {
      SampleQuality seen;
      for (std::size_t event = first; event < last; ++event) {
        if (lines_of_[event].empty()) continue;
        read_rows(event, input[0], scratch_[member], seen);
        if (phases_kernel_ != nullptr) make_phases(event, scratch_[member]);
        if (quadrature_) make_quadrature(event, member);
        for (const std::uint32_t line : lines_of_[event]) {
          float* const out = output.as<float>() + parts() * line * output_.row_stride;
          if (complex_) {
            sum_complex(line, scratch_[member], out);
          } else {
            sum(line, member, out);
          }
        }
      }
      quality_.add(seen);
    });
  }

  [[nodiscard]] StageFacts facts() const noexcept override {
    if (!raw_) return {};
    return {.quality = quality_.read(), .reference = {}};
  }
  /// Accepts another gain: TGC sliders move while images are made.
  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    ScanLinesOptions wanted = options.as<ScanLinesOptions>();
    if ((wanted.time_gain == nullptr) != (options_.time_gain == nullptr)) return false;
    validate(wanted);
    wanted.time_gain = options_.time_gain;
    return wanted == options_;
  }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_.time_gain = options.get<ScanLinesOptions>()->time_gain;
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    std::size_t bytes = tables_.bytes() + weights_.size() * sizeof(float) + adaptive_.bytes();
    if (quadrature_) bytes += quadrature_->bytes();
    for (const Scratch& scratch : scratch_) bytes += (scratch.rows.size() + scratch.sums.size()) * sizeof(float);
    return bytes;
  }

 private:
  struct Scratch {
    std::vector<float> rows;  // [receiver, sample] with zeros before and behind
    std::vector<LineReceiver> receivers;
    std::vector<float> along;
    std::vector<float> square;
    std::vector<float> across_square;
    std::vector<float> sums;
  };

  /// Number of floats per sample.
  [[nodiscard]] std::size_t parts() const { return complex_ ? 2 : 1; }

  void pad_weights() {
    const std::size_t count = options_.lines->ranges.count;
    const std::size_t tables = options_.lines->weights.size() / count;
    weights_.assign(tables * ranges_, 0.0F);
    first_heard_.assign(tables, ranges_);
    for (std::size_t table = 0; table < tables; ++table) {
      const float* const from = options_.lines->weights.data() + table * count;
      float* const to = weights_.data() + table * ranges_;
      std::copy(from, from + count, to);
      if (adaptive_.kind().sums_of == ChannelSums::roots)
        std::transform(to, to + count, to, [](float w) { return std::sqrt(w); });
      const auto heard = static_cast<std::size_t>(std::find_if(from, from + count, [](float w) { return w > 0.0F; }) - from);
      if (heard < count) first_heard_[table] = heard / range_step * range_step;
    }
  }

  void choose_kernel() {
    const LineKernels kernels = line_kernels(level_, adaptive_.kind().sums_of);
    const DelayFilter filter = make_delay_filter(options_.filter);
    taps_ = make_tap_table(filter);
    const ComplexLineKernels complex = complex_line_kernels(level_);
    const bool linear = filter.taps == 2 && filter.phases == 1;
    kernel_ = filter.taps == 1 ? kernels.nearest : linear ? kernels.linear : kernels.taps;
    if (wants_phases(options_)) {
      kernel_ = kernels.phases;
      phases_kernel_ = phases_kernel(level_);
      phase_coefficients_.assign(filter.row(1).begin(), filter.row(upsampling_factor).begin());
    }
    complex_kernel_ = filter.taps == 1 ? complex.nearest : linear ? complex.linear : complex.taps;
  }

  void read_rows(std::size_t event, ConstBlock input, Scratch& scratch, SampleQuality& seen) const noexcept {
    const LineEvent& rows = options_.lines->events[event];
    const auto scale = static_cast<float>(options_.sample_scale);
    for (std::size_t row = 0; row < rows.receivers.size(); ++row) {
      float* const out = scratch.rows.data() + rows_of_scan_ * row * pitch_ + row_lead;
      const std::size_t from = (rows.first_row + row) * input_stride_;
      if (complex_) {
        const float* const pairs = input.as<float>() + 2 * from;
        for (std::size_t n = 0; n < samples_; ++n) {
          out[n] = pairs[2 * n];
          out[pitch_ + n] = pairs[2 * n + 1];
        }
        continue;
      }
      if (!raw_) {
        std::memcpy(out, input.as<float>() + from, samples_ * sizeof(float));
        continue;
      }
      unpack_(input.as<std::byte>() + from, nullptr, out, samples_, scale, seen);
      if (options_.time_gain == nullptr) continue;
      const float* const gain = options_.time_gain->data();
      for (std::size_t n = 0; n < samples_; ++n) out[n] *= gain[n];
    }
  }

  void make_phases(std::size_t event, Scratch& scratch) const noexcept {
    for (std::size_t row = 0; row < options_.lines->events[event].receivers.size(); ++row) {
      phases_kernel_({.row = scratch.rows.data() + rows_of_scan_ * row * pitch_ + row_lead,
                      .phase_pitch = static_cast<std::ptrdiff_t>(pitch_),
                      .samples = samples_,
                      .coefficients = phase_coefficients_.data(),
                      .taps = taps_.taps,
                      .left = taps_.left});
    }
  }

  void make_quadrature(std::size_t event, std::size_t member) noexcept {
    float* const rows = scratch_[member].rows.data() + row_lead;
    float* const quadrature = rows + quadrature_offset();
    for (std::size_t row = 0; row < options_.lines->events[event].receivers.size(); ++row) {
      quadrature_->transform(rows + row * pitch_, quadrature + row * pitch_, member);
    }
  }
  [[nodiscard]] std::size_t quadrature_offset() const noexcept { return longest_event(*options_.lines) * pitch_; }

  /// Puts the line's receivers into the scratch and returns the data to sum over them.
  LineTask task_of(std::uint32_t line, Scratch& scratch) const noexcept {
    const std::size_t first = tables_.first_receivers[line];
    const std::size_t count = tables_.first_receivers[line + 1] - first;
    for (std::size_t k = 0; k < count; ++k) {
      const PlacedReceiver& placed = tables_.receivers[first + k];
      scratch.receivers[k] = {scratch.rows.data() + rows_of_scan_ * placed.row * pitch_ + row_lead,
                              weights_.data() + placed.weights * ranges_,
                              first_heard_[placed.weights],
                              placed.along,
                              placed.square,
                              placed.across_square};
      scratch.along[k] = placed.along;
      scratch.square[k] = placed.square;
      scratch.across_square[k] = placed.across_square;
    }
    return {.receivers = scratch.receivers.data(),
            .along = scratch.along.data(),
            .square = scratch.square.data(),
            .across_square = scratch.across_square.data(),
            .receiver_count = static_cast<std::uint32_t>(count),
            .samples = static_cast<std::int32_t>(samples_),
            .ranges = ranges_,
            .range = tables_.range.data(),
            .whole = tables_.whole.data() + line * ranges_,
            .rest = tables_.rest.data() + line * ranges_,
            .steady = tables_.steady.data() + line * (ranges_ / range_step),
            .table = &taps_,
            .out = scratch.sums.data(),
            .phase_pitch = static_cast<std::ptrdiff_t>(pitch_)};
  }

  void sum(std::uint32_t line, std::size_t member, float* out) noexcept {
    LineTask task = task_of(line, scratch_[member]);
    Scratch& scratch = scratch_[member];
    const float* const divisor = tables_.divisor.data() + line * ranges_;
    if (adaptive_.kind().sums_of == ChannelSums::none) {
      kernel_(task);
      for (std::size_t k = 0; k < output_.columns; ++k) out[k] = scratch.sums[k] * divisor[k];
    } else {
      sum_adaptively(task, line, member, divisor, out);
    }
    std::fill(out + output_.columns, out + output_.row_stride, 0.0F);
  }

  void sum_adaptively(LineTask& task, std::uint32_t line, std::size_t member, const float* divisor, float* out) noexcept {
    adaptive_.point(task, line, member);
    kernel_(task);
    if (quadrature_) {
      for (std::size_t k = 0; k < task.receiver_count; ++k) scratch_[member].receivers[k].row += quadrature_offset();
      adaptive_.point_quadrature(task, member);
      kernel_(task);
    }
    adaptive_.finish(task, line, member, divisor, output_.columns, out);
  }

  void sum_complex(std::uint32_t line, Scratch& scratch, float* out) const noexcept {
    float* const imaginary = scratch.sums.data() + ranges_;
    complex_kernel_({.real = task_of(line, scratch),
                     .quadrature = static_cast<std::ptrdiff_t>(pitch_),
                     .cycles = static_cast<float>(options_.demodulated->value / options_.sample_rate.value),
                     .out_imaginary = imaginary});
    const float* const turn_re = tables_.turn_re.data() + line * ranges_;
    const float* const turn_im = tables_.turn_im.data() + line * ranges_;
    for (std::size_t k = 0; k < output_.columns; ++k) {
      out[2 * k] = scratch.sums[k] * turn_re[k] - imaginary[k] * turn_im[k];
      out[2 * k + 1] = scratch.sums[k] * turn_im[k] + imaginary[k] * turn_re[k];
    }
    std::fill(out + 2 * output_.columns, out + 2 * output_.row_stride, 0.0F);
  }

  ScanLinesOptions options_;
  SimdLevel level_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  bool raw_ = false;
  bool complex_ = false;
  std::size_t samples_ = 0;
  std::size_t ranges_ = 0;  // padded number
  std::size_t pitch_ = 0;   // distance between rows in the scratch
  RowKernel unpack_ = nullptr;
  std::size_t rows_of_scan_ = 1;
  LineKernel kernel_ = nullptr;
  PhasesKernel phases_kernel_ = nullptr;
  std::vector<float> phase_coefficients_;
  ComplexLineKernel complex_kernel_ = nullptr;
  TapTable taps_{};
  LineTables tables_;
  AdaptiveLines adaptive_;
  std::optional<RowTransform> quadrature_;
  std::vector<float> weights_;  // for padded ranges
  std::vector<std::size_t> first_heard_;
  std::vector<std::vector<std::uint32_t>> lines_of_;  // one list per event
  std::vector<Scratch> scratch_;                      // one per member of the team
  QualityCounter quality_;
};

}  // namespace

std::size_t scan_lines_bytes(const ScanLinesOptions& options, std::size_t members) {
  const LineSet& set = *options.lines;
  const std::size_t ranges = padded(set.ranges.count, range_step);
  const std::size_t scratch =
      (heard_rows_size(options, options.gate.count) + (options.demodulated ? 2 : 1) * ranges) * sizeof(float);
  std::size_t bytes = line_tables_bytes(options) + set.weights.size() / set.ranges.count * ranges * sizeof(float) +
                      members * scratch + AdaptiveLines::bytes_of(options.adaptive, set, ranges, members);
  if (wants_quadrature(options)) bytes += static_cast<std::size_t>(row_transform_bytes(options.gate.count, members));
  return bytes;
}

std::unique_ptr<Stage> make_scan_lines_cpu(ScanLinesOptions options, std::size_t members, SimdLevel level) {
  return std::make_unique<ScanLinesCpu>(std::move(options), members, level);
}

}  // namespace echoform
