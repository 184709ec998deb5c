#include "tests/faults/server_bench.hpp"
#include "methods/tfm/setup.hpp"
#include "settings/reader.hpp"

#include <cstring>
#include <numeric>

#include "methods/tfm/build_plan.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/require_gpu.hpp"
#include "transport/web/web_sink.hpp"

namespace echoform::faults {

using namespace testing_support;

namespace {

/// The engine of the server, behind the gate.
class GatedEngine final : public Engine {
 public:
  GatedEngine(std::unique_ptr<Engine> engine, ServerBench& bench) : engine_(std::move(engine)), bench_(bench) {}
  [[nodiscard]] BackendKind backend() const noexcept override { return engine_->backend(); }
  [[nodiscard]] const ImagingSetup& setup() const noexcept override { return engine_->setup(); }
  [[nodiscard]] std::string describe() const override { return engine_->describe(); }
  void equip(FrameSlot& slot) override { engine_->equip(slot); }
  void equip_outputs(FrameSlot& slot) override { engine_->equip_outputs(slot); }
  void submit(FrameSlot& slot, const Done& done) noexcept override {
    bench_.gate.pass();
    if (bench_.failing(slot)) return done(slot, false);
    engine_->submit(slot, done);
  }
  [[nodiscard]] std::size_t frames_at_once() const noexcept override { return engine_->frames_at_once(); }
  void frame_opened(FrameSlot& slot) noexcept override { engine_->frame_opened(slot); }
  void shots_arrived(FrameSlot& slot, std::size_t first_row, std::size_t rows) noexcept override {
    engine_->shots_arrived(slot, first_row, rows);
  }
  [[nodiscard]] float reference(std::size_t output) const noexcept override { return engine_->reference(output); }
  void resume(std::size_t output, float known) noexcept override { engine_->resume(output, known); }
  [[nodiscard]] bool retune(const ImagingSetup& wanted) override { return engine_->retune(wanted); }
  [[nodiscard]] std::size_t bytes() const noexcept override { return engine_->bytes(); }
  [[nodiscard]] std::size_t device_bytes() const noexcept override { return engine_->device_bytes(); }

 private:
  std::unique_ptr<Engine> engine_;
  ServerBench& bench_;
};

std::vector<std::byte> copy_of(const Buffer& buffer) {
  return {buffer.bytes_begin(), buffer.bytes_begin() + buffer.size()};
}

/// Of the first view.
PublishedImage image_in(const FrameSlot& slot, const ImagingSetup& setup, std::uint64_t sequence, WallTime published) {
  const std::string_view view = setup.recipe.views().front();
  const SlotOutput& envelope = slot.outputs[setup.recipe.find(view, OutputKind::envelope).value()];
  const SlotOutput& display = slot.outputs[setup.recipe.find(view, OutputKind::display).value()];
  return {sequence, published, display.reference, copy_of(envelope.data), copy_of(display.data)};
}

}  // namespace

void OnBackends::SetUp() {
  if (GetParam() == BackendKind::cuda) ECHOFORM_REQUIRE_GPU();
}

std::vector<BackendKind> all_backends() {
  // Always in the list, so that what is missing is seen as a skip: CUDA in the build, or a GPU.
  return {BackendKind::cpu, BackendKind::cuda};
}

std::string backend_name(const testing::TestParamInfo<BackendKind>& info) {
  return info.param == BackendKind::cpu ? "cpu" : "cuda";
}

Configuration base_configuration(BackendKind backend) {
  Configuration configuration = parse_configuration(R"(
    [material]
    longitudinal_velocity = 6000.0
    [grid]
    x = [-2e-3, 2e-3]
    z = [1e-3, 5e-3]
    pixels = [24, 20]
    [imaging]
    threads = 2
    crop = "never"
    [output]
    reference = "fixed"
    reference_value = 2000.0
    [input]
    listen = "127.0.0.1:0"
    [server]
    images = "127.0.0.1:0"
    telemetry = "127.0.0.1:0"
    web = "127.0.0.1:0"
    control = "127.0.0.1:0"
  )",
                                                    "faults.toml");
  configuration.imaging.backend = backend == BackendKind::cuda ? BackendWish::cuda : BackendWish::cpu;
  return configuration;
}

