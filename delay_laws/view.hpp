// Names of views by modes: how the wave travels to the pixel, and how from it. Views with names of their own: view_kind.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace echoform {

/// Legs that a side of a view may have.
inline constexpr std::size_t most_legs = 3;

/// A view is named "X-Y", both sides by the modes of their legs in the order in which the wave travels: "TT-T" goes as T to the
/// backwall and as T to the pixel, and comes back as T straight to the element; of "L-LT" the receive side runs as L from the
/// pixel to the wall, then as T to the element. Two letters alone are one leg a side: "LT" is "L-T". (The
/// multi-mode total focusing method of Zhang, Drinkwater, Wilcox and Hunter 2010, NDT & E International 43, 123-133.)
struct View {
  std::string transmit;  ///< modes of the legs, 'L' or 'T', from the element to the pixel
  std::string receive;   ///< likewise from the element to the pixel: the name's second side backwards

  /// The name that all spellings of the view share: "LT" for "L-T".
  [[nodiscard]] std::string name() const;
  /// Whether a side meets the backwall.
  [[nodiscard]] bool skips() const { return transmit.size() > 1 || receive.size() > 1; }
};

/// Throws InputError for letters other than L and T, a side without legs or with more than most_legs, and a name of other than
/// two letters without hyphen.
[[nodiscard]] View parse_view(std::string_view text);

/// The name that all spellings of a view share. A text that is no such name stays as it is: registered views and those of other
/// programs' laws are called what they like.
[[nodiscard]] std::string canonical_view_name(std::string_view text);

/// Whether a text is a view's name and the view skips.
[[nodiscard]] bool names_skip(std::string_view text);

}  // namespace echoform
