// Limits of frames in files, which are above those of frames that senders may ask a server to hold.
#pragma once

#include <cstddef>

namespace echoform {

/// Maximum size in bytes of a frame that is imaged by groups of its A-scans, since no memory has to hold it as a whole.
inline constexpr std::size_t most_recorded_bytes = std::size_t{1} << 38;
/// Maximum number of detectors of passive events in files that list each detector by itself, also those of an array that
/// moved.
inline constexpr std::size_t most_recorded_detectors = std::size_t{1} << 16;

}  // namespace echoform
