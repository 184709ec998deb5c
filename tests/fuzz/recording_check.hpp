// What holds for every recording that a reader takes.
#pragma once

#include <cmath>
#include <vector>

#include "base/errors.hpp"
#include "formats/recording.hpp"
#include "tests/fuzz/input.hpp"

namespace echoform::fuzz {

/// Small: a damaged size is refused before it costs memory.
inline const RecordingOptions small_recordings{.limits = {.elements = 64, .samples = 4096, .frame_bytes = std::size_t{1} << 20}};

/// Reads the first frames of what `open` opens.
template <class Open>
void check_recording(Open&& open) {
  try {
    const auto recording = open();
    const Acquisition& acquisition = recording->acquisition();
    const auto& limits = small_recordings.limits;
    require(acquisition.elements() >= 1 && acquisition.elements() <= limits.elements, "elements within the limit");
    require(acquisition.samples >= 2 && acquisition.samples <= limits.samples, "samples within the limit");
    require(acquisition.frame_bytes() <= limits.frame_bytes, "a frame within the limit");
    require(recording->frames() >= 1, "at least one frame");
    require_one_line(recording->describe());
    std::vector<float> samples(acquisition.a_scans() * acquisition.samples, std::nanf(""));
    for (std::size_t frame = 0; frame < std::min<std::size_t>(recording->frames(), 3); ++frame) {
      require(recording->probe(frame).elements.size() == acquisition.elements(), "the same elements in every frame");
      if (const auto position = recording->stamp(frame).position) require(*position != no_position, "a count, or none");
      recording->read_frame(frame, samples);
      for (const float sample : samples) require(std::isfinite(sample), "finite samples");
    }
  } catch (const InputError& error) {
    require_one_line(error.what());
  }
}

}  // namespace echoform::fuzz
