#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.hpp"
#include "stages/analytic_signal/analytic_responses.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/analytic_signal/analytic_signal_memory.hpp"
#include "stages/analytic_signal/cufft_sizes.hpp"
#include "stages/analytic_signal/fused_hilbert.hpp"
#include "stages/analytic_signal/row_transform.hpp"
#include "stages/block_checks.hpp"
#include "stages/filter/filter_response.hpp"

namespace echoform {
namespace {

constexpr std::size_t sample_limit = std::size_t{1} << 28;  // twice this still fits the int of FFTW and cuFFT
constexpr std::size_t half_trailer = 64;

}  // namespace

StageMemory analytic_signal_memory_on_cuda(const AnalyticSignalOptions& options, const BlockSpec& input) {
  StageMemory memory;
  if (options.half && input.trailer == 0) memory.device += sizeof(std::uint32_t);  // the peak, which this stage finds
  const bool filtered = options.filter.kind != FilterKind::none;
  if (takes_fused_route(options, input.columns)) {
    memory.device += hilbert::twiddle_count(static_cast<int>(input.columns)) * sizeof(hilbert::Complex);
    if (filtered) memory.device += input.columns * sizeof(hilbert::Complex);
  } else {
    memory.device += cufft_sizes(input.rows, input.columns, options.spectra_bytes, filtered ? 2 : 0).bytes();
  }
  return memory;
}

std::vector<RowResponse> analytic_responses(const FilterOptions& filter, std::size_t samples) {
  if (filter.kind == FilterKind::none) return {};
  RowResponse in_phase = filter_response(filter, samples);
  RowResponse quadrature = quadrature_of(in_phase, samples);
  return {std::move(in_phase), std::move(quadrature)};
}

unsigned half_path_headroom(const FilterOptions& filter) {
  const double above = std::ceil(std::log2(response_size(filter).gain / 4.0));
  return static_cast<unsigned>(std::max(above, 0.0));
}

bool can_fuse(const FilterOptions& filter, std::size_t samples, std::size_t block_bytes) {
  if (fused_hilbert_length(samples) != samples) return false;
  return hilbert::fused_block_bytes(static_cast<int>(samples), filter.kind != FilterKind::none) <= block_bytes;
}

bool takes_fused_route(const AnalyticSignalOptions& options, std::size_t samples, std::size_t block_bytes) {
  if (options.route == HilbertRoute::cufft) return false;
  const bool can = can_fuse(options.filter, samples, block_bytes);
  if (options.route == HilbertRoute::fused && !can) {
    throw InputError("analytic-signal stage, input samples", fmt::format("{}", samples),
                     fused_hilbert_length(samples) == samples
                         ? "a shorter length: with a filter the device's shared memory ends below"
                         : "a length of the fused transform");
  }
  return can;
}

BlockSpec analytic_signal_output(const AnalyticSignalOptions& options, const BlockSpec& input, BackendKind backend) {
  validate(options.filter, "analytic-signal stage, filter");
  require_block(input, "analytic-signal", {ElementType::float32});
  if (input.columns < 2 || input.columns > sample_limit) {
    throw InputError("analytic-signal stage, input samples", fmt::format("{}", input.columns),
                     fmt::format("2 to {}", sample_limit));
  }
  BlockSpec output = input;
  if (backend == BackendKind::cpu) {
    output.type = ElementType::planar_complex64;
    output.row_stride = analytic_row_stride(input.columns);
    output.trailer = 0;
    return output;
  }
  require_rows_of_a_launch(input.rows, "analytic-signal");
  output.type = options.half ? ElementType::complex_half_slope : ElementType::complex64;
  output.row_stride = cuda_analytic_row_stride(input.columns);
  output.lead = cuda_lead;
  output.trailer = options.half ? half_trailer : 0;
  return output;
}

constinit const StageKind analytic_signal_stage{
    .name = "analytic-signal",
    .cpu =
        [](const StageOptions& options, Backend& backend) {
          const auto& wanted = options.as<AnalyticSignalOptions>();
          return make_analytic_signal_cpu(team_size(backend), simd_level(), wanted.filter, wanted.rows);
        },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_analytic_signal_cuda(options.as<AnalyticSignalOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<AnalyticSignalOptions>();
          const BlockSpec& input = inputs.only("analytic-signal");
          StageStatement statement{analytic_signal_output(wanted, input, site.backend), {}};
          if (site.backend == BackendKind::cuda) {
            statement.memory = analytic_signal_memory_on_cuda(wanted, input);
          } else {
            const std::size_t responses = wanted.filter.kind == FilterKind::none ? 0 : 2;
            statement.memory.host = static_cast<std::size_t>(row_transform_bytes(input.columns, team_size(site), responses));
          }
          return statement;
        },
};

}  // namespace echoform
