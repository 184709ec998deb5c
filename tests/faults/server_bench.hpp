// The imaging server itself, over real sockets, with a clock that the test drives and an engine that it can hold. What the
// server counts and what comes out are compared exactly: counters with a list of what a fault costs, images with those that an
// engine beside the server makes of the same samples.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/imaging_server.hpp"
#include "tests/support/eventually.hpp"
#include "tests/transport_acquisition/messages.hpp"
#include "transport/acquisition/sender.hpp"

namespace echoform::faults {

using testing_support::Bytes;
using testing_support::RawPeer;

/// A fixture for tests on every backend: TEST_P(...) and ECHOFORM_ON_BACKENDS(suite). Skips a backend that is not available.
class OnBackends : public testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override;
};
[[nodiscard]] std::vector<BackendKind> all_backends();
[[nodiscard]] std::string backend_name(const testing::TestParamInfo<BackendKind>& info);
#define ECHOFORM_ON_BACKENDS(suite) INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(all_backends()), backend_name)

/// Loopback addresses with any free port, a small grid, a fixed reference: an image depends on its frame alone.
[[nodiscard]] Configuration base_configuration(BackendKind backend);

[[nodiscard]] Acquisition base_acquisition(SampleEncoding encoding = SampleEncoding::int16, MatrixKind matrix = MatrixKind::full);
/// Noise that only this sequence has; whole numbers also where samples are floats.
[[nodiscard]] Bytes frame_of(const Acquisition& acquisition, std::uint64_t sequence);
/// The shot of a frame as it goes over the wire.
[[nodiscard]] Bytes shot_of(const Acquisition& acquisition, const Bytes& frame, std::uint64_t sequence, std::uint32_t transmit);
[[nodiscard]] Bytes shot_of(const Acquisition& acquisition, std::uint64_t sequence, std::uint32_t transmit);
/// All shots of a frame, one after another.
[[nodiscard]] Bytes frame_message(const Acquisition& acquisition, std::uint64_t sequence);
[[nodiscard]] Bytes end_message();

/// Everything that is counted, before the work begins or at any moment.
struct Books {
  CounterSnapshot frames;
  SourceCounters source;
  std::uint64_t viewer_dropped = 0;
};

/// What a test expects to have been added; what it does not name stays as it was.
struct Change {
  std::uint64_t received = 0, published = 0;
  std::map<DropReason, std::uint64_t> dropped{};
  std::uint64_t gaps = 0, duplicates = 0, stale = 0, clipped = 0, invalid = 0;
  std::map<DecodeReason, std::uint64_t> decode_errors{};
  std::uint64_t accepted = 0, rejected = 0, timed_out = 0, lost = 0;
  std::uint64_t viewer_dropped = 0;
};

struct PublishedImage {
  std::uint64_t sequence = 0;
  WallTime publish_time{0};
  float reference = 0.0F;
  std::vector<std::byte> envelope, display;
};

/// Keeps every image, and sees the counters of every publication.
class Album final : public ImageSink {
 public:
  void setup_changed(std::shared_ptr<const ImagingSetup> setup) override;
  void publish(const FinishedFrame& frame) noexcept override;
  [[nodiscard]] std::string describe() const override { return "album"; }

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::vector<PublishedImage> images() const;
  [[nodiscard]] std::vector<std::uint64_t> sequences() const;
  [[nodiscard]] std::size_t setups() const;
  [[nodiscard]] std::size_t not_closed() const;

 private:
  mutable std::mutex mutex_;
  std::vector<PublishedImage> images_;
  std::size_t setups_ = 0;
  std::size_t not_closed_ = 0;
};

/// Where frames stand before the engine. Open at first.
class Gate {
 public:
  void close();
  void open();
  void pass();
  /// Waits until a frame stands at the gate.
  [[nodiscard]] bool someone_waits();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int waiting_ = 0;
};

/// What the test puts between the server's parts, on whichever thread they run; nothing at first.
template <class Signature>
class Hook;
template <class Result, class Argument>
class Hook<Result(Argument)> {
 public:
  void set(std::function<Result(Argument)> function) {
    const std::lock_guard lock(mutex_);
    function_ = std::move(function);
  }
  Result operator()(Argument argument) {
    const std::lock_guard lock(mutex_);
    return function_ ? function_(argument) : Result();
  }

