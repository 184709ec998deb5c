// A scan's image takes of a position the pixels of its part, and no others.
#include "pipeline/scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform::test {
namespace {

Grid grid_of(std::size_t x, std::size_t y, std::size_t z) {
  Grid grid;
  grid.x = {Metres(0.0), Metres(1e-3), x};
  grid.y = {Metres(0.0), Metres(1e-3), y};
  grid.z = {Metres(1e-3), Metres(2e-3), z};
  return grid;
}

class ScanRecordOf : public testing::TestWithParam<Composition> {};

TEST_P(ScanRecordOf, APartChangesItsOwnPixelsAlone) {
  // 4 x 3 x 3 pixels; the part has 2 x 1 x 2 from (1, 1, 0) on. Values behind the part's are there, and are none of its.
  const bool coherent = GetParam() == Composition::coherent;
  ScanMakings makings;
  makings.acquisition.probe = make_linear_probe(2, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(0.0));
  ScanRecord record(grid_of(4, 3, 3), {"LL"}, GetParam(), makings);
  const std::vector<float> envelopes{1.0F, 2.0F, 3.0F, 4.0F, 90.0F, 91.0F, 92.0F, 93.0F};
  const std::vector<std::complex<float>> sums(envelopes.begin(), envelopes.end());
  {
    const auto whole = record.whole_frame();
    record.add(0, grid_of(2, 1, 2), {5, 1, 4, 12}, coherent ? static_cast<const void*>(sums.data()) : envelopes.data());
  }
  const ScanRecord::Image& image = record.images()[0];
  const std::vector<std::size_t> covered{5, 6, 17, 18};
  for (std::size_t pixel = 0; pixel < image.envelope.size(); ++pixel) {
    const auto place = std::find(covered.begin(), covered.end(), pixel);
    if (place == covered.end()) {
      EXPECT_TRUE(std::isnan(image.envelope[pixel])) << pixel;
    } else {
      EXPECT_EQ(image.envelope[pixel], envelopes[static_cast<std::size_t>(place - covered.begin())]) << pixel;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, ScanRecordOf, testing::Values(Composition::maximum, Composition::coherent),
                         [](const auto& of) { return of.param == Composition::coherent ? "coherent" : "maximum"; });

}  // namespace
}  // namespace echoform::test
