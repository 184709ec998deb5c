// Division of detectors that are too large for the far-field approximation into parts that are small enough.
#pragma once

#include <cstddef>
#include <memory>

#include "operators/linear_operator.hpp"
#include "operators/model_geometry.hpp"
#include "operators/operator_site.hpp"

namespace echoform {

/// The numbers of equal parts into which elements are cut, along their widths and along their lengths.
struct ElementParts {
  static constexpr std::size_t maximum = 16;  ///< a side, by itself

  std::size_t across = 1;
  std::size_t along = 1;

  [[nodiscard]] std::size_t count() const { return across * along; }
  [[nodiscard]] friend constexpr bool operator==(const ElementParts&, const ElementParts&) = default;
};

/// Relative error of the average of a wave over a part, computed by the far-field approximation, at half of the `highest`
/// frequency. It is the largest error of the living detectors, each of which receives the wave from straight ahead at the
/// distance d of its nearest voxel. The far field leaves out the phase k (u^2 + v^2) / (2 d) of a place (u, v) of the part,
/// whose root mean square over w x l is
///   k / (2 d) sqrt(w^4 / 80 + w^2 l^2 / 72 + l^4 / 80).
/// The error is 0 without living detectors of any size. `geometry` must pass validate().
[[nodiscard]] double far_field_error(const ModelGeometry& geometry, Hertz highest, const ElementParts& parts);

/// The smallest number of parts for which far_field_error() is at most 3 %, if ElementParts::maximum a side suffice.
[[nodiscard]] ElementParts parts_for_far_field(const ModelGeometry& geometry, Hertz highest);

/// The geometry with `parts` in the place of each detector, in their order, one after the other.
[[nodiscard]] ModelGeometry divided(const ModelGeometry& geometry, const ElementParts& parts);

/// The model of whole elements, whose rows are means over their parts' rows in `model`, which has parts.count() times as many;
/// the adjoint is the exact transpose but for rounding. `samples` a row. The site's team outlives it.
[[nodiscard]] std::unique_ptr<LinearOperator> make_model_of_parts(std::unique_ptr<LinearOperator> model,
                                                                  const ElementParts& parts, std::size_t samples,
                                                                  const OperatorSite& site);

/// Bytes of the host that it holds beside its model, of so many elements.
[[nodiscard]] std::size_t model_of_parts_bytes(std::size_t elements, const ElementParts& parts, std::size_t samples);

}  // namespace echoform
