#include "jobs/reconstruction.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <numbers>

#include "base/errors.hpp"
#include "jobs/split_operator.hpp"
#include "methods/reconstructed_volumes.hpp"
#include "settings/key_table.hpp"
#include "settings/reader.hpp"
#include "tests/jobs/ball.hpp"
#include "tests/jobs/threads_communicator.hpp"
#include "tests/support/input_error.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Ball the_ball{{Metres(0.9e-3), Metres(-0.5e-3), Metres(0.6e-3)}, Metres(1.4e-3), 2.0};
constexpr double noise = 0.02;

class BallRecording final : public Recording {
 public:
  explicit BallRecording(Acquisition acquisition = turning_arc(32, 8), const std::vector<Ball>& balls = {the_ball},
                         double of_noise = noise)
      : Recording("ball.test", "test") {
    acquisition_ = std::move(acquisition);
    material_.longitudinal_velocity = ball_velocity;
    frame_ = frame_of_balls(acquisition_, balls, of_noise);
  }
  [[nodiscard]] std::size_t frames() const noexcept override { return 1; }
  void read_frame(std::size_t frame, std::span<float> samples) override {
    check_request(frame, samples.size());
    std::ranges::copy(frame_, samples.begin());
  }
  [[nodiscard]] Acquisition& changed() { return acquisition_; }
  [[nodiscard]] Material& part() { return material_; }
  /// The laser's, in the first samples of every row.
  void spike(std::size_t samples, float height) {
    for (std::size_t n = 0; n < frame_.size(); ++n) {
      if (n % acquisition_.samples < samples) frame_[n] += n % 2 == 0 ? height : -0.5F * height;
    }
  }
  /// A tone in every row.
  void hum(double frequency, float height) {
    for (std::size_t n = 0; n < frame_.size(); ++n)
      frame_[n] += height * static_cast<float>(std::sin(2.0 * std::numbers::pi * frequency / acquisition_.sample_rate.value *
                                                        static_cast<double>(n % acquisition_.samples)));
  }
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

/// A file of numbers, a line each, that goes when the test ends.
class NumbersFile {
 public:
  explicit NumbersFile(const std::vector<double>& numbers)
      : path_(testing::TempDir() + fmt::format("echoform_numbers_{}_{}.csv", ::getpid(), ++files_)) {
    std::ofstream file(path_);
    for (const double number : numbers) file << fmt::format("{:.17g}\n", number);
  }
  ~NumbersFile() { std::remove(path_.c_str()); }
  NumbersFile(const NumbersFile&) = delete;
  NumbersFile& operator=(const NumbersFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  static inline int files_ = 0;
  std::string path_;
};

TEST(Reconstruction, ModelsTheResponseThatLiveImagesState) {
  const std::vector<double> response = {0.2, 1.0, -0.6, -0.3, 0.1};
  const NumbersFile file(response);
  BallRecording recording;
  recording.respond(response, 1);
  const auto communicator = make_single_process();
  const std::string model = "[reconstruction]\nmodel = \"spherical\"\niterations = 12\npenalty = 1e-3\n";
  const std::string stated = fmt::format("[tomography]\nimpulse_response = \"{}\"\n", file.path());
  const Found found = found_in(volume_of(configured(model + stated), *communicator, 2, BackendKind::cpu, recording));
  // As ModelsTheDetectorsImpulseResponse has it: without the response there is less than 0.7 of the ball.
  EXPECT_NEAR(found.pressure, the_ball.pressure, 0.1 * the_ball.pressure);
}

TEST(Reconstruction, ModelsAGaussianResponseThatLiveImagesState) {
  BallRecording recording;
  const auto communicator = make_single_process();
  const Configuration configuration =
      configured("[tomography]\nimpulse_centre = 2.5e6\nimpulse_bandwidth = 2e6\n[reconstruction]\nmodel = \"spherical\"\n");
  const Reconstruction job = prepare_reconstruction(configuration, recording, 0, *communicator).parts.at(0);
  ASSERT_TRUE(job.response.has_value());
  // Its spectrum, exp(-(f - f0)^2 / (2 s^2)) with s = bandwidth / (2 sqrt(2 ln 2)), by the integral over frequencies: 4000 steps
  // of the trapezoidal rule, whose error is far below rounding since the Gaussian ends within the band.
  const double s = 2e6 / (2.0 * std::sqrt(2.0 * std::log(2.0)));
  double difference = 0.0;
  for (std::size_t n = 0; n < job.response->samples.size(); ++n) {
    const double time = (static_cast<double>(n) - static_cast<double>(job.response->zero)) / 20e6;
    double value = 0.0;
    for (int k = 0; k <= 4000; ++k) {
      const double f = 10e6 * k / 4000.0;
      value += (k == 0 || k == 4000 ? 0.5 : 1.0) * std::exp(-0.5 * std::pow((f - 2.5e6) / s, 2)) *
               std::cos(2.0 * std::numbers::pi * f * time);
    }
    difference = std::max(difference, std::abs(job.response->samples[n] - 2.0 * value * 10e6 / 4000.0 / 20e6));
  }
  // What is left out is below a millionth of the peak, which is about 0.2.
  EXPECT_LT(difference, 1e-6);
  EXPECT_GT(job.response->samples.size(), 20U);
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
    return input_error([&] { static_cast<void>(prepare_reconstruction(configuration, recording_, 0, *communicator_)); });
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

TEST(ReconstructionSettings, OfBandsInAnotherUnitAreDoubted) {
  const auto doubts = [](const std::string& value) {
    return doubtful_reconstruction(parse_configuration("[reconstruction]\nhighest_frequency = " + value + "\n", "job.toml"));
  };
  EXPECT_THAT(doubts("5"), ElementsAre("job.toml: [reconstruction] highest_frequency = 5 Hz: MHz, for 5e+06 Hz?"));
  EXPECT_THAT(doubts("5e6"), IsEmpty());
}

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

/// A value of a key that is not its default.
std::string another_value(const Key& key, const std::string& file) {
  if (key.names_file) return fmt::format("\"{}\"", file);
  if (!key.words.empty()) return fmt::format("\"{}\"", key.words.back());
  if (key.type.starts_with("three")) return "[1e-3, 0.0, 0.0]";
  if (key.type.starts_with("list")) return key.name == "wavelengths" ? "[850e-9]" : "[1e-3]";
  if (key.type == "integer") return "2";
  return key.unit == "m/s" ? "1600.0" : key.unit == "degrees" ? "60.0" : key.unit == "Hz" ? "2e6" : "0.1";
}

TEST_F(ReconstructionInput, KeysOfLiveImagesAreDoneOrRefused) {
  light(850e-9, 700e-9, 3e-3, 1e-3);
  const NumbersFile numbers(std::vector<double>(32, 1.0));
  const NumbersFile response({0.2, 1.0, -0.6});
  const std::string file = fmt::format("impulse_response = \"{}\"\n", response.path());
  // What a key stands beside.
  const std::map<std::string_view, std::string> beside = {{"object_velocity", "object_radii = [1e-3]\n"},
                                                          {"object_radii", "object_velocity = 1600.0\n"},
                                                          {"impulse_zero", file},
                                                          {"impulse_noise", file},
                                                          {"impulse_cutoff", file},
                                                          {"impulse_centre", "impulse_bandwidth = 2e6\n"}};
  std::size_t keys = 0;
  for (const Key& key : configuration_keys()) {
    if (key.section != "tomography") continue;
    ++keys;
    SCOPED_TRACE(key.name);
    const auto use = std::ranges::find(volume_keys(), key.name, &VolumeKey::name);
    ASSERT_NE(use, volume_keys().end()) << "undeclared";
    const auto more = beside.contains(key.name) ? beside.at(key.name) : std::string();
    const std::string before = "[tomography]\n" + more;
    const std::string with =
        before +
        fmt::format("{} = {}\n", key.name, another_value(key, key.name == "detector_sizes" ? numbers.path() : response.path()));
    if (use->instead.empty()) {
      EXPECT_EQ(refusal(with), "");
      const ReconstructionJob done = job(with);
      // Without what it stands beside, too: a response without its zero is another one.
      const ReconstructionJob other = job(before);
      EXPECT_TRUE(done.parts.size() != other.parts.size() || done.shown != other.shown ||
                  done.parts.at(0).identity != other.parts.at(0).identity);
    } else {
      EXPECT_THAT(refusal(with),
                  AllOf(HasSubstr("job.toml: [tomography] "), HasSubstr("expected no such key for `reconstruct`")));
    }
  }
  EXPECT_EQ(keys, volume_keys().size());
}

TEST_F(ReconstructionInput, RefusesWhatNoModelDoes) {
  EXPECT_EQ(
      refusal("[tomography]\nobject_velocity = 1600.0\nobject_radii = [2e-3]\n"),
      "job.toml: [tomography] object_velocity: found 1600; expected no such key for `reconstruct`: models have one speed of "
      "sound, [material] longitudinal_velocity");
  EXPECT_THAT(refusal("[tomography]\ndirectivity_power = 2\n"), HasSubstr("[tomography] directivity_power: found 2"));
  EXPECT_THAT(refusal("[tomography]\nalgorithm = \"fbp\"\n"), HasSubstr("[tomography] algorithm: found \"fbp\""));
  EXPECT_THAT(refusal("[tomography]\nimpulse_response = \"/none.csv\"\n"), HasSubstr("[tomography] impulse_response"));
  // As fast as around it, which is what models have.
  EXPECT_EQ(refusal("[material]\nlongitudinal_velocity = 1500.0\n[tomography]\nobject_velocity = 1500.0\n"
                    "object_radii = [2e-3]\n"),
            "");
  // Two speeds where the data state that around the object.
  EXPECT_THAT(refusal("[material]\nlongitudinal_velocity = 1490.0\n[tomography]\nobject_velocity = 1500.0\n"
                      "object_radii = [2e-3]\n"),
              HasSubstr("[tomography] object_velocity: found 1500"));
}

TEST_F(ReconstructionInput, IsDividedByTheEnergiesOfItsPulses) {
  light(700e-9, 700e-9, 3e-3, 1e-3);
  const std::string divided = "[tomography]\npulse_energy = \"divided\"\n";
  const std::vector<float> as_they_are = prepared().data;
  const std::vector<float> even = prepared(divided).data;
  ASSERT_EQ(even.size(), as_they_are.size());
  // 3 pulses of 3 mJ and 5 of 1 mJ: 1.75 mJ in the mean. Each has 32 rows of 160 samples.
  for (std::size_t k = 0; k < even.size(); ++k)
    ASSERT_FLOAT_EQ(even[k], as_they_are[k] * (k < 3 * 32 * 160 ? 1.75F / 3.0F : 1.75F)) << k;
  // What is divided counts alike where it is unmixed.
  light(850e-9, 750e-9, 3e-3, 1e-3);
  const std::string unmixed = "[unmixing]\ncomponents = [\"HbO2\", \"Hb\"]\n";
  const std::vector<double> absorption = job(unmixed + divided).unmixing.value().options.absorption;
  ASSERT_EQ(absorption.size(), 4U);
  EXPECT_EQ(absorption, (std::vector<double>{518.0, 1405.0, 1058.0, 691.0}));
  light(700e-9, 700e-9);
  EXPECT_THAT(refusal(divided), HasSubstr("[tomography] pulse_energy: found \"divided\", and events without a pulse energy"));
}

TEST_F(ReconstructionInput, TakesTheWavelengthsOfLiveImagesWhereItHasNone) {
  light(850e-9, 700e-9);
  const std::string live = "[tomography]\nwavelengths = [700e-9]\n";
  EXPECT_EQ(job(live).parts.size(), 1U);
  EXPECT_EQ(prepared(live).identity, prepared("[reconstruction]\nwavelength = 700e-9\n").identity);
  EXPECT_THAT(refusal("[tomography]\nwavelengths = [800e-9]\n"), HasSubstr("[tomography] wavelengths: found 800 nm"));
  const ReconstructionJob own = job(live + "[reconstruction]\nwavelength = 850e-9\n");
  EXPECT_EQ(own.parts.at(0).identity, prepared("[reconstruction]\nwavelength = 850e-9\n").identity);
  EXPECT_THAT(own.notes, testing::Contains(HasSubstr("[reconstruction] wavelength replaces [tomography] wavelengths")));
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
  EXPECT_THAT(job("[filter]\nkind = \"mean\"\nskirt = 1e6\n").warnings,
              testing::ElementsAre(HasSubstr("[filter] skirt is not used")));
  light(700e-9, 850e-9);  // whose detectors stand in the same places, but once
  const auto cut = job("[acquisition]\nstart_time = 11e-6\n").warnings;
  ASSERT_EQ(cut.size(), 1U);
  EXPECT_THAT(cut.front(), HasSubstr("of which the record has 11 to 18.95 us"));
}

/// The periodic convolution of a row by the response of [filter] band: erf edges, by sums over all bins in double precision.
std::vector<double> banded(const std::vector<double>& row, double rate, double low, double high, double lower_skirt,
                           double upper_skirt) {
  const std::size_t count = row.size();
  const auto edge = [](double distance, double skirt) { return 0.5 * (1.0 + std::erf(distance * 3.2899525 / skirt)); };
  std::vector<double> out(count);
  for (std::size_t k = 0; k < count; ++k) {
    const double f = rate * static_cast<double>(std::min(k, count - k)) / static_cast<double>(count);
    const double factor = k == 0 ? 0.0 : edge(f - low, lower_skirt) - edge(f - high, upper_skirt);
    double re = 0.0, im = 0.0;
    for (std::size_t n = 0; n < count; ++n) {
      const double turn = -2.0 * std::numbers::pi * static_cast<double>(k * n % count) / static_cast<double>(count);
      re += row[n] * std::cos(turn);
      im += row[n] * std::sin(turn);
    }
    for (std::size_t n = 0; n < count; ++n) {
      const double turn = 2.0 * std::numbers::pi * static_cast<double>(k * n % count) / static_cast<double>(count);
      out[n] += factor * (re * std::cos(turn) - im * std::sin(turn)) / static_cast<double>(count);
    }
  }
  return out;
}

TEST_F(ReconstructionInput, IsMutedAndFilteredAsLiveImagesAre) {
  // The record begins at 9.3 us: 9.35 us is its second sample, and with 8 samples of 50 ns it is cut at 9.7 us.
  const std::string text = "[filter]\nkind = \"band\"\nband = [0.2e6, 4e6]\nskirt = 0.2e6\nupper_skirt = 3e6\nmute = 9.31e-6\n";
  const Reconstruction filtered = prepared(text);
  EXPECT_EQ(filtered.geometry.samples, 152U);
  EXPECT_NEAR(filtered.geometry.start_time.value, 9.7e-6, 1e-12);
  std::vector<float> frame(256 * 160);
  recording_.read_frame(0, frame);
  ASSERT_EQ(filtered.data.size(), 256U * 152U);
  for (const std::size_t row : {0U, 100U, 255U}) {
    const std::vector<double> kept(frame.begin() + static_cast<std::ptrdiff_t>(row * 160 + 8),
                                   frame.begin() + static_cast<std::ptrdiff_t>(row * 160 + 160));
    const std::vector<double> expected = banded(kept, 20e6, 0.2e6, 4e6, 0.2e6, 3e6);
    // Values up to 0.1, by transforms in single precision.
    for (std::size_t n = 0; n < 152; ++n)
      ASSERT_NEAR(static_cast<double>(filtered.data[row * 152 + n]), expected[n], 1e-7) << row << ' ' << n;
  }
  EXPECT_NE(filtered.identity, prepared("[filter]\nmute = 9.31e-6\n").identity);
  EXPECT_EQ(prepared("[filter]\nkind = \"none\"\n").identity, prepared().identity);
  EXPECT_THAT(refusal("[filter]\nmute = 17.2e-6\n"),
              HasSubstr("[filter] mute: found 17.2 us; expected a time at which A-scans go on: they last from 9.3 to 17.25 us"));
}

TEST(Reconstruction, OfMutedDataHasNoneOfTheSpike) {
  BallRecording recording;
  recording.spike(12, 50.0F);
  const auto communicator = make_single_process();
  const std::string model = "[reconstruction]\nmodel = \"spherical\"\niterations = 12\n";
  // 12 samples from 9.3 us on: the mute is rounded up to 16.
  const Found muted =
      found_in(volume_of(configured(model + "[filter]\nmute = 9.9e-6\n"), *communicator, 2, BackendKind::cpu, recording));
  // As ABallInNoiseHasItsPlaceAndItsPressure.
  EXPECT_NEAR(muted.pressure, the_ball.pressure, 0.1 * the_ball.pressure);
  EXPECT_LT(muted.outside, 0.1 * the_ball.pressure);
  const Found with = found_in(volume_of(configured(model), *communicator, 2, BackendKind::cpu, recording));
  EXPECT_GT(with.outside, the_ball.pressure) << "the spike is no sound of the grid, and spoils the volume";
}

TEST(Reconstruction, OfFilteredDataIsExplainedByAFilteredModel) {
  // A tone of 7 MHz, far above what voxels of 0.4 mm hold, ten times as loud as the ball.
  BallRecording recording;
  recording.hum(7e6, 0.7F);
  const auto communicator = make_single_process();
  const std::string model = "[reconstruction]\nmodel = \"interpolated\"\niterations = 12\npenalty = 1e-3\n";
  const std::string filter = "[filter]\nkind = \"band\"\nband = [0.0, 3e6]\nupper_skirt = 2e6\n";
  const Found found = found_in(volume_of(configured(model + filter), *communicator, 2, BackendKind::cpu, recording));
  EXPECT_NEAR(found.pressure, the_ball.pressure, 0.1 * the_ball.pressure);
  EXPECT_LT(found.outside, 0.1 * the_ball.pressure);
}

TEST_F(ReconstructionInput, StopsByWhatTheFilterLeavesOfTheNoise) {
  const std::string stated = "[reconstruction]\nnoise = 0.02\n";
  const double whole = stopping_rules(prepared(stated)).discrepancy;
  // Of 160 bins one, that of the mean.
  const double of_mean = stopping_rules(prepared(stated + "[filter]\nkind = \"mean\"\n")).discrepancy;
  EXPECT_NEAR(of_mean / whole, std::sqrt(159.0 / 160.0), 1e-12);
}

/// The turning arc with a record of 5 to 25 us, of which sound of the grid takes 10 to 17 us.
Acquisition long_record() {
  Acquisition acquisition = turning_arc(32, 8);
  acquisition.start_time = Seconds(5e-6);
  acquisition.samples = 400;
  return acquisition;
}

TEST(SoundOutsideOfTheGrid, IsWarnedOf) {
  const auto communicator = make_single_process();
  const auto warnings = [&](BallRecording recording, const std::string& more = "") {
    return prepare_reconstruction(configured("[reconstruction]\nmodel = \"spherical\"\n" + more), recording, 0, *communicator)
        .warnings;
  };
  EXPECT_THAT(warnings(BallRecording(long_record())), testing::IsEmpty());
  // 12 mm off the middle, as loud as the other: 8 mm from the nearest detectors, and 32 mm from the farthest.
  const Ball other{{Metres(12e-3), Metres(0.0), Metres(0.0)}, Metres(1.4e-3), 2.0};
  EXPECT_THAT(warnings(BallRecording(long_record(), {the_ball, other})),
              testing::ElementsAre(AllOf(HasSubstr("job.toml: [grid]: "),
                                         HasSubstr("% of the sound in the model's band comes when none of the grid arrives"))));
  // The laser's spike, which the mute takes away.
  BallRecording spiked(long_record());
  spiked.spike(20, 3.0F);
  EXPECT_THAT(warnings(spiked), testing::ElementsAre(HasSubstr("[filter] mute")));
  EXPECT_THAT(warnings(spiked, "[filter]\nmute = 6.2e-6\n"), testing::IsEmpty());
  // Noise is no sound, however loud.
  EXPECT_THAT(warnings(BallRecording(long_record(), {the_ball}, 1.0)), testing::IsEmpty());
}

TEST_F(ReconstructionInput, StopsByTheNoiseOfAllRows) {
  const StoppingRules rules = stopping_rules(prepared("[reconstruction]\nnoise = 0.02\ndiscrepancy_factor = 1.5\n"));
  EXPECT_NEAR(rules.discrepancy, 1.5 * 0.02 * std::sqrt(256.0 * 160.0), 1e-12);
  EXPECT_EQ(rules.iterations, 20U);
}

}  // namespace
}  // namespace echoform::test
