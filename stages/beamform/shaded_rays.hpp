// The view of the tables of a curve that casts shadows, on host or device.
#pragma once

#include "rays/shadow_math.hpp"

namespace echoform::beamform {

/// The view for a form with shades. The tables are the form's own or copies, for example on the device.
[[nodiscard]] inline rays::ShadedCurve shaded_curve(const rays::CurveForm& form, const rays::CurveNode* nodes,
                                                    const rays::CurvePiece* pieces, const rays::PieceShade* shades,
                                                    const rays::PieceGroup* groups) {
  return {static_cast<std::uint32_t>(form.nodes.size()),
          static_cast<std::uint32_t>(form.shades->groups.size()),
          nodes,
          pieces,
          shades,
          groups,
          form.shades->box,
          form.shades->directions,
          form.shades->longest_chord,
          form.before,
          form.after,
          form.sides};
}

}  // namespace echoform::beamform
