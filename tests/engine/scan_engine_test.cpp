// Images of scans on every engine, against plain sums over the positions with the elements where they were then.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <numbers>
#include <set>
#include <vector>

#include "base/errors.hpp"
#include "methods/display_settings.hpp"
#include "methods/filter_settings.hpp"
#include "methods/host_memory.hpp"
#include "methods/registry.hpp"
#include "methods/scan_settings.hpp"
#include "methods/tfm/section.hpp"
#include "pipeline/setup_memory.hpp"
#include "tests/engine/places.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

constexpr double wave_speed = 6320.0;

class ScanImages : public EnginesAt {
 protected:
  ScanImages() {
    const auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {});
    acquisition = plan->acquisition;
    configuration.grid.x = {Metres(-5.1e-3), Metres(5.3e-3)};
    configuration.grid.z = {Metres(1.03e-3), Metres(11.9e-3)};
    configuration.grid.pixels = {21, 19};
    configuration.material.longitudinal_velocity = MetresPerSecond(wave_speed);
    configuration.imaging.threads = 2;
    section<FilterSection>(configuration).kind = FilterWish::none;
    tfm(configuration).accuracy = GetParam().accuracy;
    scan().path = ScanPath::line;
    scan().encoder_step = Metres(0.4e-3);
  }

  ScanSection& scan() { return section<ScanSection>(configuration); }

  void begin(bool complex_images) {
    setup = resolve_imaging({.configuration = configuration,
                             .acquisition = acquisition,
                             .frames_in_flight = 2,
                             .wish = {.complex_images = complex_images},
                             .scans = &records});
    engine = make_engine(setup, {.automatic = false, .kind = GetParam().backend, .threads = 2}, {.slots = 2});
    for (std::size_t k = 0; k < 2; ++k) {
      slots[k] = {};
      slots[k].index = k;
      engine->equip(slots[k]);
    }
  }

  /// Images a frame of that count in the slot whose turn it is, and keeps it for the plain sum.
  void image(std::optional<std::int64_t> count, bool counts = true) {
    FrameSlot& slot = slots[++turn % 2];
    const Frame frame = random_frame(acquisition, 50 + turn);
    put(frame, slot);
    slot.position = count;
    ASSERT_TRUE(image_now(*engine, slot));
    if (counts) frames.push_back({static_cast<double>(count.value()), frame});
  }

  [[nodiscard]] FrameSlot& last() { return slots[turn % 2]; }
  [[nodiscard]] const float* envelope() {
    return static_cast<const float*>(last().outputs.at(setup->recipe.find("LL", OutputKind::envelope).value()).data.data());
  }
  [[nodiscard]] const std::uint8_t* display() {
    return static_cast<const std::uint8_t*>(last().outputs.at(setup->recipe.find("LL", OutputKind::display).value()).data.data());
  }

  /// Of the whole grid, with every element moved by `place`.
  template <class Move>
  std::vector<std::complex<double>> plain(const Frame& frame, const Move& place) {
    auto plan = make_plan(GetParam(), SampleEncoding::int16, MatrixKind::full, {});
    for (Element& element : plan->acquisition.probe.elements) place(element);
    return plain_image(*plan, frame, wave_speed, wave_speed);
  }

  struct Taken {
    double count;
    Frame frame;
  };
  Acquisition acquisition;
  Configuration configuration;
  ScanRecords records;
  std::shared_ptr<const ImagingSetup> setup;
  std::unique_ptr<Engine> engine;
  std::array<FrameSlot, 2> slots;
  std::vector<Taken> frames;
  unsigned turn = 0;
};

TEST_P(ScanImages, CoherentAreTheMeanOfTheirPositions) {
  scan().composition = Composition::coherent;
  scan().origin = Metres(-1e-3);
  scan().sign = -1.0;
  scan().direction = {3.0, 0.0, 4.0};  // deeper as it goes: any direction
  begin(true);
  for (const int count : {-3, -2, 0, 1, -5}) image(count);
  std::vector<std::complex<double>> mean(21 * 19);
  for (const Taken& taken : frames) {
    const double s = -1e-3 - 0.4e-3 * taken.count;
    const auto one = plain(taken.frame, [&](Element& element) {
      element.centre.x += Metres(0.6 * s);
      element.centre.z += Metres(0.8 * s);
    });
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += one[k] / 5.0;
  }
  const std::size_t complex = setup->recipe.find("LL", OutputKind::complex_image).value();
  EXPECT_LT(relative_error(static_cast<const std::complex<float>*>(last().outputs[complex].data.data()), mean),
            GetParam().tolerance);
  EXPECT_EQ(setup->scan->record->counts().cells, 5U);
}

