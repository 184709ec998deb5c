// A pipeline under live control, frames with known samples, and for every image that came out what a fresh engine makes of the
// same samples.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "acquisition/frame_layout.hpp"
#include "control/control.hpp"
#include "methods/display_settings.hpp"
#include "settings/reader.hpp"
#include "tests/pipeline/support.hpp"

namespace echoform::test {

inline constexpr std::string_view rig_file = R"(
[material]
longitudinal_velocity = 6000.0
[grid]
x = [-0.002, 0.002]
z = [0.002, 0.008]
pixels = [16, 20]
[imaging]
threads = 1
[output]
reference = "fixed"
reference_value = 500.0
)";

inline Acquisition rig_acquisition(std::size_t elements = 8) {
  return small_acquisition(elements, 160);
}

/// Samples of a frame: noise, the same for equal sequences modulo 3.
inline void fill_noise(std::span<std::byte> place, std::uint64_t sequence, std::uint32_t transmit) {
  std::uint32_t state = static_cast<std::uint32_t>(1 + sequence % 3) * 2654435761U + transmit * 40503U;
  for (std::size_t at = 0; at + 2 <= place.size(); at += 2) {
    state = state * 1664525U + 1013904223U;
    const auto sample = static_cast<std::int16_t>(static_cast<std::int32_t>(state >> 20) - 2048);
    std::memcpy(place.data() + at, &sample, 2);
  }
}

struct SeenImage {
  std::vector<float> envelope;
  std::vector<std::uint8_t> display;
  bool operator==(const SeenImage&) const = default;
};

struct SeenFrame {
  std::uint64_t sequence = 0;
  std::uint64_t revision = 0;
  DisplayScale scale;
  std::vector<SeenImage> images;  // by view
};

inline std::vector<SeenImage> copy_images(const FrameSlot& slot, const ImagingSetup& setup) {
  std::vector<SeenImage> images;
  for (const std::string_view view : setup.recipe.views()) {
    const std::size_t of_envelope = setup.recipe.find(view, OutputKind::envelope).value();
    const std::size_t of_display = setup.recipe.find(view, OutputKind::display).value();
    const auto* const envelope = static_cast<const float*>(slot.outputs[of_envelope].data.data());
    const auto* const display = static_cast<const std::uint8_t*>(slot.outputs[of_display].data.data());
    images.push_back({{envelope, envelope + setup.recipe.outputs[of_envelope].description.grid.pixels()},
                      {display, display + setup.recipe.outputs[of_display].description.grid.pixels()}});
  }
  return images;
}

class SeeingSink final : public ImageSink {
 public:
  void setup_changed(std::shared_ptr<const ImagingSetup> /*setup*/) override {}
  void publish(const FinishedFrame& frame) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      if (!frame.counters.closes()) ++open_books;
      if (frame.slot.outputs.size() != frame.setup.recipe.outputs.size()) ++mixed;
      frames_.push_back(
          {frame.slot.sequence, frame.setup.settings_revision, frame.setup.scale, copy_images(frame.slot, frame.setup)});
    }
    changed_.notify_all();
  }
  [[nodiscard]] std::string describe() const override { return "seeing sink"; }

  /// Waits for a frame of this revision or a later one.
  [[nodiscard]] bool wait_revision(std::uint64_t revision) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return !frames_.empty() && frames_.back().revision >= revision; });
  }
  [[nodiscard]] bool wait_count(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return frames_.size() >= count; });
  }
  [[nodiscard]] std::vector<SeenFrame> frames() {
    const std::lock_guard lock(mutex_);
    return frames_;
  }

  std::atomic<int> open_books{0}, mixed{0};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<SeenFrame> frames_;
};

/// Sends frames until stopped; waits where the pipeline holds it back.
class Feeder {
 public:
  Feeder(FrameIntake& intake, std::uint64_t first = 0) : intake_(intake), lane_(intake.open_lane(bell_.wake())), next_(first) {}
  ~Feeder() { stop(); }
  void send_one() {
    for (std::uint32_t tx = 0; tx < intake_.acquisition().elements(); ++tx) {
      ShotPlace place = intake_.begin_shot(lane_, {next_, tx, {}}, shot_bytes(intake_.acquisition(), tx));
      while (place.verdict == ShotVerdict::wait) {
        EXPECT_TRUE(bell_.wait());
        place = intake_.begin_shot(lane_, {next_, tx, {}}, shot_bytes(intake_.acquisition(), tx));
      }
      if (place.verdict != ShotVerdict::accepted) continue;
      fill_noise(place.place, next_, tx);
      intake_.finish_shot(lane_, place.ticket);
    }
    ++next_;
  }
  void start() {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) send_one();
    });
  }
  void stop() {
    if (thread_.joinable()) {
      thread_.request_stop();
      thread_.join();
    }
    if (lane_ != 0) intake_.close_lane(std::exchange(lane_, 0));
  }
  [[nodiscard]] std::uint64_t sent() const { return next_; }

 private:
  FrameIntake& intake_;
  Bell bell_;
  LaneId lane_;
  std::uint64_t next_;
  std::jthread thread_;
};