Acquisition base_acquisition(SampleEncoding encoding, MatrixKind matrix) {
  return make_acquisition(4, 96, matrix, encoding);
}

Bytes frame_of(const Acquisition& acquisition, std::uint64_t sequence) {
  Bytes frame = random_bytes(acquisition.frame_bytes(), 1000 + sequence);
  if (acquisition.encoding == SampleEncoding::int16) {
    // Never at an end of the range, so that none counts as clipped.
    for (std::size_t i = 1; i < frame.size(); i += 2) frame[i] &= std::byte{0x3F};
  } else if (acquisition.encoding == SampleEncoding::packed12) {
    for (std::size_t i = 0; i + 3 <= frame.size(); i += 3) {
      frame[i + 1] &= std::byte{0xF3};
      frame[i + 2] &= std::byte{0x3F};
    }
  } else if (acquisition.encoding == SampleEncoding::float32) {
    for (std::size_t i = 0; i + 4 <= frame.size(); i += 4) {
      std::int16_t whole = 0;
      std::memcpy(&whole, frame.data() + i, sizeof(whole));
      const float value = whole;
      std::memcpy(frame.data() + i, &value, sizeof(value));
    }
  }
  return frame;
}

Bytes shot_of(const Acquisition& acquisition, const Bytes& frame, std::uint64_t sequence, std::uint32_t transmit) {
  return shot_message(sequence, transmit, shot_payload(acquisition, frame, transmit));
}

Bytes shot_of(const Acquisition& acquisition, std::uint64_t sequence, std::uint32_t transmit) {
  return shot_of(acquisition, frame_of(acquisition, sequence), sequence, transmit);
}

Bytes frame_message(const Acquisition& acquisition, std::uint64_t sequence) {
  const Bytes frame = frame_of(acquisition, sequence);
  Bytes message;
  for (std::uint32_t transmit = 0; transmit < acquisition.elements(); ++transmit) {
    message = std::move(message) + shot_of(acquisition, frame, sequence, transmit);
  }
  return message;
}

Bytes end_message() {
  return encode_message(MessageType::end, {});
}

void Album::setup_changed(std::shared_ptr<const ImagingSetup> /*setup*/) {
  const std::lock_guard lock(mutex_);
  ++setups_;
}

void Album::publish(const FinishedFrame& frame) noexcept {
  const std::lock_guard lock(mutex_);
  images_.push_back(image_in(frame.slot, frame.setup, frame.slot.sequence, frame.publish_time));
  if (!frame.counters.closes()) ++not_closed_;
}

std::size_t Album::size() const {
  const std::lock_guard lock(mutex_);
  return images_.size();
}

std::vector<PublishedImage> Album::images() const {
  const std::lock_guard lock(mutex_);
  return images_;
}

std::vector<std::uint64_t> Album::sequences() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> all;
  for (const PublishedImage& image : images_) all.push_back(image.sequence);
  return all;
}

std::size_t Album::setups() const {
  const std::lock_guard lock(mutex_);
  return setups_;
}

std::size_t Album::not_closed() const {
  const std::lock_guard lock(mutex_);
  return not_closed_;
}

void Gate::close() {
  const std::lock_guard lock(mutex_);
  open_ = false;
}

void Gate::open() {
  {
    const std::lock_guard lock(mutex_);
    open_ = true;
  }
  changed_.notify_all();
}

void Gate::pass() {
  std::unique_lock lock(mutex_);
  ++waiting_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return open_; });
  --waiting_;
}

bool Gate::someone_waits() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return waiting_ > 0; });
}

ServerBench::ServerBench(Configuration chosen) : configuration(std::move(chosen)) {
  clock.advance(std::chrono::hours(1));
  ServerFoundations foundations;
  foundations.clock = &clock;
  foundations.engines = [this](std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                               const EngineOptions& options) {
    refusing_engines(*setup);
    ++engines_made;
    return std::make_unique<GatedEngine>(make_engine(std::move(setup), choice, options), *this);
  };
  server = std::make_unique<ImagingServer>(configuration, Material{}, std::vector<std::shared_ptr<ImageSink>>{album},
                                           std::move(foundations));
  server->start();
}

