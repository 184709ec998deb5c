#include "offline/recorded_frame.hpp"

#include <fmt/format.h>

#include <span>
#include <string>

#include "acquisition/sample_encodings.hpp"
#include "base/errors.hpp"

namespace echoform {

Acquisition recorded_acquisition(const Recording& recording, std::size_t frame) {
  Acquisition acquisition = recording.stored();
  acquisition.probe = recording.probe(frame);
  return acquisition;
}

std::size_t checked_frame(const Recording& recording, std::int64_t frame, std::string_view option) {
  const std::size_t frames = recording.frames();
  if (frame >= 0 && static_cast<std::size_t>(frame) < frames) return static_cast<std::size_t>(frame);
  throw InputError(std::string(option), fmt::format("{}", frame),
                   frames == 1 ? fmt::format("0, as {} holds one frame", recording.name())
                               : fmt::format("0 to {}, as {} holds {} frames", frames - 1, recording.name(), frames));
}

void read_recorded_frame(Recording& recording, std::size_t frame, FrameSlot& slot) {
  const Acquisition stored = recording.stored();
  if (!facts_of(stored.encoding).counts()) {
    // The error states where a sample is not finite; captures pass such samples on as they came.
    recording.read_frame(frame, {static_cast<float*>(slot.samples.data()), stored.a_scans() * stored.samples});
  } else {
    recording.read_stored(frame, {slot.samples.bytes_begin(), stored.frame_bytes()});
  }
}

}  // namespace echoform
