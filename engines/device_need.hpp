// What an engine takes of a device's memory, and what would fit where it is too much. Arithmetic alone.
#pragma once

#include <cstddef>
#include <string>

#include "gpu/memory_report.hpp"
#include "pipeline/engine.hpp"
#include "pipeline/imaging_plan.hpp"

namespace echoform {

struct DeviceNeed {
  std::size_t fixed = 0;           ///< bytes of A-scans on their way through the stages
  std::size_t tables = 0;          ///< bytes of delay tables
  std::size_t raw_of_slot = 0;     ///< bytes of received samples
  std::size_t images = 0;          ///< bytes of images on their way through the stages
  std::size_t images_of_slot = 0;  ///< bytes of finished images
  std::size_t slots = 1;
  std::size_t columns = 0;  ///< pixels of the grid, for the advice
  std::size_t rows = 0;

  [[nodiscard]] std::size_t bytes() const { return fixed + tables + images + slots * (raw_of_slot + images_of_slot); }
};

/// A lower bound from the setup alone, before any stage is made: with delay tables, without scratch.
[[nodiscard]] DeviceNeed estimate_device_need(const ImagingSetup& setup, const EngineOptions& options);

/// The first view that, by reciprocity, has the same images as `view`: where only one of both directions was received.
[[nodiscard]] std::size_t first_alike(const ImagingPlan& plan, std::size_t view);

/// For a live change, whose engine is built while the one before is there: throws InputError unless `memory.free` of `device`
/// holds the lower bound for `setup`, and says what would fit.
void require_device_room(const ImagingSetup& setup, const EngineOptions& options, int device, const DeviceMemory& memory);

/// "2 slots, or 404 x 404 pixels": fewer slots, or fewer pixels of the same shape, that fit into `free` bytes; with neither,
/// "fewer samples or elements".
[[nodiscard]] std::string what_would_fit(const DeviceNeed& need, std::size_t free);

/// Distance of the rows of received samples on the device in bytes: they start on 16 bytes, which kernels load at a time.
[[nodiscard]] constexpr std::size_t device_row_pitch(std::size_t row_bytes) {
  return (row_bytes + 15) / 16 * 16;
}

}  // namespace echoform