TEST_P(ScanImages, OfACircleAreTheMaximumOfTheirEnvelopes) {
  scan().path = ScanPath::circle;
  scan().centre = {Metres(1e-3), Metres(0.0), Metres(20e-3)};
  scan().axis = {0.0, 2.0, 0.0};
  scan().encoder_step = Metres(2e-3);
  begin(false);
  for (const int count : {0, 1, -1, 2}) image(count);
  // The middle of the elements is at x = z = 0: its way from the axis is the radius.
  const double radius = std::hypot(1e-3, 20e-3);
  std::vector<double> most(21 * 19, 0.0);
  for (const Taken& taken : frames) {
    const double angle = 2e-3 * taken.count / radius;
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    const auto one = plain(taken.frame, [&](Element& element) {
      const double x = element.centre.x.value - 1e-3;
      const double z = element.centre.z.value - 20e-3;
      element.centre.x = Metres(1e-3 + c * x + s * z);
      element.centre.z = Metres(20e-3 - s * x + c * z);
    });
    for (std::size_t k = 0; k < most.size(); ++k) most[k] = std::max(most[k], std::abs(one[k]));
  }
  double error = 0.0;
  double all = 0.0;
  for (std::size_t k = 0; k < most.size(); ++k) {
    error += std::pow(envelope()[k] - most[k], 2);
    all += most[k] * most[k];
  }
  EXPECT_LT(std::sqrt(error / all), GetParam().tolerance);
}

TEST_P(ScanImages, LeadAllTheWayAround) {
  scan().path = ScanPath::circle;
  scan().composition = Composition::coherent;
  scan().centre = {Metres(1e-3), Metres(0.0), Metres(14e-3)};
  scan().axis = {0.0, -1.0, 0.0};
  const double radius = std::hypot(1e-3, 14e-3);
  const double around = 2.0 * std::numbers::pi * radius;
  scan().encoder_step = Metres(around / 12.0);  // every 30 degrees
  begin(true);
  for (const int count : {0, 2, 4, 7, 10, -1, 18}) image(count);  // 18 is a turn and a half
  for (const int count : {12, -12, 23, -5}) image(count, false);
  EXPECT_EQ(setup->scan->record->counts().cells, 7U);
  EXPECT_EQ(setup->scan->record->counts().repeated, 4U) << "a turn later or before the place is the same";
  EXPECT_EQ(setup->scan->record->counts().refused, 0U) << setup->scan->record->refusal();
  std::vector<std::complex<double>> mean(21 * 19);
  for (const Taken& taken : frames) {
    const double angle = -taken.count * std::numbers::pi / 6.0;  // about +y
    const auto one = plain(taken.frame, [&](Element& element) {
      const double x = element.centre.x.value - 1e-3;
      const double z = element.centre.z.value - 14e-3;
      element.centre.x = Metres(1e-3 + std::cos(angle) * x + std::sin(angle) * z);
      element.centre.z = Metres(14e-3 - std::sin(angle) * x + std::cos(angle) * z);
    });
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += one[k] / 7.0;
  }
  const std::size_t complex = setup->recipe.find("LL", OutputKind::complex_image).value();
  EXPECT_LT(relative_error(static_cast<const std::complex<float>*>(last().outputs[complex].data.data()), mean),
            GetParam().tolerance);
}

TEST_P(ScanImages, ReachAsDeepAsTheySay) {
  scan().path = ScanPath::circle;
  scan().centre = {Metres(0.0), Metres(0.0), Metres(6.5e-3)};
  scan().encoder_step = Metres(6.5e-3 * std::numbers::pi);  // half a turn
  scan().coverage = Metres(2e-3);
  scan().depth = Metres(4e-3);
  begin(false);
  image(1);  // from below
  const Axis x{Metres(-5.1e-3), Metres(5.3e-3), 21};
  const Axis z{Metres(1.03e-3), Metres(11.9e-3), 19};
  const auto one = plain(frames[0].frame, [](Element& element) {
    element.centre.x = -1.0 * element.centre.x;
    element.centre.z = Metres(13e-3) - element.centre.z;
  });
  double error = 0.0;
  double all = 0.0;
  for (std::size_t k = 0; k < 21 * 19; ++k) {
    const bool covered = std::abs(x.at(k % 21).value) <= 2e-3 && z.at(k / 21).value >= 9e-3;
    ASSERT_EQ(std::isfinite(envelope()[k]), covered) << k;
    if (!covered) continue;
    error += std::pow(envelope()[k] - std::abs(one[k]), 2);
    all += std::norm(one[k]);
  }
  EXPECT_GT(all, 0.0);
  EXPECT_LT(std::sqrt(error / all), GetParam().tolerance);
}

