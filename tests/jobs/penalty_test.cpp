#include "jobs/penalty.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/jobs/dense.hpp"

namespace echoform::test {
namespace {

constexpr VolumeShape penalised{5, 4, 3};

struct Team {
  ThreadTeam threads{2, "test"};
  VectorMath math{threads};
};

double plain_dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
  return sum;
}

TEST(Differences, AreThoseOfNeighboursAndNoneAcrossBorders) {
  Team team;
  const Differences differences({2, 2, 2}, team.math);
  const std::vector<float> volume{1, 2, 4, 8, 16, 32, 64, 128};
  std::vector<float> found(24, 5.0F);
  differences.apply(1.0, volume, 0.0, found);
  const std::vector<float> expected{0, 1, 0, 4, 0,  16, 0,  64,    // along x
                                    0, 0, 3, 6, 0,  0,  48, 96,    // along y
                                    0, 0, 0, 0, 15, 30, 60, 120};  // along z
  EXPECT_EQ(found, expected);
  const std::vector<float> flat(8, 3.0F);
  EXPECT_EQ(differences.squares(flat), 0.0);
  EXPECT_EQ(differences.lengths(flat), 0.0);
}

TEST(Differences, HaveTheirTranspose) {
  Team team;
  const Differences differences(penalised, team.math);
  const auto volume = as_float(drawn(penalised.voxels(), 1));
  const auto rows = as_float(drawn(differences.values(), 2));
  std::vector<float> of_volume(rows.size());
  std::vector<float> of_rows(volume.size(), 0.0F);
  differences.apply(1.0, volume, 0.0, of_volume);
  differences.add_transposed(1.0, rows, of_rows);
  // Each value is rounded to float once: 6e-8 of its size, and such errors add up at random.
  EXPECT_NEAR(plain_dot(of_volume, rows), plain_dot(volume, of_rows),
              1e-6 * std::sqrt(plain_dot(of_volume, of_volume) * plain_dot(rows, rows)));
  EXPECT_NEAR(differences.squares(volume), plain_dot(of_volume, of_volume), 1e-6 * plain_dot(of_volume, of_volume));

  std::vector<float> twice(volume.size(), 0.0F);
  std::vector<float> at_once(volume.size(), 0.0F);
  differences.add_transposed(1.0, of_volume, twice);
  differences.add_curvature(1.0, volume, at_once);
  EXPECT_LT(distance(at_once, twice), 1e-6);
}

TEST(Differences, OfAPlaneHaveNoneAlongTheThirdAxis) {
  Team team;
  const VolumeShape plane{6, 1, 5};
  const Differences differences(plane, team.math);
  const auto volume = as_float(drawn(plane.voxels(), 3));
  const auto matrix = curvature_matrix(plane);
  std::vector<float> found(volume.size(), 0.0F);
  differences.add_curvature(1.0, volume, found);
  for (std::size_t i = 0; i < volume.size(); ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < volume.size(); ++j) sum += matrix[i * volume.size() + j] * static_cast<double>(volume[j]);
    EXPECT_NEAR(static_cast<double>(found[i]), sum, 1e-5);
  }
}

class Penalties : public testing::TestWithParam<PenaltyKind> {};

TEST_P(Penalties, HaveTheGradientOfTheirValue) {
  Team team;
  const Penalty penalty(GetParam(), 0.7, penalised, team.math);
  const auto volume = as_float(drawn(penalised.voxels(), 4));
  std::vector<float> half_gradient(volume.size(), 0.0F);
  penalty.add_gradient(1.0, volume, half_gradient);
  // Of a quadratic form: value = x . gradient / 2.
  EXPECT_NEAR(plain_dot(volume, half_gradient), penalty.value(volume), 1e-6 * penalty.value(volume));
  // And as rows below those of data.
  std::vector<float> rows(penalty.rows());
  std::vector<float> back(volume.size(), 0.0F);
  penalty.apply(volume, 0.0, rows);
  penalty.add_transposed(rows, back);
  EXPECT_NEAR(plain_dot(rows, rows), penalty.value(volume), 1e-6 * penalty.value(volume));
  EXPECT_LT(distance(back, half_gradient), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, Penalties, testing::Values(PenaltyKind::smoothness, PenaltyKind::damping));

TEST(Penalty, OfWeightZeroIsNone) {
  Team team;
  const Penalty none(PenaltyKind::smoothness, 0.0, penalised, team.math);
  EXPECT_EQ(none.rows(), 0U);
  EXPECT_EQ(none.value(as_float(drawn(penalised.voxels(), 5))), 0.0);
}

TEST(VectorMath, HasTheSameBitsWhateverTheTeam) {
  // More than one block, and a rest.
  const auto a = as_float(drawn(3 * VectorMath::block + 77, 6));
  const auto b = as_float(drawn(a.size(), 7));
  ThreadTeam alone(1, "test");
  ThreadTeam three(3, "test");
  VectorMath one(alone);
  VectorMath many(three);
  EXPECT_EQ(one.dot(a, b), many.dot(a, b));
  const double plain = std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
                                          [](float x, float y) { return static_cast<double>(x) * static_cast<double>(y); });
  EXPECT_NEAR(one.dot(a, b), plain, 1e-9 * static_cast<double>(a.size()));
  const VolumeShape shape{33, 40, 50};
  const auto volume = as_float(drawn(shape.voxels(), 8));
  EXPECT_EQ(Differences(shape, one).squares(volume), Differences(shape, many).squares(volume));
}

}  // namespace
}  // namespace echoform::test
