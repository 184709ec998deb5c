#include "apps/recorded_frame.hpp"

#include <spdlog/spdlog.h>

#include <span>

#include "acquisition/sample_encodings.hpp"

namespace echoform {

Acquisition recorded_acquisition(const Recording& recording, std::size_t frame) {
  Acquisition acquisition = recording.stored();
  acquisition.probe = recording.probe(frame);
  return acquisition;
}

void log_warnings(const Recording& recording) {
  for (const std::string& line : recording.warnings()) spdlog::warn("{}", line);
}

void read_recorded_frame(Recording& recording, std::size_t frame, FrameSlot& slot) {
  const Acquisition stored = recording.stored();
  if (!facts_of(stored.encoding).counts()) {
    // Says where a sample is that is not finite, which a capture hands on as it came.
    recording.read_frame(frame, {static_cast<float*>(slot.samples.data()), stored.a_scans() * stored.samples});
  } else {
    recording.read_stored(frame, {slot.samples.bytes_begin(), stored.frame_bytes()});
  }
}

}  // namespace echoform
