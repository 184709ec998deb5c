// The names of the scales of values in files and messages.
#pragma once

#include "base/text.hpp"
#include "base/value_scale.hpp"

namespace echoform::words {

inline constexpr auto scale_kind =
    make_words(Word<ScaleKind>{ScaleKind::decibels, "decibels"}, Word<ScaleKind>{ScaleKind::power_decibels, "power_decibels"},
               Word<ScaleKind>{ScaleKind::from_zero, "from_zero"}, Word<ScaleKind>{ScaleKind::symmetric, "symmetric"});

}  // namespace echoform::words
