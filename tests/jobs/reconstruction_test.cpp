#include "jobs/reconstruction.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "base/errors.hpp"
#include "jobs/split_operator.hpp"
#include "settings/reader.hpp"
#include "tests/jobs/ball.hpp"
#include "tests/jobs/threads_communicator.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const Ball the_ball{{Metres(0.9e-3), Metres(-0.5e-3), Metres(0.6e-3)}, Metres(1.4e-3), 2.0};
constexpr double noise = 0.02;

class BallRecording final : public Recording {
 public:
  explicit BallRecording(Acquisition acquisition = turning_arc(32, 8)) : Recording("ball.test", "test") {
    acquisition_ = std::move(acquisition);
    material_.longitudinal_velocity = ball_velocity;
    frame_ = frame_of_balls(acquisition_, {the_ball}, noise);
  }
  [[nodiscard]] std::size_t frames() const noexcept override { return 1; }
  void read_frame(std::size_t frame, std::span<float> samples) override {
    check_request(frame, samples.size());
    std::ranges::copy(frame_, samples.begin());
  }
  [[nodiscard]] Acquisition& changed() { return acquisition_; }
  [[nodiscard]] Material& part() { return material_; }
  /// Every row, with what the detectors make of it.
  void respond(const std::vector<double>& response, std::size_t zero) {
    const std::vector<float> before = frame_;
    const std::size_t samples = acquisition_.samples;
    for (std::size_t n = 0; n < frame_.size(); ++n) {
      double sum = 0.0;
      for (std::size_t k = 0; k < response.size(); ++k) {
        if (const std::size_t from = n % samples + zero - k; from < samples)  // or below 0
          sum += response[k] * static_cast<double>(before[n - n % samples + from]);
      }
      frame_[n] = static_cast<float>(sum);
    }
  }

 private:
  std::vector<float> frame_;
};

Configuration configured(const std::string& text) {
  return parse_configuration("[grid]\nx = [-3e-3, 3e-3]\ny = [-3e-3, 3e-3]\nz = [-3e-3, 3e-3]\npixels = [16, 16, 16]\n" + text,
                             "job.toml");
}

std::vector<float> volume_of(const Configuration& configuration, Communicator& communicator, std::size_t threads = 2,
                             BackendKind backend = BackendKind::cpu, BallRecording recording = BallRecording()) {
  const Reconstruction job = prepare_reconstruction(configuration, recording, 0, communicator).parts.at(0);
  ThreadTeam team(threads, "test");
  VectorMath math(team);
  const OperatorSite site(team, backend, 0);
  const auto own = make_model(job, site);
  // Known before it is made.
  EXPECT_EQ(model_bytes(job, site), static_cast<double>(own->bytes()));
  SplitOperator all(*own, communicator);
  const LeastSquares problem{all, job.data, shape_of(job.geometry.grid), math, communicator};
  const auto solver = make_solver(job, problem);
  solver->begin();
  SolverProgress progress;
  static_cast<void>(run_solver(*solver, problem, stopping_rules(job), {}, progress));
  return {solver->image().begin(), solver->image().end()};
}

struct Found {
  Point centre;           ///< of what is above half of the ball's pressure
  double pressure = 0.0;  ///< within half of its radius
  double outside = 0.0;   ///< root mean square from twice its radius on
};

Found found_in(const std::vector<float>& volume) {
  const Grid grid = {{Metres(-3e-3), Metres(3e-3), 16}, {Metres(-3e-3), Metres(3e-3), 16}, {Metres(-3e-3), Metres(3e-3), 16}};
  Found found;
  double above = 0.0, inside = 0.0, outside = 0.0;
  for (std::size_t k = 0; k < volume.size(); ++k) {
    const Point at = grid.at(k);
    const double value = static_cast<double>(volume[k]);
    const double distance =
        std::hypot((at.x - the_ball.centre.x).value, (at.y - the_ball.centre.y).value, (at.z - the_ball.centre.z).value);
    if (value > 0.5 * the_ball.pressure) {
      found.centre = {found.centre.x + value * at.x, found.centre.y + value * at.y, found.centre.z + value * at.z};
      above += value;
    }
    if (distance < 0.5 * the_ball.radius.value) {
      found.pressure += value;
      inside += 1.0;
    }
    if (distance > 2.0 * the_ball.radius.value) {
      found.outside += value * value;
      outside += 1.0;
    }
  }
  found.centre = {found.centre.x / above, found.centre.y / above, found.centre.z / above};
  found.pressure /= inside;
  found.outside = std::sqrt(found.outside / outside);
  return found;
}

