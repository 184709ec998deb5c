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

/// Of a scan all, where nothing else is said. Throws InputError, naming the option.
[[nodiscard]] FrameChoice choose_frames(const ImageOptions& options, const Recording& recording, bool scan);
/// In their order; of a scan at the places of --positions alone. Throws InputError.
[[nodiscard]] std::vector<std::size_t> frames_of(const FrameChoice& choice, const ImageOptions& options,
                                                 const Recording& recording, bool scan);

}  // namespace echoform
