// Frames of detectors around balls, exactly, and what tomography makes of them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/detectors.hpp"
#include "base/directions.hpp"
#include "methods/registry.hpp"
#include "pipeline/engine.hpp"
#include "settings/reader.hpp"

namespace echoform::test {

inline constexpr double water = 1540.0;

/// A ball of initial pressure `strength`, blurred by a Gaussian in space.
struct Ball {
  Point centre;
  double radius = 2e-3;
  double strength = 1.0;
  double blur = 0.327e-3;  ///< standard deviation in m

  /// f(r) = (erf((R - r) / (s sqrt 2)) + erf((R + r) / (s sqrt 2))) / 2 - s / (r sqrt(2 pi)) (exp(-(R - r)^2 / (2 s^2)) - exp(-(R
  /// + r)^2 / (2 s^2))): the convolution of a ball with a Gaussian, in closed form.
  [[nodiscard]] double profile(double r) const {
    const double s = blur;
    const double root = s * std::numbers::sqrt2;
    const double centre_value =
        std::erf(radius / root) - std::sqrt(2.0 / std::numbers::pi) * radius / s * std::exp(-radius * radius / (2.0 * s * s));
    if (r < 1e-6 * s) return strength * centre_value;
    const double inner = radius - r;
    const double outer = radius + r;
    const double values = 0.5 * (std::erf(inner / root) + std::erf(outer / root));
    const double edges = s / (std::sqrt(2.0 * std::numbers::pi) * r) *
                         (std::exp(-inner * inner / (2.0 * s * s)) - std::exp(-outer * outer / (2.0 * s * s)));
    return strength * (values - edges);
  }
  [[nodiscard]] double reach() const { return radius + 6.0 * blur; }
};

/// profile() of many radii: linear between 4096 of them, to about 1e-6 of the strength.
class BallTable {
 public:
  explicit BallTable(const Ball& ball) : ball_(ball), step_(ball.reach() / static_cast<double>(count)) {
    for (std::size_t n = 0; n <= count + 1; ++n) values_.push_back(ball.profile(static_cast<double>(n) * step_));
  }
  [[nodiscard]] double at(double r) const {
    const double place = r / step_;
    if (!(place < static_cast<double>(count))) return 0.0;
    const auto n = static_cast<std::size_t>(place);
    return values_[n] + (place - static_cast<double>(n)) * (values_[n + 1] - values_[n]);
  }

 private:
  static constexpr std::size_t count = 4096;
  Ball ball_;
  double step_;
  std::vector<double> values_;
};

struct PassiveFrame {
  Acquisition acquisition;
  std::vector<float> samples;  ///< [row, sample]
};

inline Acquisition passive(std::size_t samples, double sample_rate, double start_time) {
  Acquisition a;
  a.encoding = SampleEncoding::float32;
  a.samples = samples;
  a.sample_rate = Hertz(sample_rate);
  a.start_time = Seconds(start_time);
  return a;
}

/// An element at a place that looks towards the origin.
inline Element inward(double x, double y, double z) {
  const double size = std::sqrt(x * x + y * y + z * z);
  Element element;
  element.centre = {Metres(x), Metres(y), Metres(z)};
  element.normal = {-x / size, -y / size, -z / size};
  return element;
}

/// An arc of `elements` from pole to pole of a sphere, which turns about z to `views` angles: rings of the sphere.
inline Acquisition rotated_arc(std::size_t elements, std::size_t views, double radius) {
  Acquisition a = passive(1022, 20e6, 17e-6);
  for (std::size_t k = 0; k < elements; ++k) {
    const double polar = (static_cast<double>(k) + 0.5) * std::numbers::pi / static_cast<double>(elements);
    a.probe.elements.push_back(inward(radius * std::sin(polar), 0.0, radius * std::cos(polar)));
  }
  for (std::size_t view = 0; view < views; ++view) {
    const double turn = 2.0 * std::numbers::pi * static_cast<double>(view) / static_cast<double>(views);
    Pose pose;
    pose.x = {std::cos(turn), std::sin(turn), 0.0};
    pose.y = {-std::sin(turn), std::cos(turn), 0.0};
    a.positions.push_back(pose);
    a.events.push_back({PassiveEvent{}, {}, static_cast<std::uint32_t>(view)});
  }
  return a;
}

/// A ring in the plane y = 0, `part` of a whole one, about the origin.
inline Acquisition ring(std::size_t elements, double radius, double part = 1.0) {
  Acquisition a = passive(1200, 20e6, 10e-6);
  for (std::size_t k = 0; k < elements; ++k) {
    const double turn = 2.0 * std::numbers::pi * part * static_cast<double>(k) / static_cast<double>(elements);
    a.probe.elements.push_back(inward(radius * std::cos(turn), 0.0, radius * std::sin(turn)));
  }
  a.events.push_back({PassiveEvent{}, {}, 0});
  return a;
}

/// p(t) = (d - c t) f(|d - c t|) / (2 d) + (d + c t) f(d + c t) / (2 d) of every ball, of which the second part is heard by
/// nobody outside; d is the distance, or what `travelled` makes of detector and ball.
template <class Travelled>
PassiveFrame heard(const Acquisition& acquisition, const std::vector<Ball>& balls, const Travelled& travelled) {
  const std::vector<Detector> detectors = detectors_of(acquisition);
  PassiveFrame frame{acquisition, std::vector<float>(detectors.size() * acquisition.samples)};
  const double rate = acquisition.sample_rate.value;
  for (const Ball& ball : balls) {
    const BallTable table(ball);
    for (std::size_t row = 0; row < detectors.size(); ++row) {
      const double d = travelled(detectors[row].centre, ball.centre);
      const double middle = (d / water - acquisition.start_time.value) * rate;
      const double half = ball.reach() / water * rate;
      const auto first = static_cast<std::size_t>(std::max(0.0, std::ceil(middle - half)));
      const auto end = static_cast<std::size_t>(std::clamp(middle + half, 0.0, static_cast<double>(acquisition.samples)));
      for (std::size_t n = first; n < end; ++n) {
        const double u = d - water * (acquisition.start_time.value + static_cast<double>(n) / rate);
        frame.samples[row * acquisition.samples + n] += static_cast<float>(u / (2.0 * d) * table.at(std::abs(u)));
      }
    }
  }
  return frame;
}

inline double distance(const Point& a, const Point& b) {
  return length(between(a, b));
}

inline PassiveFrame heard(const Acquisition& acquisition, const std::vector<Ball>& balls) {
  return heard(acquisition, balls, distance);
}

struct Tomogram {
  Grid grid;
  std::vector<float> values;  ///< [z, y, x]

