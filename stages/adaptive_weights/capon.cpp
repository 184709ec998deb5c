#include <cstddef>

#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/adaptive_weights/channels_math.hpp"
#include "stages/adaptive_weights/packed_channels.hpp"

namespace echoform::adaptive {

std::size_t subarray_length(const AdaptiveOptions& options, std::size_t channels) {
  return subarray_of(options.subarray, static_cast<unsigned>(channels));
}

float capon(const AdaptiveOptions& options, const ChannelWindow& window) {
  const auto channels = static_cast<unsigned>(window.channels);
  auto* const matrix = reinterpret_cast<DoubleComplex*>(window.workspace);
  const PackedChannels<true> packed{window};
  return static_cast<float>(capon_mean(packed, channels, static_cast<unsigned>(window.points),
                                       static_cast<unsigned>(window.centre), subarray_of(options.subarray, channels),
                                       options.loading, matrix, Alone{})
                                .real);
}

}  // namespace echoform::adaptive