TEST_P(ScanImages, FramesThatFailLeaveTheirCellOpen) {
  begin(false);
  image(0);
  FrameSlot& slot = slots[++turn % 2];
  slot.position = 1;
  put(random_frame(acquisition, 7), slot);
  auto* const scan_setup = const_cast<Scan*>(setup->scan.get());  // nobody else has it
  const auto position = scan_setup->position;
  scan_setup->position = [](Metres) -> ScanPosition { throw std::bad_alloc(); };
  EXPECT_FALSE(image_now(*engine, slot));
  EXPECT_EQ(setup->scan->record->counts().refused, 0U) << "no fault of the position";
  EXPECT_EQ(setup->scan->record->counts().cells, 1U);
  scan_setup->position = position;
  image(1);
  EXPECT_EQ(setup->scan->record->counts().cells, 2U);
}

TEST_P(ScanImages, CoverNoMoreThanTheySay) {
  scan().coverage = Metres(1.2e-3);
  begin(false);
  image(0);
  image(6);
  const Axis x{Metres(-5.1e-3), Metres(5.3e-3), 21};
  const auto of = [&](const Taken& taken) {
    return plain(taken.frame, [&](Element& element) { element.centre.x += Metres(0.4e-3 * taken.count); });
  };
  const auto first = of(frames[0]);
  const auto second = of(frames[1]);
  double error = 0.0;
  double all = 0.0;
  std::set<std::size_t> columns;
  for (std::size_t k = 0; k < 21 * 19; ++k) {
    const double place = x.at(k % 21).value;
    double expected = -1.0;
    if (std::abs(place) <= 1.2e-3) expected = std::abs(first[k]);
    if (std::abs(place - 2.4e-3) <= 1.2e-3) expected = std::max(expected, std::abs(second[k]));
    if (expected < 0.0) {
      EXPECT_TRUE(std::isnan(envelope()[k])) << k;
      EXPECT_EQ(display()[k], 0) << k;
      continue;
    }
    columns.insert(k % 21);
    error += std::pow(envelope()[k] - expected, 2);
    all += expected * expected;
  }
  EXPECT_EQ(columns.size(), 9U);
  EXPECT_LT(std::sqrt(error / all), GetParam().tolerance);
  EXPECT_EQ(*std::max_element(display(), display() + 21 * 19), 255) << "the highest envelope is the reference";
}

TEST_P(ScanImages, CountEveryFrameOnceAndGoOnWhereTheyWere) {
  scan().step = Metres(0.8e-3);
  scan().coverage = Metres(2e-3);
  begin(false);
  const auto counts = [&] { return setup->scan->record->counts(); };
  image(0);
  const std::vector<float> before(envelope(), envelope() + 21 * 19);
  // Of the cells two counts long 0 and 1 (nearest to 0.4 mm is either: the farther one from 0) are of different ones.
  EXPECT_EQ(last().scan_cells, 1U);
  for (const int count : {0, 0}) {
    image(count, false);
    EXPECT_EQ(last().scan_cells, 1U) << "of a cell that is there";
  }
  image(-1, false);
  EXPECT_EQ(last().scan_cells, 2U);
  image(std::nullopt, false);
  EXPECT_EQ(last().scan_cells, 2U) << "from nobody knows where";
  image(100, false);
  EXPECT_EQ(last().scan_cells, 2U) << "outside";
  EXPECT_EQ(counts().cells, 2U) << "0 and -1";
  EXPECT_EQ(counts().repeated, 2U);
  EXPECT_EQ(counts().without_position, 1U);
  EXPECT_EQ(counts().outside, 1U);
  EXPECT_EQ(counts().refused, 0U);
  const std::vector<float> grown(envelope(), envelope() + 21 * 19);

  begin(false);  // the sender comes again
  image(0, false);
  EXPECT_EQ(last().scan_cells, 2U);
  EXPECT_EQ(counts().cells, 2U);
  EXPECT_EQ(counts().repeated, 3U);
  EXPECT_TRUE(std::equal(grown.begin(), grown.end(), envelope(),
                         [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }));

  setup->scan->record->clear();
  image(std::nullopt, false);
  EXPECT_EQ(counts().cells, 0U);
  EXPECT_TRUE(std::all_of(envelope(), envelope() + 21 * 19, [](float value) { return std::isnan(value); }));
  image(0, false);
  EXPECT_EQ(counts().cells, 1U);
}

