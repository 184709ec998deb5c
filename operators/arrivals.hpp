// When sound of a grid reaches its detectors.
#pragma once

#include <string>

#include "operators/model_geometry.hpp"

namespace echoform {

/// A range of times after the pulse of light.
struct Arrivals {
  Seconds first;
  Seconds last;
};
/// Arrivals of sound from the grid's box at one detector.
[[nodiscard]] Arrivals arrivals_at(const ModelGeometry& geometry, const Detector& detector);
/// The first and the last arrival of sound of any voxel at any living detector; 0 to 0 if there is none. The geometry must
/// pass validate(), as in all functions here.
[[nodiscard]] Arrivals arrivals_of(const ModelGeometry& geometry);
/// Times of the first and of the last sample.
[[nodiscard]] Arrivals record_of(const ModelGeometry& geometry);
/// "0.4256 to 0.8754 us"
[[nodiscard]] std::string text_of(const Arrivals& arrivals);

/// Throws InputError, naming `where`, if no living detector receives sound of the grid within the record. If all detectors
/// are dead, it does not throw, since that is taken as intended. `geometry` must have all detectors of a job, since a model
/// may be made of a part of them that receives nothing.
void require_sound(const ModelGeometry& geometry, const char* where);

}  // namespace echoform
