// What users call windows.
#pragma once

#include "base/text.hpp"
#include "stages/windows/window.hpp"

namespace echoform::words {

#define ECHOFORM_WORD(NAME) {WindowKind::NAME, #NAME},
inline constexpr auto window = words_of<WindowKind>({ECHOFORM_WINDOWS(ECHOFORM_WORD)});
#undef ECHOFORM_WORD

}  // namespace echoform::words
