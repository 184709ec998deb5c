// More detectors than a GPU has in a pass (1024), the last pass shorter than the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "operators/interpolated_model.hpp"
#include "operators/spherical_model.hpp"
#include "tests/operators/dense_model.hpp"
#include "tests/operators/model_cases.hpp"
#include "tests/operators/on_site.hpp"

namespace echoform::test {
namespace {

class ManyDetectorsOn : public OnSite {};
ECHOFORM_ON_SITES(ManyDetectorsOn);

constexpr std::size_t detectors = 1051;
// A model of few detectors is held against the direct sum elsewhere. Sums of many are in another order: rounding of single
// precision.
constexpr double rounding = 5e-6;

ModelGeometry many_detectors() {
  ModelGeometry geometry = model_cases().front().geometry;
  geometry.detectors.clear();
  for (std::size_t q = 0; q < detectors; ++q) {
    const auto n = static_cast<double>(q);
    geometry.detectors.push_back(detector_at({}, Metres(9.7e-3), 0.17 * n, 37.0 * n));
    geometry.detectors.back().dead = q % 100 == 50;
  }
  return geometry;
}

template <class Make>
void expect_the_sum_of_its_parts(const Make& make) {
  const ModelGeometry geometry = many_detectors();
  const auto whole = make(geometry);
  const std::vector<float> image = drawn(whole->image_size(), 1);
  const std::vector<float> data = drawn(whole->data_size(), 2);
  std::vector<float> heard(data.size());
  std::vector<float> back(image.size());
  whole->apply(image, heard);
  whole->adjoint(data, back);
  std::vector<double> heard_by_parts;
  std::vector<double> back_of_parts(image.size());
  for (std::size_t first = 0; first < detectors; first += 400) {
    ModelGeometry few = geometry;
    const std::size_t count = std::min<std::size_t>(400, detectors - first);
    const auto from = geometry.detectors.begin() + static_cast<std::ptrdiff_t>(first);
    few.detectors.assign(from, from + static_cast<std::ptrdiff_t>(count));
    const auto part = make(few);
    std::vector<float> rows(part->data_size());
    part->apply(image, rows);
    heard_by_parts.insert(heard_by_parts.end(), rows.begin(), rows.end());
    std::vector<float> of_part(image.size());
    part->adjoint(std::span(data).subspan(first * geometry.samples, count * geometry.samples), of_part);
    for (std::size_t k = 0; k < of_part.size(); ++k) back_of_parts[k] += static_cast<double>(of_part[k]);
  }
  EXPECT_LE(distance(heard, heard_by_parts), rounding);
  EXPECT_LE(distance(back, back_of_parts), rounding);
}

TEST_P(ManyDetectorsOn, AreTheSumOfThePartsOfTheSphericalModel) {
  ThreadTeam team(2);
  SphericalModelOptions options;
  for (const bool rectangles : {false, true}) {
    options.rectangular_elements = rectangles;
    options.element_parts = ElementParts{};
    expect_the_sum_of_its_parts(
        [&](const ModelGeometry& geometry) { return make_spherical_model(geometry, options, site(team)); });
  }
}

TEST_P(ManyDetectorsOn, AreTheSumOfThePartsOfTheInterpolatedModel) {
  ThreadTeam team(2);
  expect_the_sum_of_its_parts([&](const ModelGeometry& geometry) { return make_interpolated_model(geometry, site(team)); });
}

}  // namespace
}  // namespace echoform::test
