// The scale in stages that compress.
#pragma once

#include <compare>

namespace echoform {

struct ShownReference {
  float shown = 0.0F;  ///< value shown as 0 dB
  float known = 0.0F;  ///< the same where frames determine it, for another stage to go on from; 0 if fixed or none did

  constexpr auto operator<=>(const ShownReference&) const = default;
};

}  // namespace echoform
