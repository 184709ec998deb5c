#include "stages/line_spectrum/line_spectrum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/line_spectrum/line_spectrum_math.hpp"

namespace echoform {
namespace {

void require_of_spectrum(bool right, const char* option, const std::string& found, const std::string& expected) {
  if (!right) throw InputError(fmt::format("line-spectrum stage, {}", option), found, expected);
}

/// Number of floats for a spectrum: the power, and both parts of a range's sum.
std::size_t scratch_floats(const LineSpectrumOptions& options) {
  return 3 * options.bins;
}

class LineSpectrumCpu final : public Stage {
 public:
  explicit LineSpectrumCpu(const LineSpectrumOptions& options) : options_(options) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    input_ = inputs.only("line-spectrum");
    const BlockSpec output = line_spectrum_output(options_, input_);
    tables_ = spectrum_tables(options_);
    scratch_.assign(output.rows * scratch_floats(options_), 0.0F);
    return output;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const bool planar = input_.type == ElementType::planar_complex64;
    const std::size_t row_stride = 2 * stride_of(input_);
    const std::size_t step = planar ? 1 : 2;
    const std::size_t quadrature = planar ? stride_of(input_) : 1;
    const std::size_t bins = options_.bins;
    team_of(queue).for_each(spectra_of(options_), 1, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      for (std::size_t s = first; s < last; ++s) {
        const float* const rows =
            input.as<float>() + 2 * input_.lead + (options_.line * options_.ensemble + s * options_.hop) * row_stride;
        float* const power = scratch_.data() + s * scratch_floats(options_);
        float* const re = power + bins;
        float* const im = re + bins;
        std::fill_n(power, bins, 0.0F);
        for (std::size_t range = 0; range < options_.ranges; ++range) {
          std::fill_n(re, 2 * bins, 0.0F);
          for (std::size_t n = 0; n < options_.samples; ++n) {
            const float* const sample = rows + n * row_stride + (options_.first_range + range) * step;
            const float x = tables_.taper[n] * sample[0];
            const float y = tables_.taper[n] * sample[quadrature];
            const float* const turn_re = tables_.turn_re.data() + n * bins;
            const float* const turn_im = tables_.turn_im.data() + n * bins;
            for (std::size_t k = 0; k < bins; ++k) add_turned(x, y, turn_re[k], turn_im[k], re[k], im[k]);
          }
          for (std::size_t k = 0; k < bins; ++k) power[k] = with_power(power[k], re[k], im[k]);
        }
        float* const out = output.as<float>() + s * bins;
        for (std::size_t k = 0; k < bins; ++k) out[k] = root_mean(power[k], options_.ranges);
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return scratch_.size() * sizeof(float) + spectrum_table_bytes(options_);
  }

  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    return accepts_line_spectrum(options, options_, input_);
  }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_ = *options.get<LineSpectrumOptions>();
  }

 private:
  LineSpectrumOptions options_;
  BlockSpec input_;
  SpectrumTables tables_;
  std::vector<float> scratch_;  // one part per spectrum
};

}  // namespace

std::size_t spectra_of(const LineSpectrumOptions& options) {
  return (options.ensemble - options.samples) / options.hop + 1;
}

BlockSpec line_spectrum_output(const LineSpectrumOptions& options, const BlockSpec& input) {
  require_block(input, "line-spectrum", {ElementType::complex64, ElementType::planar_complex64});
  const auto number = [](std::size_t value) { return fmt::format("{}", value); };
  require_of_spectrum(options.ensemble > 0 && input.rows % options.ensemble == 0, "rows", number(input.rows),
                      fmt::format("a multiple of the ensemble, {}", options.ensemble));
  const std::size_t most = std::min(LineSpectrumOptions::most_samples, options.ensemble);
  require_of_spectrum(options.samples >= LineSpectrumOptions::least_samples && options.samples <= most, "samples",
                      number(options.samples), fmt::format("{} to {}", LineSpectrumOptions::least_samples, most));
  require_of_spectrum(options.hop > 0, "hop", "0", "1 or more");
  require_of_spectrum(options.bins >= options.samples && options.bins <= LineSpectrumOptions::most_bins, "bins",
                      number(options.bins), fmt::format("{} to {}", options.samples, LineSpectrumOptions::most_bins));
  const std::size_t lines = input.rows / options.ensemble;
  require_of_spectrum(options.line < lines, "line", number(options.line), fmt::format("one of {}", lines));
  require_of_spectrum(
      options.ranges > 0 && options.ranges <= input.columns && options.first_range <= input.columns - options.ranges, "gate",
      fmt::format("{} ranges from {} on", options.ranges, options.first_range), fmt::format("some of {}", input.columns));
  validate(options.window, "line-spectrum stage");
  BlockSpec output;
  output.rows = spectra_of(options);
  output.columns = options.bins;
  output.row_stride = options.bins;
  return output;
}

bool accepts_line_spectrum(const StageOptions& options, const LineSpectrumOptions& before, const BlockSpec& input) {
  const auto& wanted = options.as<LineSpectrumOptions>();
  (void)line_spectrum_output(wanted, input);
  LineSpectrumOptions same = before;
  same.line = wanted.line;
  same.first_range = wanted.first_range;
  same.ranges = wanted.ranges;
  return wanted == same;
}

SpectrumTables spectrum_tables(const LineSpectrumOptions& options) {
  const std::size_t count = options.samples;
  std::vector<double> taper(count);
  double sum = 0.0;
  for (std::size_t n = 0; n < count; ++n) {
    taper[n] = window_at(options.window, (static_cast<double>(n) + 0.5) / static_cast<double>(count));
    sum += taper[n];
  }
  SpectrumTables tables;
  for (const double weight : taper) tables.taper.push_back(static_cast<float>(weight / sum));
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t k = 0; k < options.bins; ++k) {
      // theta n = 2 pi k n / bins - pi n, without whole rotations.
      const double turns = static_cast<double>(k * n % options.bins) / static_cast<double>(options.bins);
      const double sign = n % 2 == 0 ? 1.0 : -1.0;
      tables.turn_re.push_back(static_cast<float>(sign * std::cos(2.0 * std::numbers::pi * turns)));
      tables.turn_im.push_back(static_cast<float>(-sign * std::sin(2.0 * std::numbers::pi * turns)));
    }
  }
  return tables;
}

std::size_t spectrum_table_bytes(const LineSpectrumOptions& options) {
  return options.samples * (1 + 2 * options.bins) * sizeof(float);
}

std::unique_ptr<Stage> make_line_spectrum_cpu(const LineSpectrumOptions& options) {
  return std::make_unique<LineSpectrumCpu>(options);
}

constinit const StageKind line_spectrum_stage{
    .name = "line-spectrum",
    .cpu = [](const StageOptions& options, Backend&) { return make_line_spectrum_cpu(options.as<LineSpectrumOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_line_spectrum_cuda(options.as<LineSpectrumOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<LineSpectrumOptions>();
          StageStatement statement{line_spectrum_output(wanted, inputs.only("line-spectrum")), {}};
          const std::size_t tables = spectrum_table_bytes(wanted);
          if (site.backend == BackendKind::cuda) {
            statement.memory.device = tables + spectrum_gate_numbers * sizeof(float);
          } else {
            statement.memory.host = tables + statement.output.rows * scratch_floats(wanted) * sizeof(float);
          }
          return statement;
        },
};

}  // namespace echoform
