#include "stages/adaptive_weights/channel_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "stages/adaptive_weights/channels_math.hpp"

namespace echoform::gpu {
namespace {

constexpr std::size_t most_shared_matrix = std::size_t{150} << 10;
constexpr std::size_t channels_in_memory = std::size_t{64} << 20;

}  // namespace

void require_channels(std::size_t channels, const char* stage) {
  if (channels <= most_channels) return;
  throw InputError(fmt::format("{} stage, channels of a point", stage), fmt::format("{}", channels),
                   fmt::format("at most {} on a GPU", most_channels));
}

std::size_t capon_matrix_bytes(double subarray, std::uint32_t pitch) {
  return adaptive::capon_numbers(adaptive::subarray_of(subarray, pitch)) * sizeof(adaptive::DoubleComplex);
}

bool has_shared_matrix(double subarray, std::uint32_t pitch) {
  return capon_matrix_bytes(subarray, pitch) <= most_shared_matrix;
}

std::size_t channel_workspace_bytes(const AdaptiveOptions& options, std::uint32_t pitch) {
  if (adaptive_kind(options.kind, "adaptive weights").on_cuda != AdaptiveOnCuda::capon) return 0;
  return has_shared_matrix(options.subarray, pitch) ? 0 : blocks_with_workspace * capon_matrix_bytes(options.subarray, pitch);
}

ChannelSizes channel_sizes(const AdaptiveOptions& options, std::size_t lines, std::size_t points, std::size_t channels,
                           std::size_t floats) {
  ChannelSizes sizes;
  sizes.pitch = padded_channels(channels);
  const std::size_t of_line = points * sizes.pitch * sizeof(float);
  const std::size_t whole = std::max<std::size_t>(1, channels_in_memory / std::max<std::size_t>(1, (floats + 1) * of_line));
  sizes.lines_at_once = static_cast<std::uint32_t>(std::min(lines, whole));
  sizes.values = sizes.lines_at_once * floats * of_line;
  sizes.weights = sizes.lines_at_once * of_line;
  sizes.workspace = channel_workspace_bytes(options, sizes.pitch);
  return sizes;
}

}  // namespace echoform::gpu
