// Which frames of a recording `echoform image` images.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "apps/image_job.hpp"
#include "formats/recording.hpp"

namespace echoform {

struct FrameChoice {
  std::size_t first = 0;
  std::size_t last = 0;
};

inline constexpr std::string_view positions_option = "--positions";

/// The range of frames that the options choose. Where they state none, it is all frames of a scan, and frame 0 of any other
/// recording. Throws InputError, naming the option.
[[nodiscard]] FrameChoice choose_frames(const ImageOptions& options, const Recording& recording, bool scan);
/// The chosen frames in their order; of a scan only those taken at the positions of --positions. Throws InputError where
/// none is left.
[[nodiscard]] std::vector<std::size_t> frames_of(const FrameChoice& choice, const ImageOptions& options,
                                                 const Recording& recording, bool scan);

}  // namespace echoform
