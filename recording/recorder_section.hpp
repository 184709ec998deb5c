// The section [recorder] of the configuration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/units.hpp"

namespace echoform {

/// What the recorder does with a frame while all its buffers wait for the disk.
enum class WhenBehind : std::uint8_t {
  skip,  ///< omits it from the recording, and counts it
  wait,  ///< holds the pipeline back until a buffer is free
};

/// The settings of the recorder, which writes raw frames into files while they are imaged.
/// section<RecorderSection>(configuration) returns them.
struct RecorderSection {
  std::string folder;  ///< empty: no recorder
  std::string file = "{name}-{time}.mfmc";
  bool at_start = true;
  std::uint64_t frames_per_file = 0;  ///< 0: no limit; likewise below
  std::uint64_t bytes_per_file = 0;
  std::size_t keep_files = 0;
  std::uint64_t min_free_bytes = std::uint64_t{1} << 30;
  std::size_t waiting_frames = 8;
  WhenBehind when_behind = WhenBehind::skip;
  Seconds flush_interval{0.0};  ///< 0: the system decides when to write
};

}  // namespace echoform
