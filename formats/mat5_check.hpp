// Checks a MATLAB version 5 or 7 file element by element before a library is trusted with it: MAT libraries accept files
// that were cut inside a data element and read past damaged sizes.
//
// Layout (MAT-File Format, "Level 5 MAT-files"): a 128-byte header, then elements: a tag (type, byte count), data, padding to
// 8 bytes. A compressed element is a zlib stream of one matrix element; a matrix element nests further elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/input_file.hpp"
#include "formats/mat5_numbers.hpp"

namespace echoform::formats {

struct Mat5CheckLimits {
  std::uint64_t array_values = std::uint64_t{1} << 31;  ///< per numeric array
};

/// Walks every element of the file, also inside compressed ones, and compares each byte count with the file and with the
/// array it belongs to. `variable` is the one that will be read; it and those before it may hold cells, structures, text,
/// sparse and numeric arrays only. Throws InputError naming file, element and offset.
/// Returns where the numbers of the variable's field `field` lie, if it is a structure that has such an array (of its first
/// element, the real parts).
std::optional<Mat5Place> check_mat5(const InputFile& input, std::string_view variable, std::string_view field = {},
                                    const Mat5CheckLimits& limits = {});

/// Whether the file carries the signature of HDF5, as MATLAB's version 7.3 does behind its own header.
[[nodiscard]] bool is_hdf5_file(const InputFile& file);

}  // namespace echoform::formats