TEST_P(ScanImages, PositionsThatCannotBeAreCountedAndLeaveTheRest) {
  scan().path = ScanPath::circle;
  scan().centre = {Metres(0.0), Metres(0.0), Metres(20e-3)};
  scan().axis = {1.0, 0.0, 0.0};  // along the array: a turned grid would lie in another plane
  scan().encoder_step = Metres(1e-3);
  begin(false);
  image(0);
  const std::vector<float> before(envelope(), envelope() + 21 * 19);
  image(40, false);  // beyond a quarter of the way round, where elements face away from +z
  EXPECT_EQ(setup->scan->record->counts().refused, 1U);
  EXPECT_NE(setup->scan->record->refusal().find("emission"), std::string::npos) << setup->scan->record->refusal();
  EXPECT_TRUE(std::equal(before.begin(), before.end(), envelope()));
  image(1);
  EXPECT_EQ(setup->scan->record->counts().cells, 2U);
}

TEST_P(ScanImages, MayCoverLessThanAPixelAtATime) {
  configuration.grid.pixels = {20, 19};  // no pixel lies in the middle
  scan().coverage = Metres(0.05e-3);
  begin(false);
  const Axis x{Metres(-5.1e-3), Metres(5.3e-3), 20};
  scan().origin = x.at(7);
  begin(false);
  image(0);
  image(-1);  // between two columns
  EXPECT_EQ(setup->scan->record->counts().cells, 1U);
  EXPECT_EQ(setup->scan->record->counts().outside, 1U);
  for (std::size_t k = 0; k < 20 * 19; ++k) EXPECT_EQ(std::isfinite(envelope()[k]), k % 20 == 7) << k;
}

TEST_P(ScanImages, OfACircleWhoseGridReachesBelowItsAxis) {
  scan().path = ScanPath::circle;
  scan().centre = {Metres(0.0), Metres(0.0), Metres(5e-3)};  // above the middle of the grid: from there the probe would look up
  scan().encoder_step = Metres(1e-3);
  begin(false);
  image(0);
  EXPECT_EQ(setup->scan->record->counts().cells, 1U);
  EXPECT_EQ(setup->scan->record->counts().refused, 0U);
}

TEST_P(ScanImages, PositionsThatCoverMoreAreWeighedWithTheImage) {
  if (GetParam().backend != BackendKind::cpu) GTEST_SKIP() << "the host's memory alone";
  configuration.grid.pixels = {210, 190};
  scan().path = ScanPath::circle;
  scan().centre = {Metres(0.0), Metres(0.0), Metres(20e-3)};
  scan().encoder_step = Metres(1e-3);
  scan().coverage = Metres(0.5e-3);
  begin(false);
  const Metres oblique(5e-3);  // the strip is no column of pixels any more, and its box is much wider
  const auto need = [&](const ImagingSetup& of) { return static_cast<double>(host_memory(of, 2, imaging_site(configuration))); };
  const double alone = need(*setup->scan->position(oblique).setup);
  ASSERT_GT(alone, need(*setup->scan->model));
  configuration.imaging.memory_limit = std::max(alone, need(*setup)) + 1.0;
  begin(false);
  image(0, false);
  image(5, false);
  EXPECT_EQ(setup->scan->record->counts().cells, 1U);
  EXPECT_EQ(setup->scan->record->counts().refused, 1U);
  EXPECT_NE(setup->scan->record->refusal().find("memory_limit"), std::string::npos) << setup->scan->record->refusal();
}

