// A leg of some of another one's sources: the transmit side of acquisitions in which not every element fires, or in another
// order.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "delay_laws/delay_law.hpp"

namespace echoform {

/// Source k is source `sources[k]` of `leg`, which has more. Forms and rays of `leg` stay what they are, and a table of its times
/// serves both. `leg` itself where all its sources are chosen in their order. Made again of the same leg and sources it is the
/// same leg (Leg::is()), so that laws and the steps of recipes compare equal.
[[nodiscard]] std::shared_ptr<const Leg> select_sources(std::shared_ptr<const Leg> leg, std::vector<std::uint32_t> sources);

}  // namespace echoform