struct BallCase {
  const char* name;
  const char* text;
};
class ReconstructionOf : public testing::TestWithParam<BallCase> {};

TEST_P(ReconstructionOf, ABallInNoiseHasItsPlaceAndItsPressure) {
  const auto communicator = make_single_process();
  const Found found = found_in(volume_of(configured(GetParam().text), *communicator));
  // A voxel is 0.4 mm: the middle of some hundred of them is known to a fraction of one.
  EXPECT_NEAR(found.centre.x.value, the_ball.centre.x.value, 0.1e-3);
  EXPECT_NEAR(found.centre.y.value, the_ball.centre.y.value, 0.1e-3);
  EXPECT_NEAR(found.centre.z.value, the_ball.centre.z.value, 0.1e-3);
  // Its edge is sharper than voxels, which rings by the tenth of a step that they leave out.
  EXPECT_NEAR(found.pressure, the_ball.pressure, 0.1 * the_ball.pressure);
  EXPECT_LT(found.outside, 0.1 * the_ball.pressure);
}

INSTANTIATE_TEST_SUITE_P(
    All, ReconstructionOf,
    testing::Values(
        BallCase{"gradients", "[reconstruction]\nmodel = \"spherical\"\niterations = 12\n"},
        BallCase{"lsqr", "[reconstruction]\nmodel = \"spherical\"\nsolver = \"lsqr\"\niterations = 12\npenalty = 1e-4\n"},
        BallCase{"fista", "[reconstruction]\nmodel = \"spherical\"\nsolver = \"fista\"\niterations = 40\npenalty = 1e-4\n"},
        BallCase{"total_variation",
                 "[reconstruction]\nmodel = \"spherical\"\nsolver = \"total_variation\"\niterations = 100\npenalty = 2e-3\n"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Reconstruction, ModelsTheDetectorsImpulseResponse) {
  const std::string file = testing::TempDir() + fmt::format("echoform_response_{}.csv", ::getpid());
  std::ofstream(file) << "0.2\n1.0\n-0.6\n-0.3\n0.1\n";
  BallRecording recording;
  recording.respond({0.2, 1.0, -0.6, -0.3, 0.1}, 1);
  const auto communicator = make_single_process();
  for (const char* const model : {"spherical", "interpolated"}) {
    const std::string text = fmt::format("[reconstruction]\nmodel = \"{}\"\niterations = 12\npenalty = 1e-3\n", model);
    const std::string response = fmt::format("impulse_response = \"{}\"\n", file);
    const Found with = found_in(volume_of(configured(text + response), *communicator, 2, BackendKind::cpu, recording));
    EXPECT_NEAR(with.pressure, the_ball.pressure, 0.1 * the_ball.pressure) << model;
    EXPECT_NE(prepare_reconstruction(configured(text + response), recording, 0, *communicator).parts.at(0).identity,
              prepare_reconstruction(configured(text), recording, 0, *communicator).parts.at(0).identity);
    // Its sum is 0.4: without it there is little of the ball.
    const Found without = found_in(volume_of(configured(text), *communicator, 2, BackendKind::cpu, recording));
    EXPECT_LT(without.pressure, 0.7 * the_ball.pressure) << model;
  }
  std::remove(file.c_str());
}

class ReconstructionOnCuda : public testing::TestWithParam<const char*> {};

TEST_P(ReconstructionOnCuda, IsThatOfTheCpuWithinRounding) {
  ECHOFORM_REQUIRE_GPU();
  const Configuration configuration = configured(std::string("[reconstruction]\niterations = 5\nmodel = ") + GetParam());
  const auto single = make_single_process();
  const std::vector<float> of_cpu = volume_of(configuration, *single);
  const std::vector<float> of_gpu = volume_of(configuration, *single, 1, BackendKind::cuda);
  EXPECT_EQ(volume_of(configuration, *single, 1, BackendKind::cuda), of_gpu);
  double difference = 0.0, all = 0.0;
  for (std::size_t k = 0; k < of_cpu.size(); ++k) {
    difference += std::pow(static_cast<double>(of_gpu[k]) - static_cast<double>(of_cpu[k]), 2);
    all += std::pow(static_cast<double>(of_cpu[k]), 2);
  }
  // Either is within 5e-5 of the same sums, which five iterations enlarge.
  EXPECT_LT(std::sqrt(difference / all), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(All, ReconstructionOnCuda, testing::Values("\"spherical\"", "\"interpolated\""),
                         [](const auto& one) { return one.index == 0 ? "spherical" : "interpolated"; });

TEST(Reconstruction, OfSeveralProcessesIsTheSameWithinRounding) {
  const Configuration configuration = configured("[reconstruction]\nmodel = \"spherical\"\niterations = 5\n");
  const auto single = make_single_process();
  const std::vector<float> alone = volume_of(configuration, *single);
  EXPECT_EQ(volume_of(configuration, *single, 1), alone);  // and whatever the threads
  std::vector<float> shared[2];
  Threads threads(3);
  threads.run([&](Communicator& communicator) {
    std::vector<float> volume = volume_of(configuration, communicator, 1);
    if (communicator.rank() < 2) shared[communicator.rank()] = std::move(volume);
  });
  EXPECT_EQ(shared[0], shared[1]);
  double difference = 0.0, all = 0.0;
  for (std::size_t k = 0; k < alone.size(); ++k) {
    difference += std::pow(static_cast<double>(alone[k]) - static_cast<double>(shared[0][k]), 2);
    all += std::pow(static_cast<double>(alone[k]), 2);
  }
  // Adjoints in float, added up in another order.
  EXPECT_LT(std::sqrt(difference / all), 1e-5);
}

class ReconstructionInput : public testing::Test {
 protected:
  [[nodiscard]] std::string refusal(const Configuration& configuration) {
    try {
      static_cast<void>(prepare_reconstruction(configuration, recording_, 0, *communicator_));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  [[nodiscard]] std::string refusal(const std::string& text) { return refusal(configured(text)); }
  [[nodiscard]] ReconstructionJob job(const std::string& text = "") {
    return prepare_reconstruction(configured(text), recording_, 0, *communicator_);
  }
  [[nodiscard]] Reconstruction prepared(const std::string& text = "") { return job(text).parts.at(0); }
  /// Events 0 to 2 of this wavelength, and 3 to 7 of that one.
  void light(double first, double second, double energy_of_first = 0.0, double energy_of_second = 0.0) {
    for (std::size_t k = 0; k < 8; ++k) {
      recording_.changed().events[k].form = k < 3 ? PassiveEvent{Metres(first), energy_of_first}  //
                                                  : PassiveEvent{Metres(second), energy_of_second};
    }
  }

  BallRecording recording_;
  std::unique_ptr<Communicator> communicator_ = make_single_process();
};

TEST_F(ReconstructionInput, IsRefusedWithWhatIsWrongWithIt) {
  EXPECT_EQ(refusal(""), "");
  EXPECT_THAT(refusal(parse_configuration("[grid]\nx = [-3e-3, 3e-3]\nz = [-3e-3, 3e-3]\npixels = [16, 16, 16]\n", "job.toml")),
              HasSubstr("job.toml: [grid] y: found no such key"));
  EXPECT_THAT(refusal("[reconstruction]\nhighest_frequency = 2e6\n"),
              HasSubstr("[reconstruction] highest_frequency: found model = \"interpolated\""));
  EXPECT_THAT(refusal("[reconstruction]\nrectangular_elements = true\n"), HasSubstr("[reconstruction] rectangular_elements"));
  EXPECT_THAT(refusal("[reconstruction]\nnon_negative = true\n"), HasSubstr("[reconstruction] non_negative: found true"));
  EXPECT_THAT(refusal("[reconstruction]\nsolver = \"total_variation\"\npenalty_kind = \"damping\"\n"),
              HasSubstr("[reconstruction] penalty_kind"));
  EXPECT_THAT(refusal("[reconstruction]\nimpulse_zero = 3\n"), HasSubstr("[reconstruction] impulse_response: found none"));
  EXPECT_THAT(refusal("[reconstruction]\nimpulse_response = \"/none.csv\"\n"), HasSubstr("[reconstruction] impulse_response"));
  EXPECT_THAT(refusal("[reconstruction]\npenalty_kind = \"damping\"\n"),
              HasSubstr("[reconstruction] penalty_kind: found penalty = 0; expected no such key, or a penalty above 0"));
  EXPECT_THAT(refusal("[reconstruction]\ndiscrepancy_factor = 1.5\n"),
              HasSubstr("[reconstruction] discrepancy_factor: found no noise; expected no such key, or noise too"));
  // Of voxels of 0.4 mm.
  EXPECT_THAT(refusal("[reconstruction]\nmodel = \"spherical\"\nhighest_frequency = 4e6\n"),
              HasSubstr("[reconstruction] highest_frequency: found 4 MHz; expected at most 3.75 MHz"));
  EXPECT_EQ(refusal("[reconstruction]\nmodel = \"spherical\"\nhighest_frequency = 3.7e6\n"), "");
  EXPECT_THAT(refusal("[imaging]\nmemory_limit = 1e5\n"), HasSubstr("[imaging] memory_limit"));
  EXPECT_THAT(refusal("[material]\nlongitudinal_velocity = 150.0\n"),
              AllOf(HasSubstr("[grid]: found sound that comes after"), HasSubstr("expected some of it within the record")));
  EXPECT_THAT(refusal("[reconstruction]\nwavelength = 700e-9\n"), HasSubstr("[reconstruction] wavelength: found 700 nm"));
  recording_.part().longitudinal_velocity = MetresPerSecond(0.0);
  EXPECT_THAT(refusal(""), HasSubstr("[material] longitudinal_velocity: found none"));
}

TEST_F(ReconstructionInput, MustHaveAResponseInItsFile) {
  const std::string file = testing::TempDir() + fmt::format("echoform_no_response_{}.csv", ::getpid());
  const auto refused = [&](const std::string& contents, const std::string& more = "") {
    std::ofstream(file) << contents;
    return refusal(fmt::format("[reconstruction]\nimpulse_response = \"{}\"\n{}", file, more));
  };
  EXPECT_EQ(refused("1.0\n-0.5\n", "impulse_zero = 1\n"), "");
  for (const std::string contents : {"1.0\n0.5,0.25\n", "1.0\nnan\n", "1.0\nlouder\n"})
    EXPECT_THAT(refused(contents), HasSubstr(file + ", line 2: found")) << contents;
  for (const std::string contents : {"", "0\n0.0\n"})
    EXPECT_THAT(refused(contents), HasSubstr("[reconstruction] impulse_response: found zeros alone")) << contents;
  EXPECT_THAT(refused("1.0\n-0.5\n", "impulse_zero = 2\n"),
              HasSubstr("[reconstruction] impulse_zero: found 2; expected 0 to 1, as impulse_response has 2 samples"));
  std::remove(file.c_str());
}

TEST_F(ReconstructionInput, MustBePassiveAndAroundTheGrid) {
  EXPECT_THAT(refusal(parse_configuration(
                  "[grid]\nx = [-30e-3, 30e-3]\ny = [-30e-3, 30e-3]\nz = [-30e-3, 30e-3]\npixels = [16, 16, 16]\n", "job.toml")),
              HasSubstr("within the grid"));
  recording_.changed().events.clear();
  recording_.changed().positions.clear();
  EXPECT_THAT(refusal(""), HasSubstr("expected passive events"));
}

TEST_F(ReconstructionInput, LeavesOutDeadElementsAndOtherWavelengths) {
  EXPECT_EQ(prepared().rows, 256U);
  EXPECT_EQ(prepared("[probe]\ndead_elements = [3, 30]\n").rows, 240U);
  light(700e-9, 850e-9);
  const Reconstruction job = prepared("[reconstruction]\nwavelength = 850e-9\n");
  ASSERT_EQ(job.rows, 160U);
  std::vector<float> frame(256 * 160);
  recording_.read_frame(0, frame);
  EXPECT_TRUE(std::equal(job.data.begin(), job.data.end(), frame.begin() + 96 * 160));
}

TEST_F(ReconstructionInput, HasAPartOfEachWavelength) {
  EXPECT_EQ(job().parts.size(), 1U);
  EXPECT_EQ(job().parts[0].wavelength, "");
  EXPECT_EQ(job().volume_bytes, 0.0);
  light(850e-9, 700e-9);
  const ReconstructionJob all = job();
  ASSERT_EQ(all.parts.size(), 2U);
  EXPECT_EQ(all.volume_bytes, 2.0 * 4.0 * 4096.0);
  std::vector<float> frame(256 * 160);
  recording_.read_frame(0, frame);
  // Ascending.
  EXPECT_EQ(all.parts[0].wavelength, "700nm");
  ASSERT_EQ(all.parts[0].rows, 160U);
  EXPECT_TRUE(std::equal(all.parts[0].data.begin(), all.parts[0].data.end(), frame.begin() + 96 * 160));
  EXPECT_EQ(all.parts[1].wavelength, "850nm");
  ASSERT_EQ(all.parts[1].data.size(), 96U * 160U);
  EXPECT_TRUE(std::equal(all.parts[1].data.begin(), all.parts[1].data.end(), frame.begin()));
  EXPECT_EQ(all.parts[1].geometry.detectors.size(), 96U);
  EXPECT_NE(all.parts[0].identity, all.parts[1].identity);
  // Those of a list in its order, which are the same problems.
  const ReconstructionJob listed = job("[reconstruction]\nwavelengths = [850e-9, 700.01e-9]\n");
  ASSERT_EQ(listed.parts.size(), 2U);
  EXPECT_EQ(listed.parts[0].identity, all.parts[1].identity);
  EXPECT_EQ(listed.parts[1].identity, all.parts[0].identity);
  EXPECT_EQ(listed.parts[1].wavelength, "700nm") << "as the data have it";
  EXPECT_EQ(prepared("[reconstruction]\nwavelength = 700e-9\n").identity, all.parts[0].identity);
}

TEST_F(ReconstructionInput, TellsWavelengthsApartThatAreCloseToEachOther) {
  light(730.5e-9, 730.45e-9);
  const ReconstructionJob all = job();
  ASSERT_EQ(all.parts.size(), 2U);
  EXPECT_EQ(all.parts[0].wavelength, "730.45nm");
  EXPECT_EQ(all.parts[1].wavelength, "730.5nm");
  // Named with as many digits as somebody has: the nearest, and not both that are near.
  const ReconstructionJob listed = job("[reconstruction]\nwavelengths = [730.5e-9, 730.44e-9]\n");
  ASSERT_EQ(listed.parts.size(), 2U);
  EXPECT_EQ(listed.parts[0].identity, all.parts[1].identity);
  EXPECT_EQ(listed.parts[1].identity, all.parts[0].identity);
}

TEST_F(ReconstructionInput, IsRefusedWhereWavelengthsAreNotThoseOfTheData) {
  light(700e-9, 850e-9);
  EXPECT_THAT(refusal("[reconstruction]\nwavelengths = [700e-9, 800e-9]\n"),
              HasSubstr("[reconstruction] wavelengths: found 800 nm; expected one of the wavelengths of the data: 700, 850 nm"));
  EXPECT_THAT(refusal("[reconstruction]\nwavelengths = [700e-9, 700.001e-9]\n"),
              HasSubstr("[reconstruction] wavelengths: found 700.001 nm twice; expected each once"));
  EXPECT_THAT(refusal("[reconstruction]\nwavelength = 700e-9\nwavelengths = [700e-9]\n"),
              HasSubstr("[reconstruction] wavelengths: found a list, and wavelength"));
  light(700e-9, 0.0);
  EXPECT_THAT(refusal(""), HasSubstr("[reconstruction] wavelengths: found no such key, and events without a wavelength"));
  EXPECT_EQ(refusal("[reconstruction]\nwavelengths = [700e-9]\n"), "");
}

TEST_F(ReconstructionInput, IsUnmixedByTheEnergiesOfItsPulses) {
  const std::string unmixed = "[unmixing]\ncomponents = [\"HbO2\", \"Hb\"]\n";
  EXPECT_THAT(refusal(unmixed), HasSubstr("[unmixing] components: found some, and the volume of one wavelength"));
  EXPECT_THAT(refusal("[unmixing]\ncomponents = [\"melanin\"]\n"), HasSubstr("[unmixing] components: found \"melanin\""));
  // 1/cm per mol/l, by S. Prahl: HbO2 and Hb at 750 and at 850 nm.
  const std::vector<double> table = {518.0, 1405.0, 1058.0, 691.0};
  light(850e-9, 750e-9);
  EXPECT_EQ(job(unmixed).unmixing.value().options.absorption, table);
  EXPECT_EQ(job(unmixed).volume_bytes, 5.0 * 4.0 * 4096.0);
  // Of 3 mJ at 850 nm and 1 mJ at 750 nm.
  light(850e-9, 750e-9, 3e-3, 1e-3);
  const std::vector<double> absorption = job(unmixed).unmixing.value().options.absorption;
  ASSERT_EQ(absorption.size(), 4U);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(absorption[k], table[k] * (k < 2 ? 0.5 : 1.5), 1e-9);
  EXPECT_THAT(refusal(unmixed + "[reconstruction]\nwavelength = 850e-9\n"), HasSubstr("the volume of one wavelength"));
  light(850e-9, 1064e-9);
  EXPECT_THAT(refusal(unmixed), HasSubstr("[unmixing] components: found an image at 1064nm"));
}

TEST_F(ReconstructionInput, HasTheIdentityOfAllThatMakesTheVolume) {
  const DigestValue plain = prepared().identity;
  EXPECT_EQ(prepared("[reconstruction]\niterations = 99\ntolerance = 0.1\nnoise = 1.0\n").identity, plain);
  EXPECT_NE(prepared("[reconstruction]\npenalty = 1.0\n").identity, plain);
  EXPECT_NE(prepared("[reconstruction]\nsolver = \"lsqr\"\n").identity, plain);
  const DigestValue spherical = prepared("[reconstruction]\nmodel = \"spherical\"\n").identity;
  EXPECT_NE(spherical, plain);
  // Half a wave a voxel of 0.4 mm, stated.
  EXPECT_EQ(prepared("[reconstruction]\nmodel = \"spherical\"\nhighest_frequency = 1.875e6\n").identity, spherical);
  EXPECT_NE(prepared("[reconstruction]\nmodel = \"spherical\"\nhighest_frequency = 1.5e6\n").identity, spherical);
  EXPECT_NE(prepared("[material]\nlongitudinal_velocity = 1501.0\n").identity, plain);
  EXPECT_NE(prepared("[acquisition]\ntime_offset = 1e-8\n").identity, plain);
  EXPECT_NE(prepared("[probe]\ndead_elements = [3]\n").identity, plain);
}

TEST_F(ReconstructionInput, IsWarnedOfWhereItIsNotWhatWasAskedFor) {
  EXPECT_TRUE(job().warnings.empty());
  const auto filtered = job("[filter]\nkind = \"band\"\nband = [1e5, 5e6]\n").warnings;
  ASSERT_EQ(filtered.size(), 1U);
  EXPECT_THAT(filtered.front(), HasSubstr("[filter] is not applied"));
  light(700e-9, 850e-9);  // whose detectors stand in the same places, but once
  const auto cut = job("[acquisition]\nstart_time = 11e-6\n").warnings;
  ASSERT_EQ(cut.size(), 1U);
  EXPECT_THAT(cut.front(), HasSubstr("of which the record has 11 to 18.95 us"));
}

TEST_F(ReconstructionInput, StopsByTheNoiseOfAllRows) {
  const StoppingRules rules = stopping_rules(prepared("[reconstruction]\nnoise = 0.02\ndiscrepancy_factor = 1.5\n"));
  EXPECT_NEAR(rules.discrepancy, 1.5 * 0.02 * std::sqrt(256.0 * 160.0), 1e-12);
  EXPECT_EQ(rules.iterations, 20U);
}

}  // namespace
}  // namespace echoform::test
