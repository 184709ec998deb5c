// Images of scan lines from a configuration and a simulated frame, as the program has them, and a plain envelope.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <memory>
#include <numbers>
#include <vector>

#include "methods/registry.hpp"
#include "pipeline/engine.hpp"
#include "tests/simulators/imaged.hpp"

namespace echoform::test {

/// Envelope [line, range] and its axes.
struct LinesImage {
  std::shared_ptr<const ImagingSetup> setup;
  Grid grid;  // x: ranges, z: angles or places
  std::vector<float> envelope;

  [[nodiscard]] double at(std::size_t line, std::size_t range) const { return envelope[line * grid.x.count + range]; }
};

inline LinesImage image_lines(const Configuration& configuration, const SourceFrame& frame) {
  LinesImage image;
  image.setup = resolve_imaging({.configuration = configuration,
                                 .acquisition = frame.acquisition,
                                 .stated = {frame.material, {}},
                                 .wish = {.display = false}});
  const auto engine = make_engine(image.setup, {.automatic = false, .kind = BackendKind::cpu, .threads = 2}, {});
  FrameSlot slot;
  engine->equip(slot);
  std::memcpy(slot.samples.data(), frame.bytes.data(), frame.bytes.size());
  EXPECT_TRUE(image_now(*engine, slot));
  image.grid = image.setup->recipe.outputs.front().description.grid;
  const auto* envelope = static_cast<const float*>(slot.outputs.front().data.data());
  image.envelope.assign(envelope, envelope + image.grid.pixels());
  return image;
}

/// |s + i H{s}| by the sums themselves, of a row that repeats: no fast transform.
inline std::vector<double> plain_envelope(const std::vector<double>& s) {
  const std::size_t m = s.size();
  std::vector<std::complex<double>> analytic(m);
  for (std::size_t k = 0; k <= m / 2; ++k) {
    std::complex<double> factor;
    for (std::size_t n = 0; n < m; ++n) {
      factor += s[n] * std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(k * n % m) / static_cast<double>(m));
    }
    const bool once = k == 0 || 2 * k == m;
    for (std::size_t n = 0; n < m; ++n) {
      analytic[n] += (once ? 1.0 : 2.0) / static_cast<double>(m) * factor *
                     std::polar(1.0, 2.0 * std::numbers::pi * static_cast<double>(k * n % m) / static_cast<double>(m));
    }
  }
  std::vector<double> envelope;
  for (const auto& value : analytic) envelope.push_back(std::abs(value));
  return envelope;
}

}  // namespace echoform::test
