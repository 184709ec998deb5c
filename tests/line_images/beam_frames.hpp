// Frames of focused beams, sample by sample from geometry, and what the method of scan lines makes of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "methods/registry.hpp"
#include "pipeline/engine.hpp"
#include "settings/reader.hpp"

namespace echoform::test {

inline constexpr double sound = 1540.0;
inline constexpr double of_degrees = std::numbers::pi / 180.0;

struct Scatterer {
  double x = 0.0;
  double z = 0.0;
  double strength = 1.0;
};

struct BeamFrame {
  Acquisition acquisition;
  std::vector<float> samples;  // [event, receiver, sample]
};

/// Beams of a phased array from its middle, all of its elements firing, focused at `focus` metres.
inline Acquisition make_beams(std::size_t elements, const std::vector<double>& angles, double focus, std::size_t samples) {
  Acquisition a;
  a.probe = make_linear_probe(elements, Metres(0.3e-3), Metres(0.25e-3), Hertz(5e6), Hertz(3e6));
  for (const double angle : angles) {
    a.events.push_back(
        {PointWaveEvent{
             {Metres(focus * std::sin(angle)), Metres(0.0), Metres(focus * std::cos(angle))}, MetresPerSecond(sound), {}},
         {}});
  }
  a.encoding = SampleEncoding::float32;
  a.samples = samples;
  a.sample_rate = Hertz(40e6);
  a.start_time = Seconds(0.0);
  a.sample_scale = 1.0;
  return a;
}

/// Each element's pulse, exp(-t^2 / (2 s^2)) cos(2 pi f t) of a -6 dB bandwidth, from each scatterer to each element.
inline BeamFrame make_frame(const Acquisition& acquisition, const std::vector<Scatterer>& scatterers,
                            double fractional_bandwidth) {
  const std::size_t elements = acquisition.probe.elements.size();
  const double f = acquisition.probe.centre_frequency.value;
  const double rate = acquisition.sample_rate.value;
  const double s = std::sqrt(2.0 * std::numbers::ln2) / (std::numbers::pi * fractional_bandwidth * f);
  BeamFrame frame{acquisition, std::vector<float>(acquisition.events.size() * elements * acquisition.samples)};
  const auto x_of = [&](std::size_t e) { return acquisition.probe.elements[e].centre.x.value; };
  std::vector<double> row(acquisition.samples);
  for (std::size_t event = 0; event < acquisition.events.size(); ++event) {
    const Point focus = std::get<PointWaveEvent>(acquisition.events[event].form).point;
    std::vector<double> fires;
    for (std::size_t e = 0; e < elements; ++e) fires.push_back(-std::hypot(x_of(e) - focus.x.value, focus.z.value) / sound);
    const double earliest = *std::min_element(fires.begin(), fires.end());
    for (std::size_t receiver = 0; receiver < elements; ++receiver) {
      std::ranges::fill(row, 0.0);
      for (const Scatterer& p : scatterers) {
        const double back = std::hypot(p.x - x_of(receiver), p.z) / sound;
        for (std::size_t e = 0; e < elements; ++e) {
          const double at = fires[e] - earliest + std::hypot(p.x - x_of(e), p.z) / sound + back;
          const auto first = static_cast<std::ptrdiff_t>(std::ceil((at - 6.0 * s) * rate));
          const auto last = static_cast<std::ptrdiff_t>(std::floor((at + 6.0 * s) * rate));
          for (auto n = std::max<std::ptrdiff_t>(0, first); n <= last && n < static_cast<std::ptrdiff_t>(row.size()); ++n) {
            const double t = static_cast<double>(n) / rate - at;
            row[static_cast<std::size_t>(n)] +=
                p.strength * std::exp(-t * t / (2.0 * s * s)) * std::cos(2.0 * std::numbers::pi * f * t);
          }
        }
      }
      std::ranges::copy(row, frame.samples.begin() + static_cast<std::ptrdiff_t>((event * elements + receiver) * row.size()));
    }
  }
  return frame;
}

struct LineImage {
  std::size_t lines = 0;
  std::size_t ranges = 0;
  std::vector<float> envelope;  // [line, range]
  [[nodiscard]] double at(std::size_t line, std::size_t range) const { return envelope[line * ranges + range]; }
};

/// `beams`: the keys of [beams]; `filter`: the kind of [filter].
inline std::unique_ptr<Engine> engine_of_lines(const BeamFrame& frame, const std::string& beams, const std::string& filter,
                                               const OutputWish& wish = {}, BackendKind backend = BackendKind::cpu) {
  const Configuration configuration =
      parse_configuration("[imaging]\nmethod = \"beams\"\n[material]\nlongitudinal_velocity = 1540.0\n[filter]\nkind = \"" +
                              filter + "\"\n[beams]\n" + beams,
                          "lines.toml");
  return make_engine(resolve_imaging({.configuration = configuration, .acquisition = frame.acquisition, .wish = wish}),
                     {.automatic = false, .kind = backend, .threads = 2}, {});
}

inline LineImage line_image(const BeamFrame& frame, const std::string& beams, BackendKind backend = BackendKind::cpu) {
  LineImage image;
  const auto engine = engine_of_lines(frame, beams, "none", {.display = false}, backend);
  FrameSlot slot;
  engine->equip(slot);
  EXPECT_EQ(slot.samples.size(), frame.samples.size() * sizeof(float));
  std::memcpy(slot.samples.data(), frame.samples.data(), slot.samples.size());
  EXPECT_TRUE(image_now(*engine, slot));
  const Grid& grid = engine->setup().recipe.outputs.front().description.grid;
  image.lines = grid.z.count;
  image.ranges = grid.x.count;
  const auto* const from = static_cast<const float*>(slot.outputs.front().data.data());
  image.envelope.assign(from, from + image.lines * image.ranges);
  return image;
}

}  // namespace echoform::test
