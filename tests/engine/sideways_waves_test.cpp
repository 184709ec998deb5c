// Plane waves of a linear array that is pushed sideways: the simulated source sends what elements send, one by one, and the
// coherent scan of all positions is in focus across them too.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "methods/display_settings.hpp"
#include "methods/filter_settings.hpp"
#include "methods/registry.hpp"
#include "methods/scan_settings.hpp"
#include "methods/tfm/section.hpp"
#include "simulators/fmc_simulator.hpp"
#include "tests/engine/places.hpp"

namespace echoform::test {
namespace {

constexpr double velocity_of_sound = 6320.0;
constexpr double depth = 12e-3;
constexpr int positions = 41;  // to either side of the point
constexpr double step = 0.5e-3;

/// 32 point elements, seven plane waves, and one point that echoes as loudly everywhere; `sideways` of the array.
SimulatorConfiguration source_at(double sideways) {
  SimulatorConfiguration source;
  source.elements = 32;
  source.pitch = Metres(0.5e-3);
  source.element_width = Metres(0.0);
  source.samples = 512;
  source.start_time = Seconds(2e-6);
  source.transmit.kind = TransmitKind::plane;
  source.transmit.events = 7;
  source.transmit.angles = std::array{-15.0, 15.0};
  source.encoding = SampleEncoding::float32;
  source.quantised = false;
  source.noise_rms = 0.0;
  source.spreading = Spreading::none;
  source.directivity = false;
  source.material = {MetresPerSecond(velocity_of_sound), {}};
  source.phantom = {};
  source.phantom.points = {{"point", {Metres(0.0), Metres(sideways), Metres(depth)}, 1.0, {}}};
  return source;
}

class SidewaysWaves : public EnginesAt {
 protected:
  SidewaysWaves() {
    configuration.grid.x = {Metres(-0.5e-3), Metres(0.5e-3)};
    configuration.grid.y = {Metres(-6e-3), Metres(6e-3)};
    configuration.grid.z = {Metres(depth - 0.4e-3), Metres(depth + 0.4e-3)};
    configuration.grid.pixels = {3, 9};
    configuration.grid.pixels.y = 121;
    configuration.material.longitudinal_velocity = MetresPerSecond(velocity_of_sound);
    configuration.imaging.threads = 2;
    section<FilterSection>(configuration).kind = FilterWish::none;
    tfm(configuration).accuracy = GetParam().accuracy;
    ScanSection& scan = section<ScanSection>(configuration);
    scan.path = ScanPath::line;
    scan.direction = {0.0, 1.0, 0.0};
    scan.encoder_step = Metres(step);
    scan.composition = Composition::coherent;
  }

  /// Envelope [z, y, x] of the scan over those counts.
  std::vector<float> scanned(int first, int last) {
    ScanRecords records;
    const auto setup = resolve_imaging({.configuration = configuration,
                                        .acquisition = acquisition_of(source_at(0.0)),
                                        .frames_in_flight = 1,
                                        .wish = {},
                                        .scans = &records});
    const auto engine = make_engine(setup, {.automatic = false, .kind = GetParam().backend, .threads = 2}, {.slots = 1});
    FrameSlot slot{};
    engine->equip(slot);
    for (int count = first; count <= last; ++count) {
      const FmcSimulator simulator(source_at(-step * count));
      Frame frame;
      frame.bytes.resize(simulator.acquisition().frame_bytes());
      simulator.synthesise(0, frame.bytes);
      put(frame, slot);
      slot.position = count;
      EXPECT_TRUE(image_now(*engine, slot));
    }
    EXPECT_EQ(setup->scan->record->counts().cells, static_cast<std::size_t>(last - first + 1));
    const auto output = setup->recipe.find("LL", OutputKind::envelope).value();
    const auto* const envelope = static_cast<const float*>(slot.outputs.at(output).data.data());
    return {envelope, envelope + 3 * 121 * 9};
  }

  /// Along y through the point.
  static double at(const std::vector<float>& envelope, std::size_t y) { return envelope[(4 * 121 + y) * 3 + 1]; }

  Configuration configuration;
};

TEST_P(SidewaysWaves, AreInFocusAcrossTheirPositions) {
  const std::vector<float> whole = scanned(-(positions / 2), positions / 2);
  const std::vector<float> alone = scanned(0, 0);
  // Every position sees the point as the one above it does: their mean is as high.
  const double peak = at(whole, 60);
  EXPECT_GT(20.0 * std::log10(peak / at(alone, 60)), -0.5);
  // The point's full width at one half, between pixels by straight lines. Positions up to 10 mm aside see it at 12 mm by sines up
  // to 0.64, on both ways. At one wavelength of 1.264 mm they sum up to sin(v) / v, v = 4 pi 0.64 y / 1.264 mm, which is one half
  // at v = 1.895: 0.60 mm. Upper frequencies of the band, 1.3 times the middle one, make it narrower at most in proportion, 0.46
  // mm. Positions count less per sine towards the ends of the scan, as cos^3: 0.45 at 0.64, which makes it wider, by less than 1
  // / 0.45^(1/2).
  const auto half_way = [&](int direction) {
    int k = 60;
    while (k > 0 && k < 120 && at(whole, static_cast<std::size_t>(k)) > 0.5 * peak) k += direction;
    const double below = at(whole, static_cast<std::size_t>(k));
    const double above = at(whole, static_cast<std::size_t>(k - direction));
    return std::abs(k - 60) - (0.5 * peak - below) / (above - below);
  };
  const double width = 0.1e-3 * (half_way(-1) + half_way(1));
  RecordProperty("decibels", std::to_string(20.0 * std::log10(peak / at(alone, 60))));
  RecordProperty("width", std::to_string(width));
  EXPECT_LT(width, 0.9e-3);
  EXPECT_GT(width, 0.46e-3);
}

INSTANTIATE_TEST_SUITE_P(All, SidewaysWaves, testing::ValuesIn(places()), place_name);

}  // namespace
}  // namespace echoform::test