  /// Where the greatest value is.
  [[nodiscard]] Point peak() const {
    const auto at = std::max_element(values.begin(), values.end()) - values.begin();
    return grid.at(static_cast<std::size_t>(at));
  }
  [[nodiscard]] double greatest() const { return *std::max_element(values.begin(), values.end()); }
};

/// `keys`: of [tomography]; `more`: whole sections. Without a filter unless `more` has one.
inline std::string tomography_text(const std::string& keys, const std::string& more, double velocity = water) {
  const std::string filter = more.find("[filter]") == std::string::npos ? "[filter]\nkind = \"none\"\n" : "";
  return "[imaging]\nmethod = \"tomography\"\nthreads = 2\n[material]\nlongitudinal_velocity = " + std::to_string(velocity) +
         "\n" + filter + more + "[tomography]\n" + keys;
}

inline std::shared_ptr<const ImagingSetup> tomography_setup(const Acquisition& acquisition, const std::string& text,
                                                            bool display = false) {
  const Configuration configuration = parse_configuration(text, "tomography.toml");
  return resolve_imaging({.configuration = configuration,
                          .acquisition = acquisition,
                          .wish = {.complex_images = false, .display = display},
                          .crop = true});
}

/// The image of the view; of the first output where `view` is empty.
inline Tomogram tomogram_of(const PassiveFrame& frame, const std::string& text, const std::string& view = {},
                            BackendKind kind = BackendKind::cpu) {
  const auto engine =
      make_engine(tomography_setup(frame.acquisition, text), {.automatic = false, .kind = kind, .threads = 2}, {});
  FrameSlot slot;
  engine->equip(slot);
  EXPECT_EQ(slot.samples.size(), frame.samples.size() * sizeof(float));
  std::memcpy(slot.samples.data(), frame.samples.data(), slot.samples.size());
  EXPECT_TRUE(image_now(*engine, slot));
  const Recipe& recipe = engine->setup().recipe;
  const std::size_t output = view.empty() ? 0 : recipe.find(view, OutputKind::envelope).value();
  Tomogram image{recipe.outputs[output].description.grid, {}};
  const auto* const from = static_cast<const float*>(slot.outputs[output].data.data());
  image.values.assign(from, from + image.grid.pixels());
  return image;
}

/// "[grid]" of a cube of `count` voxels along each side, or of a square in the plane y = `centre`'s.
inline std::string cube(const Point& centre, double half, std::size_t count, bool flat = false) {
  const auto pair = [&](Metres at) {
    return "[" + std::to_string(at.value - half) + ", " + std::to_string(at.value + half) + "]\n";
  };
  const std::string n = std::to_string(count);
  if (flat) return "[grid]\nx = " + pair(centre.x) + "z = " + pair(centre.z) + "pixels = [" + n + ", " + n + "]\n";
  return "[grid]\nx = " + pair(centre.x) + "y = " + pair(centre.y) + "z = " + pair(centre.z) + "pixels = [" + n + ", " + n +
         ", " + n + "]\n";
}

}  // namespace echoform::test
