// What frames of files may be, beyond what senders may ask a server to hold.
#pragma once

#include <cstddef>

namespace echoform {

/// Bytes of a frame that is imaged by groups of its A-scans: no memory has to hold it.
inline constexpr std::size_t most_recorded_bytes = std::size_t{1} << 38;
/// Detectors of passive events in files that list each of them by itself, also those of an array that moved.
inline constexpr std::size_t most_recorded_detectors = std::size_t{1} << 16;

}  // namespace echoform
