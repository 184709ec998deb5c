// What stages that read received samples ask of their options and outputs.
#pragma once

#include <cstddef>
#include <string_view>

#include "pipeline/stage.hpp"

namespace echoform {

/// Throws InputError naming `stage` unless the scale is finite, not 0, and is neither as a float.
void require_sample_scale(double sample_scale, std::string_view stage);

/// What a stage states that turns them into `output` and finds the facts of a frame: on CUDA those stand in a trailer.
[[nodiscard]] StageStatement state_with_facts(BlockSpec output, const StageSite& site);

/// Output beyond this many bytes is written past the caches: keeping it would only push other data out.
inline constexpr std::size_t streaming_bytes = std::size_t{32} << 20;

}  // namespace echoform
