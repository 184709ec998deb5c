// Frames imaged by groups: the bits do not depend on how many are read ahead, and images are those of the whole frame.
#include "engines/group_imager.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <tuple>

#include "acquisition/positions.hpp"
#include "base/errors.hpp"
#include "cpu/thread_team.hpp"
#include "methods/registry.hpp"
#include "methods/tfm/section.hpp"
#include "tests/engine/places.hpp"

namespace echoform::test {
namespace {

constexpr double wave_degrees = std::numbers::pi / 180.0;

struct Case {
  std::string name;
  MatrixKind matrix = MatrixKind::full;
  std::vector<std::string> views{"LL"};
  SampleEncoding encoding = SampleEncoding::int16;
  std::vector<TransmitEvent> events{};
  std::vector<std::uint32_t> chosen{};
  bool weighted = false;
  std::size_t volume = 1;  // pixels along y
  std::size_t groups = 3;
  std::size_t elements = 36;
};

std::vector<TransmitEvent> plane_waves(std::size_t count) {
  std::vector<TransmitEvent> events;
  for (std::size_t k = 0; k < count; ++k) {
    events.push_back({plane_wave((static_cast<double>(k) - 15.0) * wave_degrees, MetresPerSecond(6320.0)), {}});
  }
  return events;
}

std::vector<TransmitEvent> sparse(std::size_t count) {
  std::vector<TransmitEvent> events;
  for (std::uint32_t k = 0; k < count; ++k) events.push_back({ElementEvent{(7 * k) % 36}, {}});
  for (std::uint32_t receiver = 3; receiver < 30; ++receiver) events.back().receivers.push_back(receiver);
  return events;
}

/// Each element fires and is recorded by itself and by some of those that follow it, round the array.
std::vector<TransmitEvent> walking(std::uint32_t elements, std::uint32_t receivers) {
  std::vector<TransmitEvent> events;
  for (std::uint32_t element = 0; element < elements; ++element) {
    events.push_back({ElementEvent{element}, {}});
    for (std::uint32_t k = 0; k < receivers; ++k) events.back().receivers.push_back((element + 3 * k) % elements);
  }
  return events;
}

std::shared_ptr<ImagingPlan> plan_of_case(const Case& of, const Place& place = cpu_place) {
  auto plan = make_plan(place, of.encoding, of.matrix, {}, 191, of.elements);
  plan->acquisition.events = of.events;
  plan->acquisition.probe.elements[5].dead = true;
  plan->events = of.chosen;
  if (of.weighted) plan->apodization.window = ApodizationWindow::hann;
  if (of.volume > 1) plan->grid.y = {Metres(-1e-3), Metres(1e-3), of.volume};
  const auto legs = std::make_shared<LegCache>();
  for (const auto& view : of.views) {
    plan->laws.push_back(make_delay_law("contact", {plan->acquisition, plan->material, view, plan->scene, legs, of.chosen}));
  }
  return plan;
}

std::shared_ptr<const ImagingSetup> grouped(const ImagingPlan& plan) {
  auto by_groups = std::make_shared<ImagingPlan>(plan);
  by_groups->by_groups = true;
  return make_imaging_setup(by_groups, {.complex_images = true});
}

/// Hands out rows of a frame in memory.
GroupImager::Read reader_of(const Frame& frame, const Acquisition& acquisition) {
  return [&frame, row_bytes = acquisition.bytes_per_a_scan()](std::span<const RowRange> rows, std::span<std::byte> to) {
    for (const RowRange& range : rows) {
      ASSERT_LE(range.count * row_bytes, to.size());
      std::memcpy(to.data(), frame.bytes.data() + range.first * row_bytes, range.count * row_bytes);
      to = to.subspan(range.count * row_bytes);
    }
    EXPECT_TRUE(to.empty());
  };
}

BackendChoice choice_at(const Place& place) {
  return {.automatic = false, .kind = place.backend, .threads = 2};
}

/// On CUDA groups go by the float path.
std::vector<Place> places_of_groups() {
  return {cpu_place, float_place};
}

/// That images by the groups of `setup` are `whole`, and the same bits whatever is read ahead.
void expect_whole_frames_image(const std::shared_ptr<const ImagingSetup>& setup, const Frame& frame, const Imaged& whole,
                               const Place& place) {
  const Acquisition& acquisition = setup->acquisition;
  const std::vector<std::string_view> views = setup->recipe.views();
  const std::size_t count = setup->groups->count();

  std::vector<std::vector<SummedImage>> found;
  for (const std::size_t read_ahead : {std::size_t{2}, std::size_t{3}, count}) {
    const auto imager = make_group_imager(setup, choice_at(place), read_ahead);
    EXPECT_EQ(imager->backend(), place.backend);
    EXPECT_EQ(imager->read_ahead(), std::max(std::size_t{2}, std::min(read_ahead, count)));
    std::vector<std::size_t> told;
    // Twice: nothing of a frame is left in the next.
    for (int again = 0; again < 2; ++again)
      imager->image(reader_of(frame, acquisition), [&](std::size_t groups) { told.push_back(groups); });
    EXPECT_EQ(told.size(), 2 * count);
    EXPECT_EQ(told.back(), count);
    EXPECT_EQ(imager->invalid_samples(), whole.slot.invalid_samples);
    found.push_back(imager->images());
  }
  ASSERT_EQ(found[0].size(), views.size());
  for (std::size_t view = 0; view < views.size(); ++view) {
    const SummedImage& image = found[0][view];
    EXPECT_EQ(image.view, views[view]);
    for (const auto& other : found) {
      EXPECT_EQ(std::memcmp(other[view].analytic.data(), image.analytic.data(), image.analytic.size() * 8), 0);
      EXPECT_EQ(std::memcmp(other[view].envelope.data(), image.envelope.data(), image.envelope.size() * 4), 0);
    }
    const std::vector<Complex> expected(whole.complex(view), whole.complex(view) + image.analytic.size());
    // Sums of some 1300 terms in single precision, in another order: each rounding is at most 6e-8 of the sum so far, and they
    // add up as a random walk, some 36 * 6e-8 of it on the whole frame's side. On CUDA tiles of another shape may be taken, whose
    // delays are whole numbers of other fractions: either image is within 1.5e-5 of double precision (docs/gpu.md).
    EXPECT_LT(relative_error(image.analytic.data(), expected), place.backend == BackendKind::cuda ? 3e-5 : 2e-6);
    for (std::size_t k = 0; k < image.envelope.size(); ++k) {
      ASSERT_NEAR(image.envelope[k], std::abs(Complex(image.analytic[k])), 1e-6F * image.envelope[k]);
    }
  }
}

class ByGroups : public testing::TestWithParam<std::tuple<Case, Place>> {
 protected:
  void SetUp() override {
    if (std::get<Place>(GetParam()).backend == BackendKind::cuda) ECHOFORM_REQUIRE_GPU();
  }
};

TEST_P(ByGroups, TheImageIsTheWholeFramesWhateverIsReadAhead) {
  const auto& [of, place] = GetParam();
  const auto plan = plan_of_case(of, place);
  const Frame frame = random_frame(plan->acquisition, 31);
  const Imaged whole = image_of(place, plan, frame);
  const auto setup = grouped(*plan);
  ASSERT_NE(setup->groups, nullptr);
  EXPECT_EQ(setup->groups->count(), of.groups);
  expect_whole_frames_image(setup, frame, whole, place);
}

INSTANTIATE_TEST_SUITE_P(
    EveryKind, ByGroups,
    testing::Combine(
        testing::Values(
            Case{"full", MatrixKind::full, {"LL"}, SampleEncoding::int16, {}, {}, false, 1, 6},
            Case{"packed", MatrixKind::full, {"LL", "TT"}, SampleEncoding::packed12, {}, {}, false, 1, 6},
            Case{"two_modes", MatrixKind::full, {"LT", "TL"}, SampleEncoding::float32, {}, {}, false, 1},
            Case{"weighted", MatrixKind::full, {"LL"}, SampleEncoding::int16, {}, {}, true, 1, 6},
            Case{"volume", MatrixKind::full, {"LL"}, SampleEncoding::int16, {}, {}, false, 3, 6},
            Case{"half", MatrixKind::half, {"LL"}, SampleEncoding::int16, {}, {}, false, 1, 6},
            Case{"half_two_modes", MatrixKind::half, {"LT", "TL"}, SampleEncoding::int16, {}, {}, false, 1, 6},
            Case{"half_summed", MatrixKind::half_summed, {"LL"}, SampleEncoding::float32, {}, {}, false, 1, 6},
            Case{"half_summed_two_modes", MatrixKind::half_summed, {"LT"}, SampleEncoding::int16, {}, {}, false, 1, 6},
            Case{"sparse", MatrixKind::full, {"LL"}, SampleEncoding::int16, sparse(30), {}, false, 1, 2},
            Case{"pulse_echo", MatrixKind::full, {"LL", "LT"}, SampleEncoding::int16, walking(36, 1), {}, false, 1, 1},
            Case{"chosen_pulse_echo", MatrixKind::full, {"LL"}, SampleEncoding::int16, walking(36, 1), {4, 5, 30}, true, 1, 1},
            Case{"walking", MatrixKind::full, {"LL"}, SampleEncoding::int16, walking(80, 20), {}, true, 1, 2, 80},
            Case{"chosen", MatrixKind::full, {"LL"}, SampleEncoding::int16, {}, {0, 2, 3, 5, 20, 21, 30}, false, 1, 1},
            Case{"plane_waves", MatrixKind::full, {"LL", "LT"}, SampleEncoding::int16, plane_waves(31), {}, false, 1, 2},
            Case{"chosen_waves", MatrixKind::full, {"LL"}, SampleEncoding::int16, plane_waves(31), {1, 4, 5, 17}, false, 1, 1}),
        testing::ValuesIn(places_of_groups())),
    [](const auto& tested) { return std::get<Case>(tested.param).name + "_" + std::get<Place>(tested.param).name; });

class ByGroupsAt : public EnginesAt {};
INSTANTIATE_TEST_SUITE_P(Everywhere, ByGroupsAt, testing::ValuesIn(places_of_groups()), place_name);

/// 20 elements at three positions, which fire by turns where `mixed`; of the middle one but some do, and record.
Acquisition at_positions(bool mixed) {
  Acquisition acquisition = make_plan(cpu_place, SampleEncoding::int16, MatrixKind::full, {}, 320, 20)->acquisition;
  acquisition.positions = line_of_poses(3, Metres(1.1e-3), {1.0, 0.0, 0.0});
  for (std::uint32_t k = 0; k < 60; ++k) {
    TransmitEvent event;
    event.form = ElementEvent{mixed ? k / 3 : k % 20};
    event.position = mixed ? k % 3 : k / 20;
    if (event.position == 1 && std::get<ElementEvent>(event.form).element % 4 != 1) continue;
    if (event.position == 1) event.receivers = {0, 3, 4, 19};
    acquisition.events.push_back(event);
  }
  return acquisition;
}

TEST_P(ByGroupsAt, GroupsAreOfOnePositionOfTheProbeEach) {
  for (const bool mixed : {false, true}) {
    for (const auto& views : {std::vector<std::string>{"LL"}, std::vector<std::string>{"LL", "LT"}}) {
      const Acquisition acquisition = at_positions(mixed);
      Configuration configuration;
      configuration.grid.x = {Metres(-5.1e-3), Metres(5.3e-3)};
      configuration.grid.z = {Metres(1.03e-3), Metres(11.9e-3)};
      configuration.grid.pixels = {21, 19};
      configuration.material = {MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
      tfm(configuration).views = views;
      tfm(configuration).accuracy = GetParam().accuracy;
      configuration.imaging.backend = GetParam().backend == BackendKind::cuda ? BackendWish::cuda : BackendWish::cpu;
      const auto setup_for = [&](GroupWish wish) {
        return resolve_imaging({.configuration = configuration,
                                .acquisition = acquisition,
                                .frames_in_flight = 1,
                                .wish = {.complex_images = true},
                                .groups = wish});
      };
      const Frame frame = random_frame(acquisition, 12);
      Imaged whole;
      whole.engine = make_engine(setup_for(GroupWish::never), choice_at(GetParam()), {});
      whole.engine->equip(whole.slot);
      put(frame, whole.slot);
      ASSERT_TRUE(image_now(*whole.engine, whole.slot));
      const auto setup = setup_for(GroupWish::always);
      ASSERT_NE(setup->groups, nullptr);
      // 20 elements are two ranges of 10 both ways, or two times 16 events; the sparse ones are one group.
      const std::vector<std::uint32_t> of_position =
          views.size() == 1 ? std::vector<std::uint32_t>{0, 0, 0, 1, 2, 2, 2} : std::vector<std::uint32_t>{0, 0, 1, 2, 2};
      ASSERT_EQ(setup->groups->count(), of_position.size());
      const FrameLayout layout(acquisition);
      for (std::size_t group = 0; group < of_position.size(); ++group) {
        for (const RowRange& range : setup->groups->rows(group)) {
          for (std::size_t row = range.first; row < range.first + range.count; ++row) {
            const auto event = layout.pairs()[row].event;
            ASSERT_EQ(acquisition.events[event].position, of_position[group]) << "group " << group << ", row " << row;
          }
        }
      }
      expect_whole_frames_image(setup, frame, whole, GetParam());
    }
  }
}

TEST_P(ByGroupsAt, EnginesTakeTheNextGroupsOptionsAsTheyAre) {
  // Tables of delays are made once.
  const Case both_ways{"", MatrixKind::full, {"LL"}};
  const Case one_way{"", MatrixKind::full, {"LT"}};
  const Case of_walking{"", MatrixKind::full, {"LL"}, SampleEncoding::int16, walking(80, 20), {}, false, 1, 2, 80};
  for (const Case& of : {both_ways, one_way, of_walking}) {
    const auto setup = grouped(*plan_of_case(of, GetParam()));
    const auto engine = make_engine(setup->groups->setup(0), choice_at(GetParam()), {.eager = true});
    for (std::size_t group = 1; group < setup->groups->count(); ++group) {
      EXPECT_TRUE(engine->retune(*setup->groups->setup(group))) << group;
    }
  }
}

TEST(ThreadTeam, DoesWorkBesideLoopsOneMemberAtATime) {
  ThreadTeam team(3);
  std::atomic<int> inside{0};
  bool alone = true;
  std::size_t times = 0;  // guarded by being alone
  team.set_beside([&] {
    alone = alone && inside.fetch_add(1) == 0;
    ++times;
    inside.fetch_sub(1);
  });
  std::vector<std::atomic<int>> items(5000);
  const auto body = [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
    for (std::size_t k = first; k < last; ++k) ++items[k];
  };
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, items.size()}) team.for_each(count, 7, body);
  EXPECT_TRUE(alone);
  EXPECT_GE(times, 2U);                         // in each loop that has items
  EXPECT_LE(times, 1 + 715 + 2 * team.size());  // before each piece, and before members find that there is none
  for (std::size_t k = 0; k < items.size(); ++k) ASSERT_EQ(items[k], k == 0 ? 2 : 1);
  const std::size_t before = times;
  team.set_beside({});
  team.for_each(items.size(), 7, body);
  EXPECT_EQ(times, before);
}

TEST_P(ByGroupsAt, GroupsAreReadInOrderByOneThreadAtATimeWhileOthersAreImaged) {
  const auto plan = plan_of_case({"", MatrixKind::full}, GetParam());
  const Frame frame = random_frame(plan->acquisition, 3);
  const auto setup = grouped(*plan);
  const auto imager = make_group_imager(setup, choice_at(GetParam()), 2);
  const auto read = reader_of(frame, plan->acquisition);
  std::vector<RowRange> wanted;
  for (std::size_t group = 0; group < setup->groups->count(); ++group) {
    const auto rows = setup->groups->rows(group);
    wanted.insert(wanted.end(), rows.begin(), rows.end());
  }
  std::atomic<int> inside{0};
  std::vector<RowRange> asked;
  std::atomic<std::size_t> imaged{0};
  bool meanwhile = false;  // the last group was read before the last but one was imaged
  imager->image(
      [&](std::span<const RowRange> rows, std::span<std::byte> to) {
        EXPECT_EQ(inside.fetch_add(1), 0);
        asked.insert(asked.end(), rows.begin(), rows.end());
        read(rows, to);
        if (asked.size() == wanted.size()) meanwhile = imaged + 1 < setup->groups->count();
        inside.fetch_sub(1);
      },
      [&](std::size_t groups) { imaged = groups; });
  EXPECT_EQ(asked, wanted);
  // A GPU is told of groups before it images them.
  EXPECT_TRUE(meanwhile || GetParam().backend == BackendKind::cuda);
}

TEST_P(ByGroupsAt, NothingOfWhatWasLoadedIsLeftAndMoreMayBeReadAheadLater) {
  const auto plan = plan_of_case({"", MatrixKind::full}, GetParam());
  const Frame frame = random_frame(plan->acquisition, 17);
  const auto setup = grouped(*plan);
  const auto read = reader_of(frame, plan->acquisition);
  const auto expected = make_group_imager(setup, choice_at(GetParam()), 2);
  expected->image(read, [](std::size_t) {});
  const auto imager = make_group_imager(setup, choice_at(GetParam()), 2);
  imager->load();
  for (const std::size_t read_ahead : {std::size_t{1}, setup->groups->count() + 5}) {
    imager->read_further_ahead(read_ahead);
    EXPECT_EQ(imager->read_ahead(), read_ahead == 1 ? 2 : setup->groups->count());
    imager->image(read, [](std::size_t) {});
    EXPECT_EQ(imager->invalid_samples(), expected->invalid_samples());
    ASSERT_EQ(imager->images().size(), expected->images().size());
    for (std::size_t view = 0; view < imager->images().size(); ++view) {
      const auto& image = imager->images()[view].analytic;
      const auto& before = expected->images()[view].analytic;
      ASSERT_EQ(image.size(), before.size());
      EXPECT_EQ(std::memcmp(image.data(), before.data(), image.size() * sizeof(image[0])), 0);
    }
  }
}

TEST_P(ByGroupsAt, WhatReadingThrowsIsThrown) {
  const auto plan = plan_of_case({"", MatrixKind::full}, GetParam());
  const Frame frame = random_frame(plan->acquisition, 3);
  const auto imager = make_group_imager(grouped(*plan), choice_at(GetParam()), 2);
  const auto read = reader_of(frame, plan->acquisition);
  for (int bad = 0; bad < 6; ++bad) {
    std::atomic<int> reads{0};
    const auto fails = [&](std::span<const RowRange> rows, std::span<std::byte> to) {
      if (reads++ == bad) throw InputError("file", "damage", "none");
      read(rows, to);
    };
    EXPECT_THAT([&] { imager->image(fails, [](std::size_t) {}); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr("damage")));
  }
  EXPECT_NO_THROW(imager->image(read, [](std::size_t) {}));
}

}  // namespace
}  // namespace echoform::test
