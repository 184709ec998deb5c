// What a recipe makes of images that are there already: composed of the positions of a scan, or summed of the groups of a frame.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/recipe.hpp"

namespace echoform {

struct AfterImages {
  /// Its first steps do nothing, one an image that it needs: their blocks are those images' envelopes, and its first outputs too,
  /// so that whoever runs it says where they lie.
  Recipe recipe;
  std::vector<std::size_t> images;   ///< by these steps; numbers of the views whose envelopes are given
  std::vector<std::size_t> outputs;  ///< by the outputs behind them; numbers of the whole recipe's
};

/// The steps of `recipe` from the envelopes of `given` on, as far as outputs of `view` take them: its envelope where that is none
/// of the given ones, and its display images where they are wanted. std::logic_error where these are made of anything else.
[[nodiscard]] AfterImages after_images(const Recipe& recipe, const std::vector<std::string>& given, std::string_view view,
                                       bool displays);

}  // namespace echoform
