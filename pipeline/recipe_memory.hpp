// The memory that a recipe takes, added up from what its stages state, before anything is allocated.
#pragma once

#include <cstddef>

#include "pipeline/recipe.hpp"

namespace echoform {

/// Bytes. `host` and `device` are separate memories. On the CPU all memory is the host's. On a GPU blocks and stages lie on
/// the device, and the host holds the received samples and what is brought back.
struct RecipeMemory {
  std::size_t host_shared = 0;  ///< stages, blocks between them
  std::size_t device_stages = 0;
  std::size_t device_blocks = 0;
  std::size_t host_of_slot = 0;  ///< received samples and results
  std::size_t device_of_slot = 0;
  // The part of the device's memory that grows with the number of pixels.
  std::size_t pixels_shared = 0;
  std::size_t pixels_of_slot = 0;

  [[nodiscard]] std::size_t host(std::size_t slots) const { return host_shared + slots * host_of_slot; }
  [[nodiscard]] std::size_t device(std::size_t slots) const { return device_stages + device_blocks + slots * device_of_slot; }
};

/// `samples` describes the received samples as a stage reads them (raw_block() with the gate's columns), `frame_bytes` is what a
/// frame takes on the host. Throws InputError if a stage refuses its inputs.
[[nodiscard]] RecipeMemory recipe_memory(const Recipe& recipe, const BlockSpec& samples, std::size_t frame_bytes,
                                         const StageSite& site);

}  // namespace echoform
