// What users call the beamformer's options.
#pragma once

#include "base/text.hpp"
#include "stages/beamform/apodization_options.hpp"
#include "stages/beamform/interpolation.hpp"

namespace echoform::words {

inline constexpr auto interpolation =
    make_words(Word<Interpolation>{Interpolation::nearest, "nearest"}, Word<Interpolation>{Interpolation::linear, "linear"});
inline constexpr auto apodization_window =
    make_words(Word<ApodizationWindow>{ApodizationWindow::none, "none"}, Word<ApodizationWindow>{ApodizationWindow::hann, "hann"},
               Word<ApodizationWindow>{ApodizationWindow::tukey, "tukey"});
inline constexpr auto apodization_sides = make_words(Word<ApodizationSides>{ApodizationSides::both, "both"},
                                                     Word<ApodizationSides>{ApodizationSides::transmit, "transmit"},
                                                     Word<ApodizationSides>{ApodizationSides::receive, "receive"});

}  // namespace echoform::words
