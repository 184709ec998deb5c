#include "apps/image_frames.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "apps/recorded_positions.hpp"
#include "base/errors.hpp"

namespace echoform {

std::vector<std::size_t> frames_of(const FrameChoice& choice, const ImageOptions& options, const Recording& recording,
                                   bool scan) {
  std::vector<bool> wanted(recording.frames(), true);
  if (scan && options.positions)
    wanted = frames_at(recording, parse_positions(*options.positions, positions_option), positions_option);
  std::vector<std::size_t> frames;
  for (std::size_t frame = choice.first; frame <= choice.last; ++frame) {
    if (wanted[frame]) frames.push_back(frame);
  }
  if (frames.empty()) {
    throw InputError(std::string(positions_option),
                     fmt::format("{}, where no frame from {} to {} was taken", *options.positions, choice.first, choice.last),
                     "places of some of these frames");
  }
  return frames;
}

FrameChoice choose_frames(const ImageOptions& options, const Recording& recording, bool scan) {
  const auto checked = [&](std::string_view option, std::int64_t frame) {
    if (frame >= 0 && static_cast<std::size_t>(frame) < recording.frames()) return static_cast<std::size_t>(frame);
    throw InputError(std::string(option), fmt::format("{}", frame),
                     recording.frames() == 1 ? fmt::format("0, as {} holds one frame", options.input)
                                             : fmt::format("0 to {}, as {} holds {} frames", recording.frames() - 1,
                                                           options.input, recording.frames()));
  };
  if (!options.many() && !(scan && !options.frame)) {
    const std::size_t frame = checked("--frame", options.frame.value_or(0));
    return {frame, frame};
  }
  const std::size_t first = checked("--from", options.from.value_or(0));
  const std::size_t last = options.to ? checked("--to", *options.to) : recording.frames() - 1;
  if (last < first) throw InputError("--to", fmt::format("{}", last), fmt::format("{} (--from) or more", first));
  return {first, last};
}

}  // namespace echoform
