// Turns frames of a recording into images, by a setup: whole frames, or group by group where the memory does not hold them.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "config/configuration.hpp"
#include "engines/group_imager.hpp"
#include "formats/recording.hpp"
#include "offline/process_memory.hpp"
#include "pipeline/engine.hpp"

namespace echoform {

/// Bytes of the host's memory that imaging frames of the recording takes in addition to what the setup states:
/// - the memory that the program holds now, without what the driver of the GPU takes,
/// - what threads and libraries take when they start,
/// - what reading a whole frame takes,
/// - `writing_bytes`, what the image's files take while they are written.
[[nodiscard]] double taken_beside_images(const Recording& recording, std::size_t writing_bytes, const MemoryShares& memory);

/// Whether images are formed on a GPU that has less memory free than whole frames of the setup need.
[[nodiscard]] bool device_too_small(const ImagingSetup& setup, const Configuration& configuration);

class FrameImager {
 public:
  /// `configuration`, whose backend is settled, is the one that the setup was resolved by. `writing_bytes` is what the
  /// image's files take while they are written. `memory` states what the program holds for the GPU's driver, which no limit
  /// counts; what is loaded for the driver here is added to it. Throws as make_engine(), and InputError where groups do not
  /// fit into [imaging] memory_limit beside what the program holds already.
  FrameImager(std::shared_ptr<const ImagingSetup> setup, const Configuration& configuration, const Recording& recording,
              std::size_t writing_bytes, MemoryShares& memory);

  /// Is called with the number of the frame's bytes that are imaged, while the frame is imaged by groups.
  using Progress = std::function<void(std::size_t bytes)>;
  /// Throws as Recording::read_frame(); RuntimeFault if the backend fails.
  void image(Recording& recording, std::size_t frame, const Progress& progress);

  /// The envelope of the view in the last frame; empty where there is none. The same holds for the complex image,
  /// analytic().
  [[nodiscard]] std::span<const float> envelope(std::string_view view) const;
  [[nodiscard]] std::span<const std::complex<float>> analytic(std::string_view view) const;
  /// The levels that figures show of the view instead of its envelope (display_for_figures()); empty where they show the
  /// envelope.
  [[nodiscard]] std::span<const std::byte> display(std::string_view view) const;
  /// The value that display() shows as 0 dB, or as the end of a scale of numbers; 0 where there is none.
  [[nodiscard]] double display_reference(std::string_view view) const;
  [[nodiscard]] std::uint64_t invalid_samples() const;

  [[nodiscard]] const ImagingSetup& setup() const noexcept { return *setup_; }
  /// "36 groups of A-scans, 5 at a time on the CPU"; empty where frames are imaged whole.
  [[nodiscard]] std::string groups_text() const;

 private:
  void make_groups(const Configuration& configuration, double besides, MemoryShares& memory);

  const std::shared_ptr<const ImagingSetup> setup_;
  std::unique_ptr<GroupImager> groups_;
  std::unique_ptr<Engine> engine_;  // of whole frames
  FrameSlot slot_;
};

}  // namespace echoform