class Rig {
 public:
  explicit Rig(BackendKind backend = BackendKind::cpu, std::string_view file = rig_file, EngineFactory engines = make_engine,
               std::function<void(const ImagingSetup&)> device_room = {})
      : configuration(parse_configuration(file, "scan.toml")),
        choice{.automatic = false, .kind = backend, .threads = 1},
        made(std::make_shared<std::atomic<int>>(0)),
        pipeline(options(configuration, choice, std::move(device_room)), Control::first_setup_factory(configuration, {}), {sink},
                 clock,
                 [counted = made, engines](auto setup, const auto& wish, const auto& given) {
                   ++*counted;
                   return engines(std::move(setup), wish, given);
                 }),
        control(configuration, {}, pipeline) {
    in_force[1] = configuration;
  }

  static PipelineOptions options(const Configuration& configuration, const BackendChoice& choice,
                                 std::function<void(const ImagingSetup&)> device_room = {}) {
    PipelineOptions options;
    options.slots = configuration.input.slots;
    options.policy = configuration.input.drop_policy;
    options.backend = choice;
    options.memory_limit = static_cast<std::size_t>(configuration.imaging.memory_limit.value_or(4e9));
    options.drain_limit = patience;
    options.require_device_room = std::move(device_room);
    return options;
  }

  wire::ControlReply ask(const std::string& action, const std::vector<std::pair<std::string, std::string>>& changes = {},
                         std::uint64_t expected = 0) {
    wire::ControlRequest request;
    request.set_action(action);
    request.set_expected_revision(expected);
    for (const auto& [key, value] : changes) {
      auto& change = *request.add_changes();
      change.set_key(key);
      change.set_value(value);
    }
    return control.handle(request);
  }
  /// A change that is expected to succeed; what is then in force is kept for expected_images().
  std::uint64_t set(const std::vector<std::pair<std::string, std::string>>& changes) {
    const wire::ControlReply reply = ask("set", changes);
    EXPECT_EQ(reply.outcome(), wire::DONE) << reply.reason();
    in_force[reply.revision()] = control.configuration();
    return reply.revision();
  }

  /// The images that a fresh engine makes with the settings of that revision.
  const std::vector<SeenImage>& expected_images(std::uint64_t revision, std::uint64_t sequence) {
    auto& images = expected_[{revision, sequence % 3}];
    if (!images.empty()) return images;
    const auto setup = Control::first_setup_factory(in_force.at(revision), {})(rig_acquisition());
    const auto engine = make_engine(setup, choice, {});
    FrameSlot slot;
    engine->equip(slot);
    const Acquisition& acquisition = setup->acquisition;
    for (std::uint32_t tx = 0; tx < acquisition.elements(); ++tx) {
      const ByteRange bytes = FrameLayout(acquisition).shot_bytes(tx);
      fill_noise({slot.samples.bytes_begin() + bytes.first, bytes.count}, sequence, tx);
    }
    EXPECT_TRUE(image_now(*engine, slot));
    return images = copy_images(slot, *setup);
  }

  /// All frames that were sent came out, in order, each wholly by the settings of the revision that it carries.
  void check_all(std::uint64_t sent) {
    pipeline.stop();
    const auto frames = sink->frames();
    ASSERT_EQ(frames.size(), sent);
    std::uint64_t revision = 1;
    for (std::size_t k = 0; k < frames.size(); ++k) {
      ASSERT_EQ(frames[k].sequence, k);
      ASSERT_GE(frames[k].revision, revision) << "settings do not go back";
      revision = frames[k].revision;
      ASSERT_EQ(frames[k].images, expected_images(revision, k)) << "sequence " << k << ", revision " << revision;
      ASSERT_EQ(frames[k].scale.gain_db, section<OutputSection>(in_force.at(revision)).gain_db);
    }
    EXPECT_EQ(sink->open_books, 0);
    EXPECT_EQ(sink->mixed, 0);
    const CounterSnapshot counters = pipeline.counters();
    EXPECT_TRUE(counters.closes());
    EXPECT_EQ(counters.frames_received, sent);
    EXPECT_EQ(counters.frames_published, sent);
    EXPECT_EQ(counters.dropped(), 0U);
  }

  Configuration configuration;
  BackendChoice choice;
  SystemClock clock;
  std::shared_ptr<SeeingSink> sink = std::make_shared<SeeingSink>();
  std::shared_ptr<std::atomic<int>> made;  // engines
  Pipeline pipeline;
  Control control;
  std::map<std::uint64_t, Configuration> in_force;  // by revision

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<SeenImage>> expected_;
};

}  // namespace echoform::test
