// What users call the scan conversions' options.
#pragma once

#include "base/text.hpp"
#include "stages/scan_conversion/scan_interpolation.hpp"

namespace echoform::words {

inline constexpr auto scan_interpolation = make_words(Word<ScanInterpolation>{ScanInterpolation::nearest, "nearest"},
                                                      Word<ScanInterpolation>{ScanInterpolation::bilinear, "bilinear"},
                                                      Word<ScanInterpolation>{ScanInterpolation::cubic, "cubic"});

}  // namespace echoform::words
