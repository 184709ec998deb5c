// The part of a recipe that follows after images that exist already: images composed of the positions of a scan, or summed over
// the groups of a frame.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/recipe.hpp"

namespace echoform {

struct AfterImages {
  /// Its first steps do nothing, one for each image that it needs. Their blocks are those images' envelopes, and are also
  /// its first outputs, so that the code that runs it states where they lie.
  Recipe recipe;
  std::vector<std::size_t> images;   ///< for each of these steps, the number of the view whose envelope is given
  std::vector<std::size_t> outputs;  ///< for each output behind them, its number in the whole recipe
};

/// The steps of `recipe` from the envelopes of `given` on, as far as outputs of `view` need them: its envelope unless it is
/// given, and its display images if `displays` is true. Throws std::logic_error where these are made of anything else.
[[nodiscard]] AfterImages after_images(const Recipe& recipe, const std::vector<std::string>& given, std::string_view view,
                                       bool displays);

}  // namespace echoform