ServerBench::~ServerBench() {
  gate.open();
  server->stop();
  const CounterSnapshot last = server->pipeline().counters();
  EXPECT_TRUE(last.closes());
  EXPECT_EQ(last.frames_in_flight, 0U);
  EXPECT_EQ(album->not_closed(), 0U);
}

Books ServerBench::books() {
  Books books{server->pipeline().counters(), server->source().counters(), server->sink<WebSink>().viewer_dropped()};
  EXPECT_TRUE(books.frames.closes());
  return books;
}

bool ServerBench::published(std::uint64_t count) {
  return reaches([&] { return album->size() == count && server->pipeline().counters().frames_published == count; });
}

bool ServerBench::settled(const Books& before, std::uint64_t received) {
  return reaches([&] {
    const CounterSnapshot now = server->pipeline().counters();
    return now.frames_received >= before.frames.frames_received + received && now.frames_in_flight == 0;
  });
}

void ServerBench::expect_change(const Books& before, const Change& change) {
  const std::uint64_t errors = std::accumulate(change.decode_errors.begin(), change.decode_errors.end(), std::uint64_t{0},
                                               [](std::uint64_t sum, const auto& item) { return sum + item.second; });
  // Until at least as much has come; afterwards everything is compared.
  EXPECT_TRUE(reaches([&] {
    const Books now = books();
    const auto came = [&](std::uint64_t SourceCounters::*which, std::uint64_t expected) {
      return now.source.*which - before.source.*which >= expected;
    };
    return now.frames.frames_received - before.frames.frames_received >= change.received && now.frames.frames_in_flight == 0 &&
           now.frames.sequence_gaps - before.frames.sequence_gaps >= change.gaps &&
           now.frames.shots_stale - before.frames.shots_stale >= change.stale &&
           now.frames.shots_duplicate - before.frames.shots_duplicate >= change.duplicates &&
           came(&SourceCounters::connections_accepted, change.accepted) &&
           came(&SourceCounters::connections_rejected, change.rejected) &&
           came(&SourceCounters::connections_timed_out, change.timed_out) &&
           came(&SourceCounters::connections_lost, change.lost) &&
           now.source.decode_errors_total() - before.source.decode_errors_total() >= errors &&
           now.viewer_dropped - before.viewer_dropped >= change.viewer_dropped;
  }));
  const Books now = books();
  EXPECT_EQ(now.frames.frames_received - before.frames.frames_received, change.received);
  EXPECT_EQ(now.frames.frames_published - before.frames.frames_published, change.published);
  for (std::size_t reason = 0; reason < drop_reason_count; ++reason) {
    const auto expected = change.dropped.find(static_cast<DropReason>(reason));
    EXPECT_EQ(now.frames.frames_dropped[reason] - before.frames.frames_dropped[reason],
              expected == change.dropped.end() ? 0U : expected->second)
        << "dropped for reason " << reason;
  }
  EXPECT_EQ(now.frames.sequence_gaps - before.frames.sequence_gaps, change.gaps);
  EXPECT_EQ(now.frames.shots_duplicate - before.frames.shots_duplicate, change.duplicates);
  EXPECT_EQ(now.frames.shots_stale - before.frames.shots_stale, change.stale);
  EXPECT_EQ(now.frames.clipped_samples - before.frames.clipped_samples, change.clipped);
  EXPECT_EQ(now.frames.invalid_samples - before.frames.invalid_samples, change.invalid);
  for (std::size_t reason = 0; reason < decode_reason_count; ++reason) {
    const auto expected = change.decode_errors.find(static_cast<DecodeReason>(reason));
    EXPECT_EQ(now.source.decode_errors[reason] - before.source.decode_errors[reason],
              expected == change.decode_errors.end() ? 0U : expected->second)
        << "decode errors for reason " << reason;
  }
  EXPECT_EQ(now.source.connections_accepted - before.source.connections_accepted, change.accepted);
  EXPECT_EQ(now.source.connections_rejected - before.source.connections_rejected, change.rejected);
  EXPECT_EQ(now.source.connections_timed_out - before.source.connections_timed_out, change.timed_out);
  EXPECT_EQ(now.source.connections_lost - before.source.connections_lost, change.lost);
  EXPECT_EQ(now.viewer_dropped - before.viewer_dropped, change.viewer_dropped);
  EXPECT_EQ(now.frames.slots_free, now.frames.slots);
  EXPECT_EQ(album->not_closed(), 0U);
}