 private:
  std::mutex mutex_;
  std::function<Result(Argument)> function_;
};

class ServerBench {
 public:
  explicit ServerBench(Configuration configuration);
  explicit ServerBench(BackendKind backend) : ServerBench(base_configuration(backend)) {}
  ~ServerBench();

  [[nodiscard]] std::uint16_t port() { return server->source().port(); }
  [[nodiscard]] Books books();
  /// Waits until so many images came out in all and their frames count as published, which they do after the last sink had them.
  [[nodiscard]] bool published(std::uint64_t count);
  /// Waits until it holds; in every snapshot taken meanwhile the counters must close. False where patience ends first.
  template <class Condition>
  [[nodiscard]] bool reaches(Condition condition);
  /// Waits until `received` more frames than in `before` were received and none is in flight. False if that does not happen
  /// in time.
  [[nodiscard]] bool settled(const Books& before, std::uint64_t received);
  /// Expects that exactly `change` was added since `before`. Waits first until as much has come and nothing is in flight.
  void expect_change(const Books& before, const Change& change);

  /// A peer that has said Hello and was accepted.
  [[nodiscard]] std::unique_ptr<RawPeer> accepted_peer(const Acquisition& acquisition, std::uint64_t session = 7);
  /// Sends, and waits until the server has read it all.
  void send_and_wait(RawPeer& peer, const Bytes& bytes);

  /// The images that came after the first `skipped` are of these sequences and, bit for bit, those that the samples of
  /// frame_of() give.
  void expect_images(const Acquisition& acquisition, const std::vector<std::uint64_t>& sequences, std::size_t skipped = 0);
  /// The image of any other samples.
  void expect_image(const Acquisition& acquisition, std::size_t place, const Bytes& samples);
  /// An engine beside the server images them.
  [[nodiscard]] PublishedImage undisturbed(const Acquisition& acquisition, const Bytes& samples);

  /// A well-behaved sender comes, sends three frames and leaves; its images are as if nothing had happened before.
  void expect_good_sender(const Acquisition& acquisition = base_acquisition(), std::uint64_t first = 501);

  ManualClock clock;
  Gate gate;
  Hook<bool(const FrameSlot&)> failing;              ///< frames that the engine fails to image
  Hook<void(const ImagingSetup&)> refusing_engines;  ///< may throw in the place of making an engine
  std::atomic<int> engines_made{0};
  std::shared_ptr<Album> album = std::make_shared<Album>();
  const Configuration configuration;
  std::unique_ptr<ImagingServer> server;

 private:
  struct Beside {
    std::unique_ptr<Engine> engine;
    FrameSlot slot;
  };
  std::optional<Beside> beside_;
  Acquisition beside_acquisition_;
};

/// A sender that keeps its connection through what happens to others beside it.
class GoodSender {
 public:
  GoodSender(ServerBench& bench, const Acquisition& acquisition, std::size_t connections = 1);
  void send(std::uint64_t first, std::size_t count);
  void finish() { sender_.finish(); }

 private:
  const Acquisition acquisition_;
  AcquisitionSender sender_;
};

/// A server at work: the images of a good sender's frames 1 and 2 are out, and the books are those from then on.
class BusyServer : public ServerBench {
 public:
  template <class Settings>
  explicit BusyServer(const Settings& settings, std::size_t connections = 1)
      : ServerBench(settings), good(*this, acquisition, connections) {
    good.send(1, 2);
    EXPECT_TRUE(published(2));
    before = books();
  }

  const Acquisition acquisition = base_acquisition();
  GoodSender good;
  Books before;
};

template <class Condition>
bool ServerBench::reaches(Condition condition) {
  bool closes = true;
  const bool reached = eventually([&] {
    if (condition()) return true;
    closes = server->pipeline().counters().closes();
    return !closes;
  });
  if (!closes) ADD_FAILURE() << "a snapshot does not close";
  return reached && closes;
}

}  // namespace echoform::faults
