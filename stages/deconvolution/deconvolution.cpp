#include "stages/deconvolution/deconvolution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <optional>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "base/planning.hpp"
#include "stages/analytic_signal/cufft_sizes.hpp"
#include "stages/analytic_signal/row_transform.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

constexpr std::size_t most_row_samples = std::size_t{1} << 28;  // twice this still fits the int of FFTW
/// The row length with which the length of the response is found. It is no longer than the rows of instruments.
constexpr std::size_t tried_samples = 8192;

[[noreturn]] void refuse_option(std::string_view what, const std::string& found, const std::string& expected) {
  throw InputError(fmt::format("deconvolution stage, {}", what), found, expected);
}

/// H at `frequency`.
std::complex<double> spectrum_at(const DeconvolutionOptions& options, double frequency) {
  if (!options.response) {
    // exp(-x^2 / 2) is a half at x = sqrt(2 ln 2).
    const double sigma = 0.5 * options.bandwidth.value / std::sqrt(2.0 * std::numbers::ln2);
    const double x = (frequency - options.centre.value) / sigma;
    return std::exp(-0.5 * x * x);
  }
  const std::vector<double>& h = *options.response;
  const double turn = -2.0 * std::numbers::pi * frequency / options.sample_rate.value;
  // The phase follows from a recurrence, which is corrected every `exact_every` samples.
  constexpr std::size_t exact_every = 64;
  const std::complex<double> step = std::polar(1.0, turn);
  std::complex<double> phase;
  std::complex<double> sum = 0.0;
  for (std::size_t k = 0; k < h.size(); ++k) {
    phase = k % exact_every == 0 ? std::polar(1.0, turn * (static_cast<double>(k) - static_cast<double>(options.zero)))
                                 : phase * step;
    sum += h[k] * phase;
  }
  return sum;
}

