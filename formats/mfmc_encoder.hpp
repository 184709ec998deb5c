// Counts of the probe's encoder in MFMC files. The format defines placements in metres only, and no recorder knows how many
// metres a count is. The format lets users add names of their own, so counts are in a dataset with such a name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "acquisition/frame_stamp.hpp"
#include "formats/hdf5_file.hpp"

namespace echoform::formats {

/// Beyond the format, of a sequence: int64 [frames, encoders], raw counts; `no_position` where a frame states none. As many rows
/// as frames once a frame has stated one, and none before. Echoform writes one encoder.
inline constexpr const char* encoder_count_dataset = "ECHOFORM_ENCODER_COUNT";

/// Beyond the format, of a sequence, int[1], 1: each frame has the placement that follows from its count and the path of the
/// scan, and the probe's own coordinates are global ones where the path has s = 0. Frames without a count have that placement
/// too, and are at no known place.
inline constexpr const char* placed_by_encoder_attribute = "ECHOFORM_PLACED_BY_ENCODER";

/// Those of the first encoder, of `frames` frames at most; frames behind the end of what is returned state none. Throws
/// InputError naming the dataset if it is not of that shape and class, or damaged. `where` is "FILE: /GROUP".
[[nodiscard]] std::vector<EncoderCount> read_encoder_counts(const Hdf5Handle& sequence, const std::string& where,
                                                            std::size_t frames);

}  // namespace echoform::formats