std::unique_ptr<RawPeer> ServerBench::accepted_peer(const Acquisition& acquisition, std::uint64_t session) {
  auto peer = std::make_unique<RawPeer>(port());
  peer->send(hello_message(acquisition, session));
  EXPECT_TRUE(peer->accepted());
  return peer;
}

void ServerBench::send_and_wait(RawPeer& peer, const Bytes& bytes) {
  const std::uint64_t before = server->source().counters().bytes_received;
  peer.send(bytes);
  EXPECT_TRUE(reaches([&] { return server->source().counters().bytes_received >= before + bytes.size(); }));
}

PublishedImage ServerBench::undisturbed(const Acquisition& acquisition, const Bytes& samples) {
  if (!beside_ || beside_acquisition_ != acquisition) {
    beside_acquisition_ = acquisition;
    beside_.emplace();
    auto plan = build_plan(configuration, acquisition, {}, configuration.input.slots, ImagingUse::live);
    beside_->engine = make_engine(make_imaging_setup(std::move(plan)), backend_choice(configuration.imaging), {});
    beside_->engine->equip(beside_->slot);
  }
  EXPECT_EQ(samples.size(), beside_->slot.samples.size());
  std::memcpy(beside_->slot.samples.data(), samples.data(), samples.size());
  EXPECT_TRUE(image_now(*beside_->engine, beside_->slot));
  return image_in(beside_->slot, beside_->engine->setup(), 0, WallTime{0});
}

void ServerBench::expect_image(const Acquisition& acquisition, std::size_t place, const Bytes& samples) {
  const auto images = album->images();
  ASSERT_LT(place, images.size());
  const PublishedImage expected = undisturbed(acquisition, samples);
  EXPECT_TRUE(images[place].envelope == expected.envelope) << "image " << place << ", sequence " << images[place].sequence;
  EXPECT_TRUE(images[place].display == expected.display) << "image " << place << ", sequence " << images[place].sequence;
  EXPECT_EQ(images[place].reference, expected.reference);
}

void ServerBench::expect_images(const Acquisition& acquisition, const std::vector<std::uint64_t>& sequences,
                                std::size_t skipped) {
  auto found = album->sequences();
  ASSERT_GE(found.size(), skipped);
  found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(skipped));
  ASSERT_EQ(found, sequences);
  for (std::size_t i = 0; i < sequences.size(); ++i) expect_image(acquisition, skipped + i, frame_of(acquisition, sequences[i]));
}

void ServerBench::expect_good_sender(const Acquisition& acquisition, std::uint64_t first) {
  ASSERT_TRUE(reaches([&] { return server->source().counters().connections_open == 0; }));
  const Books before = books();
  const std::size_t images = album->size();
  GoodSender sender(*this, acquisition);
  sender.send(first, 3);
  sender.finish();
  expect_change(before, {.received = 3, .published = 3, .accepted = 1});
  expect_images(acquisition, {first, first + 1, first + 2}, images);
}

namespace {

SenderOptions options_for(ServerBench& bench, std::size_t connections) {
  SenderOptions options;
  options.port = bench.port();
  options.connections = connections;
  return options;
}

}  // namespace

GoodSender::GoodSender(ServerBench& bench, const Acquisition& acquisition, std::size_t connections)
    : acquisition_(acquisition), sender_(acquisition, options_for(bench, connections)) {}

void GoodSender::send(std::uint64_t first, std::size_t count) {
  for (std::uint64_t sequence = first; sequence < first + count; ++sequence) {
    sender_.send_frame({sequence, WallTime(1)}, frame_of(acquisition_, sequence));
  }
}

}  // namespace echoform::faults