class DeconvolutionCpu final : public Stage {
 public:
  DeconvolutionCpu(DeconvolutionOptions options, std::size_t members, SimdLevel level)
      : options_(std::move(options)), members_(std::max<std::size_t>(1, members)), level_(level) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("deconvolution");
    output_ = deconvolution_output(input);
    input_stride_ = stride_of(input);
    transform_.reset();
    const RowResponse response = deconvolution_response(options_, input.columns);
    transform_.emplace(input.columns, members_, level_, std::span(&response, 1));
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t columns = output_.columns;
    const std::size_t grain = std::max<std::size_t>(1, 16384 / columns);
    team_of(queue).for_each(output_.rows, grain, [&](std::size_t first, std::size_t last, std::size_t member) {
      for (std::size_t row = first; row < last; ++row) {
        float* const out = output.as<float>() + row * output_.row_stride;
        transform_->respond(input.as<float>() + row * input_stride_, {out}, member);
        std::memset(out + columns, 0, (output_.row_stride - columns) * sizeof(float));
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return transform_ ? transform_->bytes() : 0; }

 private:
  DeconvolutionOptions options_;
  std::size_t members_;
  SimdLevel level_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  std::optional<RowTransform> transform_;
};

}  // namespace

RowResponse detector_spectrum(const DeconvolutionOptions& options, std::size_t samples) {
  RowResponse spectrum(samples / 2 + 1);
  for (std::size_t k = 0; k < spectrum.size(); ++k) {
    if (k % 256 == 0) keep_planning();
    spectrum[k] = spectrum_at(options, static_cast<double>(k) / static_cast<double>(samples) * options.sample_rate.value);
  }
  return spectrum;
}

RowResponse deconvolution_response(const DeconvolutionOptions& options, std::size_t samples) {
  RowResponse response = detector_spectrum(options, samples);
  const double rate = options.sample_rate.value;
  double greatest = 0.0;
  for (const std::complex<double>& factor : response) greatest = std::max(greatest, std::abs(factor));
  const double cutoff = std::min(options.cutoff.value, 0.5 * rate);
  for (std::size_t k = 0; k < response.size(); ++k) {
    const double frequency = static_cast<double>(k) / static_cast<double>(samples) * rate;
    const double window = frequency < cutoff ? 0.5 * (1.0 + std::cos(std::numbers::pi * frequency / cutoff)) : 0.0;
    response[k] = window * std::conj(response[k]) / (std::norm(response[k]) + options.noise * greatest * greatest);
  }
  // Rounding leaves imaginary parts, which the spectrum of a real row cannot have here.
  response.front() = response.front().real();
  if (samples % 2 == 0) response.back() = response.back().real();
  return response;
}

std::size_t deconvolution_length(const DeconvolutionOptions& options) {
  const std::vector<double> response = impulse_response(deconvolution_response(options, tried_samples), tried_samples);
  double peak = 0.0;
  for (const double value : response) peak = std::max(peak, std::abs(value));
  std::size_t length = 0;
  for (std::size_t n = 0; n <= tried_samples / 2; ++n) {
    const double here = std::max(std::abs(response[n]), std::abs(response[(tried_samples - n) % tried_samples]));
    if (here > 1e-3 * peak) length = n;
  }
  return length;
}

double response_at_half_rate(const DeconvolutionOptions& options) {
  constexpr std::size_t places = 512;
  const double half = 0.5 * options.sample_rate.value;
  double greatest = 0.0;
  for (std::size_t k = 0; k <= places; ++k) {
    greatest = std::max(greatest, std::abs(spectrum_at(options, half * static_cast<double>(k) / places)));
  }
  return greatest > 0.0 ? std::abs(spectrum_at(options, half)) / greatest : 0.0;
}

void validate(const DeconvolutionOptions& options) {
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!(options.sample_rate.value > 0.0) || !finite(options.sample_rate.value)) {
    refuse_option("sample rate", fmt::format("{} Hz", options.sample_rate.value), "above 0");
  }
  if (!(options.cutoff.value > 0.0)) refuse_option("cutoff", fmt::format("{} Hz", options.cutoff.value), "above 0");
  if (!DeconvolutionOptions::noises.holds(options.noise)) {
    refuse_option("noise", fmt::format("{}", options.noise),
                  fmt::format("{} to {}", DeconvolutionOptions::noises.least, DeconvolutionOptions::noises.most));
  }
  if (!options.response) {
    if (!(options.centre.value >= 0.0)) refuse_option("centre", fmt::format("{} Hz", options.centre.value), "0 or more");
    if (!(options.bandwidth.value > 0.0)) refuse_option("bandwidth", fmt::format("{} Hz", options.bandwidth.value), "above 0");
    return;
  }
  const std::vector<double>& h = *options.response;
  if (h.empty() || h.size() > DeconvolutionOptions::most_samples) {
    refuse_option("impulse response", fmt::format("{} samples", h.size()),
                  fmt::format("1 to {}", DeconvolutionOptions::most_samples));
  }
  if (options.zero >= h.size()) {
    refuse_option("time 0", fmt::format("sample {}", options.zero), fmt::format("0 to {}", h.size() - 1));
  }
  if (!std::ranges::all_of(h, finite)) refuse_option("impulse response", "samples that are not finite", "finite ones");
  if (std::ranges::all_of(h, [](double value) { return value == 0.0; })) {
    refuse_option("impulse response", "zeros alone", "a response");
  }
}

BlockSpec deconvolution_output(const BlockSpec& input) {
  require_block(input, "deconvolution", {ElementType::float32});
  if (input.columns < 2 || input.columns > most_row_samples) {
    refuse_option("input samples", fmt::format("{}", input.columns), fmt::format("2 to {}", most_row_samples));
  }
  BlockSpec output = input;
  output.row_stride = padded_columns(input.columns);
  output.lead = 0;
  output.trailer = 0;
  return output;
}

std::unique_ptr<Stage> make_deconvolution_cpu(DeconvolutionOptions options, std::size_t members, SimdLevel level) {
  return std::make_unique<DeconvolutionCpu>(std::move(options), members, level);
}

constinit const StageKind deconvolution_stage{
    .name = "deconvolution",
    .cpu = [](const StageOptions& options,
              Backend& backend) { return make_deconvolution_cpu(options.as<DeconvolutionOptions>(), team_size(backend)); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_deconvolution_cuda(options.as<DeconvolutionOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          validate(options.as<DeconvolutionOptions>());
          const BlockSpec& input = inputs.only("deconvolution");
          StageStatement statement{deconvolution_output(input), {}};
          if (site.backend == BackendKind::cuda) {
            statement.memory.device = cufft_sizes(input.rows, input.columns, deconvolution_spectra_bytes, 1).bytes();
          } else {
            statement.memory.host = static_cast<std::size_t>(row_transform_bytes(input.columns, team_size(site), 1));
          }
          return statement;
        },
};

}  // namespace echoform
