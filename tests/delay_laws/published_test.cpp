// Two values of a public program (arim, University of Bristol), which its own tests state: a contact view and a half skip of
// random A-scans. The reference gives them to the last figures; the engine, in single precision, to 1e-6.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <random>

#include "delay_laws/delay_law.hpp"
#include "methods/tfm/stage_options.hpp"
#include "stages/beamform/beamform.hpp"

namespace echoform {
namespace {

constexpr std::size_t elements = 5;
constexpr std::size_t samples = 100;
constexpr double sample_rate = 20e6;
constexpr double start_time = 0.5e-6;
constexpr double longitudinal = 6300.0;
constexpr double shear = 3100.0;

/// NumPy's RandomState(seed).uniform(size=100): 53 bits of two draws of the Mersenne twister each.
std::array<double, samples> uniform(std::uint32_t seed) {
  std::mt19937 twister(seed);
  std::array<double, samples> values{};
  for (double& value : values) {
    const auto a = static_cast<double>(twister() >> 5);
    const auto b = static_cast<double>(twister() >> 6);
    value = (a * 67108864.0 + b) / 9007199254740992.0;
  }
  return values;
}

std::uint32_t seed_of(std::size_t tx, std::size_t rx) {
  return static_cast<std::uint32_t>(tx * rx * tx * rx);
}

/// Nearest sample, plain sum over the full matrix, from the times themselves.
double reference(const std::function<double(double x)>& transmit, const std::function<double(double x)>& receive) {
  double sum = 0.0;
  for (std::size_t tx = 0; tx < elements; ++tx) {
    for (std::size_t rx = 0; rx < elements; ++rx) {
      const double time = transmit(0.5e-3 * static_cast<double>(tx)) + receive(0.5e-3 * static_cast<double>(rx));
      const double place = std::floor((time - start_time) * sample_rate + 0.5);
      if (place >= 0.0 && place < static_cast<double>(samples)) sum += uniform(seed_of(tx, rx))[static_cast<std::size_t>(place)];
    }
  }
  return sum;
}

/// N^2 times the engine's image of the pixel (0, 0, 5 mm).
double engine(const std::string& view, const Scene& scene) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(elements, Metres(0.5e-3), Metres(0.0), Hertz(0.0), Hertz(0.0));
  for (Element& element : plan.acquisition.probe.elements) {
    element.centre.x += Metres(1e-3);
    element.centre.z = Metres(-1e-3);
  }
  plan.acquisition.samples = samples;
  plan.acquisition.sample_rate = Hertz(sample_rate);
  plan.acquisition.start_time = Seconds(start_time);
  plan.material = {MetresPerSecond(longitudinal), MetresPerSecond(shear)};
  plan.grid = {{Metres(0.0), Metres(0.0), 1}, {Metres(5e-3), Metres(5e-3), 1}, {}};
  plan.interpolation = Interpolation::nearest;
  plan.laws = {make_delay_law("contact", {plan.acquisition, plan.material, view, scene})};

  BlockSpec spec;
  spec.type = ElementType::planar_complex64;
  spec.rows = elements * elements;
  spec.columns = samples;
  spec.row_stride = 176;
  std::vector<float> data(spec.rows * 2 * spec.row_stride, 0.0F);
  for (std::size_t tx = 0; tx < elements; ++tx) {
    for (std::size_t rx = 0; rx < elements; ++rx) {
      const auto values = uniform(seed_of(tx, rx));
      for (std::size_t k = 0; k < samples; ++k) {
        data[2 * (tx * elements + rx) * spec.row_stride + k] = static_cast<float>(values[k]);
      }
    }
  }
  const auto backend = make_cpu_backend(1);
  const auto queue = backend->make_queue();
  BeamformOptions options = beamform_options(plan, plan_pairs(plan), 0);
  options.pairs = all_pairs(elements, elements);
  const auto stage = make_beamform_cpu(options, *backend);
  static_cast<void>(stage->prepare(spec));
  std::complex<float> image;
  stage->process({data.data()}, {&image}, *queue);
  queue->finish();
  EXPECT_EQ(image.imag(), 0.0F);
  return static_cast<double>(image.real()) * elements * elements;
}

TEST(Published, ContactView) {
  constexpr double published = 12.49925772283528;
  const auto direct = [](double x) { return std::hypot(x, 6e-3) / longitudinal; };
  // The order of 25 additions.
  EXPECT_NEAR(reference(direct, direct), published, 1e-14);
  EXPECT_NEAR(engine("LL", {}) / published, 1.0, 1e-6);
}

TEST(Published, HalfSkipOffASampledBackwall) {
  constexpr double published = 12.745499105785953;
  std::vector<Vector2> wall;
  for (int k = 0; k < 200; ++k) wall.push_back({-1e-3 + 2e-3 * k / 199.0, 10e-3});
  const auto reflected = [&](double x) {
    double least = std::numeric_limits<double>::infinity();
    for (const Vector2& at : wall) {
      least = std::min(least, (std::hypot(at.x - x, 11e-3) + std::hypot(at.x, 5e-3)) / longitudinal);
    }
    return least;
  };
  const auto direct = [](double x) { return std::hypot(x, 6e-3) / shear; };
  EXPECT_NEAR(reference(reflected, direct), published, 1e-14);
  Scene scene;
  scene.backwall = std::make_shared<const Surface>(Surface::sampled("wall", wall));
  EXPECT_NEAR(engine("LL-T", scene) / published, 1.0, 1e-6);
}

}  // namespace
}  // namespace echoform
