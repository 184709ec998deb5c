#include "stages/beamform/adaptive_receivers.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "stages/adaptive_weights/channel_sizes.hpp"
#include "stages/block_checks.hpp"

namespace echoform::beamform {

void check_adaptive(const AdaptiveBeamformOptions& options) {
  validate(options.sum);
  validate(options.adaptive, "adaptive-beamform stage,");
  const AdaptiveKind& kind = adaptive_kind(options.adaptive.kind, "adaptive-beamform stage, kind");
  if (kind.sums_of == ChannelSums::none || kind.result == AdaptiveResult::doubled) {
    throw InputError("adaptive-beamform stage, kind", fmt::format("\"{}\"", kind.name), "a weight of pixels");
  }
  if (options.sum.pairs.summed) {
    throw InputError("adaptive-beamform stage, rows", "sums of both directions", "rows of one receiver each");
  }
}

void require_adaptive_input(const BeamformOptions& options, const BlockSpec& input, BackendKind backend) {
  const bool cuda = backend == BackendKind::cuda;
  require_block(input, "adaptive-beamform", {cuda ? ElementType::complex64 : ElementType::planar_complex64});
  const std::size_t rows = options.pairs.rows + options.rows_behind;
  if (input.rows == rows && input.columns == options.gate.count && input.row_stride >= input.columns) return;
  throw InputError("adaptive-beamform input",
                   fmt::format("[{}, {}] with rows of {}", input.rows, input.columns, input.row_stride),
                   fmt::format("[{}, {}]", rows, options.gate.count));
}

std::vector<std::uint32_t> live_receivers(const BeamformOptions& options) {
  std::vector<bool> has(options.pairs.receivers);
  for (const PairRun& run : options.pairs.lookups) {
    for (std::uint32_t n = 0; n < run.count; ++n) has[run.reversed ? run.event : run.receiver + n] = true;
  }
  std::vector<std::uint32_t> receivers;
  for (std::uint32_t j = 0; j < has.size(); ++j) {
    if (has[j] && !options.aperture.probe.elements[j].dead) receivers.push_back(j);
  }
  return receivers;
}

AdaptivePixelSizes adaptive_pixel_sizes(const AdaptiveBeamformOptions& options) {
  const Grid& grid = options.sum.grid;
  const std::size_t columns = grid.x.count * grid.y.count;
  const std::size_t sources = options.sum.pairs.events + options.sum.pairs.receivers;
  std::size_t lookups = 0;
  for (const PairRun& run : options.sum.pairs.lookups) lookups += run.count;
  AdaptivePixelSizes sizes;
  sizes.tables = sources * (grid.pixels() * 2 * sizeof(float) + columns * sizeof(std::int32_t)) +
                 lookups * 2 * sizeof(std::uint32_t) + (2 * options.sum.pairs.receivers + 1) * sizeof(std::uint32_t);
  if (adaptive_kind(options.adaptive.kind, "adaptive-beamform stage").of_sums != nullptr) {
    sizes.pixels = grid.pixels() * 4 * sizeof(float);
  } else {
    sizes.pixels = gpu::channel_sizes(options.adaptive, columns, grid.z.count, options.sum.pairs.receivers, 2).bytes();
  }
  return sizes;
}

}  // namespace echoform::beamform