TEST_P(ScanImages, GoOnFromTheReferenceOfTheEngineBefore) {
  begin(false);
  image(0);
  const std::size_t display = setup->recipe.find("LL", OutputKind::display).value();
  float peak = 0.0F;
  for (std::size_t k = 0; k < 21 * 19; ++k) peak = std::fmax(peak, envelope()[k]);  // NaN where nothing was imaged
  EXPECT_FLOAT_EQ(last().outputs[display].reference, peak);
  EXPECT_FLOAT_EQ(engine->reference(display), peak);

  begin(false);
  EXPECT_EQ(engine->reference(display), 0.0F);
  engine->resume(display, 3.0F * peak);
  image(0, false);
  // A tenth of the way from 3 peaks to 1.
  EXPECT_NEAR(last().outputs[display].reference, 2.8F * peak, 1e-5F * peak);
  EXPECT_NEAR(engine->reference(display), 2.8F * peak, 1e-5F * peak);
}

TEST_P(ScanImages, TakeNewDisplaySettingsAsTheyGo) {
  begin(false);
  image(0);
  const auto before = std::vector<std::uint8_t>(display(), display() + 21 * 19);
  section<OutputSection>(configuration).dynamic_range_db = 20.0;
  const auto wanted = retune_imaging(*setup, configuration, 2);
  ASSERT_NE(wanted, nullptr);
  ASSERT_TRUE(engine->retune(*wanted));
  image(0, false);
  EXPECT_EQ(setup->scan->record->counts().repeated, 1U);
  EXPECT_FALSE(std::equal(before.begin(), before.end(), display()));
}

INSTANTIATE_TEST_SUITE_P(, ScanImages, testing::ValuesIn(places()), place_name);

TEST(ScanSettings, WhatCannotBeIsOneLine) {
  Configuration configuration;
  configuration.file = "scan.toml";
  ScanSection& scan = section<ScanSection>(configuration);
  const auto message = [&] { return input_error([&] { check_scan(configuration); }); };
  EXPECT_EQ(message(), "");
  scan.path = ScanPath::line;
  EXPECT_EQ(message(),
            "scan.toml: [grid] x: found none; expected [first, last] in m: the image of a scan stays where the part is");
  configuration.grid.x = {Metres(0.0), Metres(1.0)};
  configuration.grid.z = {Metres(0.0), Metres(1.0)};
  EXPECT_EQ(message(), "");
  scan.sign = 0.5;
  EXPECT_EQ(message(), "scan.toml: [scan] sign: found 0.5; expected 1 or -1");
  scan.sign = -1.0;
  scan.direction = {};
  EXPECT_EQ(message(), "scan.toml: [scan] direction: found [0, 0, 0]; expected a direction: three numbers of which one is not 0");
}

TEST(Encoder, CellsAreThoseNearest) {
  const EncoderScale scale{Metres(0.01), Metres(-1e-3), Metres(4e-3)};
  EXPECT_DOUBLE_EQ(scale.position(30).value, -0.02);
  EXPECT_EQ(scale.cell(Metres(0.0019)), 0);
  EXPECT_EQ(scale.cell(Metres(0.0021)), 1);
  EXPECT_EQ(scale.cell(Metres(-0.0021)), -1);
  EXPECT_EQ(scale.cell(scale.position(INT64_MAX)), scale.cell(scale.position(INT64_MAX - 1))) << "no number is too large";
}

TEST(Encoder, APathThatClosesHasEachPlaceOnce) {
  const EncoderScale scale{Metres(0.0), Metres(1e-3), Metres(4e-3), Metres(90e-3)};
  for (const int turns : {-3, -1, 1, 2}) {
    for (int count = -44; count <= 44; ++count) {
      EXPECT_NEAR(scale.place(scale.position(count + 90 * turns)).value, 1e-3 * count, 1e-12) << count;
      if (count % 4 == 2 || count % 4 == -2) continue;  // between two cells, where rounding decides
      EXPECT_EQ(scale.cell(scale.position(count + 90 * turns)), scale.cell(scale.position(count))) << count;
    }
  }
  EXPECT_EQ(scale.place(Metres(-45e-3)), Metres(45e-3)) << "one place where it closes";
  std::set<std::int64_t> cells;
  for (int count = 0; count < 9000; ++count) cells.insert(scale.cell(Metres(1e-5 * count)));
  EXPECT_EQ(cells.size(), 23U) << "22 of 4 mm, and what is left";
}

}  // namespace
}  // namespace echoform::test
