// How much of a device's memory an engine takes, and what would fit where that is too much. Only arithmetic.
#pragma once

#include <cstddef>
#include <string>

#include "gpu/memory_report.hpp"
#include "pipeline/engine.hpp"

namespace echoform {

struct DeviceNeed {
  std::size_t stages = 0;          ///< bytes that the stages take: tables of delays, scratch
  std::size_t blocks = 0;          ///< bytes between the stages
  std::size_t of_slot = 0;         ///< bytes of received samples and results
  std::size_t pixels = 0;          ///< of stages and blocks, those that grow with the number of pixels
  std::size_t pixels_of_slot = 0;  ///< of a slot, likewise
  std::size_t slots = 1;
  std::size_t columns = 0;  ///< pixels of the first output, for the advice
  std::size_t rows = 0;

  [[nodiscard]] std::size_t bytes() const { return stages + blocks + slots * of_slot; }
  /// The same need, with stages that are prepared and take `bytes`.
  [[nodiscard]] DeviceNeed with_stages(std::size_t bytes) const;
};

/// A lower bound from what the stages of a setup state, before any is made.
[[nodiscard]] DeviceNeed device_need(const ImagingSetup& setup, const EngineOptions& options);

/// Checks a live change, whose engine is built while the previous engine still exists. Throws InputError unless `memory.free`
/// of `device` holds the lower bound for `setup`; the error states what would fit.
void require_device_room(const ImagingSetup& setup, const EngineOptions& options, int device, const DeviceMemory& memory);

/// Advice such as "2 slots, or 404 x 404 pixels": fewer slots, or fewer pixels of the same shape, that fit into `free`
/// bytes. Where neither fits: "fewer samples or elements".
[[nodiscard]] std::string what_would_fit(const DeviceNeed& need, std::size_t free);

}  // namespace echoform
