// What users call windows.
#pragma once

#include "base/text.hpp"
#include "stages/windows/window.hpp"

namespace echoform::words {

inline constexpr auto window =
    make_words(Word<WindowKind>{WindowKind::none, "none"}, Word<WindowKind>{WindowKind::hann, "hann"},
               Word<WindowKind>{WindowKind::hamming, "hamming"}, Word<WindowKind>{WindowKind::tukey, "tukey"},
               Word<WindowKind>{WindowKind::kaiser, "kaiser"}, Word<WindowKind>{WindowKind::gauss, "gauss"});

}  // namespace echoform::words
