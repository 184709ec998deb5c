// Checks and statements of stages that read received samples.
#pragma once

#include <cstddef>
#include <string_view>

#include "pipeline/stage.hpp"

namespace echoform {

/// Throws InputError, naming `stage`, unless the scale is finite and not 0, also when rounded to a float.
void require_sample_scale(double sample_scale, std::string_view stage);

/// The statement of a stage that converts received samples to `output` and finds the facts of a frame. On CUDA the facts are
/// in a trailer.
[[nodiscard]] StageStatement state_with_facts(BlockSpec output, const StageSite& site);

/// Output beyond this many bytes is written past the caches: keeping it would only push other data out.
inline constexpr std::size_t streaming_bytes = std::size_t{32} << 20;

}  // namespace echoform
