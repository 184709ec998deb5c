// What stages that compress know of the scale.
#pragma once

#include <compare>

namespace echoform {

struct ShownReference {
  float shown = 0.0F;  ///< value shown as 0 dB
  float known = 0.0F;  ///< the same where frames gave it, for another stage to go on from; 0 where none did, or where it is fixed

  constexpr auto operator<=>(const ShownReference&) const = default;
};

}  // namespace echoform
