// What A-scans count by: the energy of their light, and what somebody says that detectors stand for.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/errors.hpp"
#include "tests/support/input_error.hpp"
#include "tests/tomography/passive_frames.hpp"

namespace echoform::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t rings = 12;
constexpr std::size_t views = 10;
constexpr double radius = 30e-3;

const Ball ball{{Metres(1e-3), Metres(-2e-3), Metres(1.5e-3)}, 1.5e-3};

Acquisition arc() {
  Acquisition acquisition = rotated_arc(rings, views, radius);
  acquisition.samples = 640;
  acquisition.start_time = Seconds(10e-6);
  return acquisition;
}

std::string weighted(const std::string& keys, const std::string& algorithm = "ubp") {
  return tomography_text("algorithm = \"" + algorithm + "\"\n" + keys, cube(ball.centre, 2e-3, 7));
}

double apart(const Tomogram& a, const Tomogram& b, double scale = 1.0) {
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    difference += std::pow(scale * a.values[k] - b.values[k], 2.0);
    norm += std::pow(b.values[k], 2.0);
  }
  return std::sqrt(difference / norm);
}

std::string refusal_with(const Acquisition& acquisition, const std::string& keys, const char* algorithm = "ubp") {
  return input_error([&] { static_cast<void>(tomography_setup(acquisition, weighted(keys, algorithm))); });
}

TEST(PulseEnergies, AreDividedByWhereThatIsAskedFor) {
  const PassiveFrame even = heard(arc(), {ball});
  PassiveFrame uneven = even;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> energy(0.5, 1.5);
  double mean = 0.0;
  for (TransmitEvent& event : uneven.acquisition.events) {
    auto& pulse = std::get<PassiveEvent>(event.form);
    pulse.pulse_energy = 0.02 * energy(random);
    mean += pulse.pulse_energy / static_cast<double>(views);
  }
  const std::size_t shot = uneven.samples.size() / views;
  for (std::size_t k = 0; k < uneven.samples.size(); ++k) {
    const auto& pulse = std::get<PassiveEvent>(uneven.acquisition.events[k / shot].form);
    uneven.samples[k] *= static_cast<float>(pulse.pulse_energy / mean);
  }
  const Tomogram want = tomogram_of(even, weighted(""));
  // Rounding of samples and gains.
  EXPECT_LE(apart(tomogram_of(uneven, weighted("pulse_energy = \"divided\"\n")), want), 1e-6);
  EXPECT_GE(apart(tomogram_of(uneven, weighted("")), want), 0.01);
}

TEST(PulseEnergies, ThatAreNotThereAreRefused) {
  EXPECT_THAT(refusal_with(arc(), "pulse_energy = \"divided\"\n"),
              HasSubstr("[tomography] pulse_energy: found \"divided\", and events without a pulse energy"));
}

class DetectorSizes : public testing::Test {
 protected:
  ~DetectorSizes() override { std::filesystem::remove(path_); }
  std::string key(const std::vector<double>& sizes) {
    std::ofstream file(path_);
    file.precision(17);
    for (const double size : sizes) file << size << '\n';
    return "detector_sizes = \"" + path_.string() + "\"\n";
  }
  /// Of the zones, each shared by its views: 2 pi r^2 times the difference of its cosines.
  static std::vector<double> of_elements() {
    std::vector<double> sizes;
    for (std::size_t k = 0; k < rings; ++k) {
      const double from = static_cast<double>(k) * std::numbers::pi / rings;
      const double to = static_cast<double>(k + 1) * std::numbers::pi / rings;
      sizes.push_back(2.0 * std::numbers::pi * radius * radius * (std::cos(from) - std::cos(to)) / views);
    }
    return sizes;
  }
  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                ("echoform_sizes_" + std::to_string(testing::UnitTest::GetInstance()->random_seed()) + "_" +
                                 testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv");
};

TEST_F(DetectorSizes, OfZonesGiveTheImageOfRings) {
  const PassiveFrame frame = heard(arc(), {ball});
  const Tomogram want = tomogram_of(frame, weighted(""));
  const std::vector<double> sizes = of_elements();
  EXPECT_LE(apart(tomogram_of(frame, weighted(key(sizes))), want), 1e-6);
  std::vector<double> of_rows;
  for (std::size_t view = 0; view < views; ++view) of_rows.insert(of_rows.end(), sizes.begin(), sizes.end());
  EXPECT_LE(apart(tomogram_of(frame, weighted(key(of_rows))), want), 1e-6);
}

TEST_F(DetectorSizes, CountInProportion) {
  const PassiveFrame frame = heard(arc(), {ball});
  std::vector<double> sizes = of_elements();
  const Tomogram want = tomogram_of(frame, weighted(""));
  for (double& size : sizes) size *= 0.8;
  // 80 % of a sphere is one all around still, whose whole is divided by.
  EXPECT_LE(apart(tomogram_of(frame, weighted(key(sizes))), want, 1.0 / 0.8), 1e-6);
  // Of what is there it is all.
  EXPECT_LE(apart(tomogram_of(frame, weighted(key(sizes) + "normalise = \"actual\"\n")),
                  tomogram_of(frame, weighted("normalise = \"actual\"\n"))),
            1e-6);
}

TEST_F(DetectorSizes, ThatCannotBeAreRefused) {
  EXPECT_THAT(refusal_with(arc(), key({1e-6, 2e-6})),
              HasSubstr("[tomography] detector_sizes: found 2 numbers; expected one for each of 12 elements, or of 120 A-scans"));
  std::vector<double> sizes = of_elements();
  sizes[3] = 0.0;
  EXPECT_THAT(refusal_with(arc(), key(sizes)), HasSubstr("found 0 as number 4; expected numbers above 0"));
  EXPECT_THAT(refusal_with(arc(), key(of_elements()), "delay_and_sum"), HasSubstr("detectors count alike"));
  EXPECT_THAT(refusal_with(arc(), "detector_sizes = \"/nowhere.csv\"\n"), HasSubstr("[tomography] detector_sizes"));
}

}  // namespace
}  // namespace echoform::test
