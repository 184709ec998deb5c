// The names, for users, of the kinds of temporal filters.
#pragma once

#include "base/text.hpp"
#include "methods/filter_settings.hpp"

namespace echoform::words {

inline constexpr auto filter_wish =
    make_words(Word<FilterWish>{FilterWish::automatic, "auto"}, Word<FilterWish>{FilterWish::mean, "mean"},
               Word<FilterWish>{FilterWish::band, "band"}, Word<FilterWish>{FilterWish::wiener, "wiener"},
               Word<FilterWish>{FilterWish::none, "none"});

}  // namespace echoform::words
