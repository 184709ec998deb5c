#include "apps/image_frames.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "base/errors.hpp"
#include "offline/recorded_frame.hpp"
#include "offline/recorded_positions.hpp"

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
  if (!options.many() && !(scan && !options.frame)) {
    const std::size_t frame = checked_frame(recording, options.frame.value_or(0), "--frame");
    return {frame, frame};
  }
  const std::size_t first = checked_frame(recording, options.from.value_or(0), "--from");
  const std::size_t last = options.to ? checked_frame(recording, *options.to, "--to") : recording.frames() - 1;
  if (last < first) throw InputError("--to", fmt::format("{}", last), fmt::format("{} (--from) or more", first));
  return {first, last};
}

}  // namespace echoform
