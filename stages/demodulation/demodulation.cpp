#include "stages/demodulation/demodulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/demodulation/demodulation_tables.hpp"
#include "stages/demodulation/demodulation_tiles.hpp"
#include "stages/raw_rows/sample_scale.hpp"
#include "stages/time_gain/time_gain.hpp"

namespace echoform {
namespace {

template <class Found>
void require_of_demodulation(bool right, const char* option, const Found& found, const std::string& expected) {
  if (!right) throw InputError(fmt::format("demodulation stage, {}", option), fmt::format("{}", found), expected);
}

/// The half length L of the filter.
std::size_t half_length(const DemodulationOptions& options) {
  const double width = (options.stop - options.pass).value / options.sample_rate.value;
  const double taps = (demodulation_attenuation - 7.95) / (2.285 * 2.0 * std::numbers::pi * width);
  return static_cast<std::size_t>(std::ceil(0.5 * std::min(taps, 1e9)));
}

}  // namespace

std::size_t demodulation_tap_count(const DemodulationOptions& options) {
  return 2 * half_length(options) + 1;
}

bool accepts_gain(const DemodulationOptions& own, DemodulationOptions wanted, std::size_t samples) {
  if ((wanted.time_gain == nullptr) != (own.time_gain == nullptr)) return false;
  validate(wanted);
  if (wanted.time_gain != nullptr && wanted.time_gain->size() != samples) return false;
  wanted.time_gain = own.time_gain;
  return wanted == own;
}

bool operator==(const DemodulationOptions& a, const DemodulationOptions& b) {
  return a.frequency == b.frequency && a.sample_rate == b.sample_rate && a.start_time == b.start_time &&
         a.decimation == b.decimation && a.filter_offset == b.filter_offset && a.pass == b.pass && a.stop == b.stop &&
         a.sample_scale == b.sample_scale &&
         (a.time_gain == b.time_gain || (a.time_gain && b.time_gain && *a.time_gain == *b.time_gain));
}

void validate(const DemodulationOptions& options) {
  const double rate = options.sample_rate.value;
  require_of_demodulation(rate > 0.0 && std::isfinite(rate), "sample rate", rate, "above 0 Hz");
  const double frequency = options.frequency.value;
  require_of_demodulation(frequency > 0.0 && frequency < 0.5 * rate, "frequency", frequency,
                          "above 0 Hz and below half the sample rate");
  require_of_demodulation(std::isfinite(options.start_time.value), "start time", options.start_time.value, "a finite one");
  require_of_demodulation(options.decimation >= 1 && options.decimation <= DemodulationOptions::most_decimation, "decimation",
                          options.decimation, fmt::format("1 to {}", DemodulationOptions::most_decimation));
  const double middle = (options.frequency + options.filter_offset).value;
  require_of_demodulation(middle > 0.0 && middle < 0.5 * rate, "middle of the pass band", middle,
                          "above 0 Hz and below half the sample rate");
  require_of_demodulation(options.pass.value > 0.0, "pass band", options.pass.value, "above 0 Hz");
  require_of_demodulation(options.stop.value > options.pass.value && options.stop.value <= 0.5 * rate, "stop band",
                          options.stop.value, "above the pass band, at most half the sample rate");
  const std::size_t taps = 2 * half_length(options) + 1;
  require_of_demodulation(taps <= DemodulationOptions::most_taps, "taps between pass and stop band", taps,
                          fmt::format("at most {}: a wider transition", DemodulationOptions::most_taps));
  require_sample_scale(options.sample_scale, "demodulation");
}

std::vector<double> demodulation_filter(const DemodulationOptions& options) {
  const auto half = static_cast<std::ptrdiff_t>(half_length(options));
  const double beta = 0.1102 * (demodulation_attenuation - 8.7);
  const double edge = 0.5 * (options.pass + options.stop).value / options.sample_rate.value;
  std::vector<double> filter;
  double sum = 0.0;
  for (std::ptrdiff_t k = -half; k <= half; ++k) {
    const double x = 2.0 * std::numbers::pi * edge * static_cast<double>(k);
    const double share = static_cast<double>(k) / static_cast<double>(half);
    filter.push_back((k == 0 ? 1.0 : std::sin(x) / x) * std::cyl_bessel_i(0.0, beta * std::sqrt(1.0 - share * share)));
    sum += filter.back();
  }
  for (double& h : filter) h /= sum;
  return filter;
}

BlockSpec demodulation_output(const DemodulationOptions& options, const BlockSpec& input) {
  require_block(input, "demodulation", {ElementType::raw, ElementType::float32});
  if (options.time_gain != nullptr) require_gain(*options.time_gain, input.columns, "demodulation");
  BlockSpec output;
  output.type = ElementType::complex64;
  output.rows = input.rows;
  output.columns = (input.columns + options.decimation - 1) / options.decimation;
  output.row_stride = padded_columns(output.columns);
  return output;
}

constinit const StageKind demodulation_stage{
    .name = "demodulation",
    .cpu = [](const StageOptions& options,
              Backend& backend) { return make_demodulation_cpu(options.as<DemodulationOptions>(), team_size(backend)); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_demodulation_cuda(options.as<DemodulationOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<DemodulationOptions>();
          validate(wanted);
          const BlockSpec& input = inputs.only("demodulation");
          const BlockSpec output = demodulation_output(wanted, input);
          const bool raw = input.type == ElementType::raw;
          StageStatement statement = raw ? state_with_facts(output, site) : StageStatement{output, {}};
          if (site.backend == BackendKind::cuda) {
            statement.memory.device += demodulation_bytes_cuda(wanted, input);
          } else {
            statement.memory.host = demodulation_bytes_cpu(wanted, input.columns, team_size(site));
          }
          return statement;
        },
};

}  // namespace echoform
