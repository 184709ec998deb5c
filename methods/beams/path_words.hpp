// The names, for users, of the paths from A-scans to lines.
#pragma once

#include "base/text.hpp"
#include "methods/beams/section.hpp"

namespace echoform::words {

inline constexpr auto line_path = make_words(Word<LinePath>{LinePath::rf, "rf"}, Word<LinePath>{LinePath::iq, "iq"});

}  // namespace echoform::words
