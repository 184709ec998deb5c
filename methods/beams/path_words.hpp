// What users call the paths of A-scans to lines, and wall filters.
#pragma once

#include "base/text.hpp"
#include "methods/beams/section.hpp"

namespace echoform::words {

inline constexpr auto line_path = make_words(Word<LinePath>{LinePath::rf, "rf"}, Word<LinePath>{LinePath::iq, "iq"});

inline constexpr auto wall_filter =
    make_words(Word<WallFilterKind>{WallFilterKind::none, "none"}, Word<WallFilterKind>{WallFilterKind::regression, "regression"},
               Word<WallFilterKind>{WallFilterKind::fir, "fir"}, Word<WallFilterKind>{WallFilterKind::svd, "svd"});

}  // namespace echoform::words
