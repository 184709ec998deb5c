// When sound of a grid reaches its detectors.
#pragma once

#include "operators/model_geometry.hpp"

namespace echoform {

/// From the first to the last arrival of sound of any voxel at any detector, dead ones left out; 0 to 0 without any. Of a
/// geometry that passes validate().
struct Arrivals {
  Seconds first;
  Seconds last;
};
[[nodiscard]] Arrivals arrivals_of(const ModelGeometry& geometry);

/// Throws InputError, naming `where`: what validate() throws; a start time that is not finite; no sound of the grid within the
/// record.
void require_sound(const ModelGeometry& geometry, const char* where);

}  // namespace echoform
