#include "rays/near_turns.hpp"

#include "rays/near_turns_math.hpp"

namespace echoform::rays {

NearTurns near_turns(const CurvePiece& piece, const CrossingEnds& ends) {
  return find_near_turns(piece, ends);
}

}  // namespace echoform::rays
