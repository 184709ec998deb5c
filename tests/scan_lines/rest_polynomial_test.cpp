// Polynomials that stand for what places on a line have besides the ways from receivers.
#include "stages/scan_lines/rest_polynomial.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace echoform::gpu::rest_polynomials {
namespace {

std::vector<double> rests_of(std::size_t count, const std::function<double(double)>& rest) {
  std::vector<double> rests;
  for (std::size_t k = 0; k < count; ++k) {
    rests.push_back(rest(count < 2 ? 0.0 : 2.0 * static_cast<double>(k) / static_cast<double>(count - 1) - 1.0));
  }
  return rests;
}

TEST(RestPolynomial, IsThePolynomialItselfWhereThereIsOne) {
  const double terms[5] = {-130.25, 64.5, -3.0, 0.75, 0.125};
  const auto rest = [&](double x) { return terms[0] + x * (terms[1] + x * (terms[2] + x * (terms[3] + x * terms[4]))); };
  for (const std::size_t count : {5, 6, 64, 117, 128}) {
    const RestPolynomial found = rest_polynomial(rests_of(count, rest), 5e-6);
    for (std::size_t power = 0; power < 5; ++power) EXPECT_NEAR(found.terms[power], terms[power], 1e-5) << count;
  }
}

TEST(RestPolynomial, GoesThroughFewerThanFive) {
  for (const std::size_t count : {1, 2, 3, 4}) {
    const std::vector<double> rests = rests_of(count, [](double x) { return 7.0 + 2.0 * x; });
    const RestPolynomial found = rest_polynomial(rests, 1e-9);
    EXPECT_FLOAT_EQ(found.terms[0], 7.0F);
    EXPECT_NEAR(found.terms[1], count == 1 ? 0.0 : 2.0, 1e-12);
    for (std::size_t power = 2; power < 5; ++power) EXPECT_NEAR(found.terms[power], 0.0, 1e-12);
  }
}

TEST(RestPolynomial, IsNoNumberWhereNoneFollows) {
  const auto kink = [](double x) { return std::abs(x - 0.1); };
  EXPECT_TRUE(std::isnan(rest_polynomial(rests_of(128, kink), 5e-6).terms[0]));
  std::vector<double> rests = rests_of(128, [](double x) { return 100.0 * x; });
  rests[77] += 1e-4;
  EXPECT_TRUE(std::isnan(rest_polynomial(rests, 5e-6).terms[0]));
  EXPECT_FALSE(std::isnan(rest_polynomial(rests, 2e-3).terms[0]));
  rests[77] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(rest_polynomial(rests, 5e-6).terms[0]));
  EXPECT_TRUE(std::isnan(rest_polynomial({}, 5e-6).terms[0]));
}

}  // namespace
}  // namespace echoform::gpu::rest_polynomials
