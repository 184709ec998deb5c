// A choice of the positions that a recording was taken at: of those within each frame, or of the places of a scan.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.hpp"
#include "formats/recording.hpp"

namespace echoform {

/// The numbers of "3-7,9", ascending. Throws InputError, naming `option`, for text that is no list of numbers and ranges
/// from 0, for a range that falls, for a number that is there twice, and for numbers above `most_position`.
[[nodiscard]] std::vector<std::size_t> parse_positions(std::string_view text, std::string_view option);
inline constexpr std::size_t most_position = 999'999;

/// Replaces `recording`, whose frames state positions of the probe, by one whose frames have only the chosen positions and
/// the events that were fired there. Position k is then the k-th of those chosen. If the configuration states positions,
/// only those of the chosen are kept there. Throws InputError, naming `option`, where a frame has no such position, or
/// states none.
void keep_positions(std::unique_ptr<Recording>& recording, Configuration& configuration, const std::vector<std::size_t>& chosen,
                    std::string_view option);

/// Whether each frame of a scan was taken at one of the chosen places. Places count from 0 in the order in which frames
/// come to them first; frames at one place state the same count of the encoder. Throws InputError, naming `option`, where
/// there is no such place.
[[nodiscard]] std::vector<bool> frames_at(const Recording& recording, const std::vector<std::size_t>& chosen,
                                          std::string_view option);

}  // namespace echoform
