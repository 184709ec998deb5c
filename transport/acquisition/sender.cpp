#include "transport/acquisition/sender.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "transport/acquisition/hello.hpp"
#include "transport/acquisition/sender_connection.hpp"

namespace echoform {
namespace {

// Pauses between attempts to connect to a busy server.
constexpr std::chrono::milliseconds first_pause{50};
constexpr std::chrono::milliseconds longest_pause{1000};

}  // namespace

struct AcquisitionSender::Implementation {
  struct Worker {
    std::unique_ptr<SenderConnection> connection;
    std::atomic<std::uint64_t> frames_done{0};
    std::thread thread;
  };

  /// What the workers send. It is set before frames_asked is incremented.
  struct Job {
    FrameStamp stamp;
    std::span<const std::byte> frame;
  };

  Implementation(Acquisition described, const SenderOptions& options)
      : acquisition(std::move(described)), layout(acquisition), workers(options.connections) {}

  ~Implementation() {
    for (auto& worker : workers) {
      if (worker.connection) worker.connection->cancel();
    }
    stopping = true;
    frames_asked.fetch_add(1);
    frames_asked.notify_all();
    for (auto& worker : workers) {
      if (worker.thread.joinable()) worker.thread.join();
    }
  }

  /// Makes one attempt, on all connections.
  void connect(const SenderOptions& options) {
    session = options.session != 0 ? options.session : random_session();
    SenderIdentity identity{.session = session,
                            .connection_index = 0,
                            .connection_count = static_cast<std::uint32_t>(options.connections),
                            .sender = options.name,
                            .token = options.token};
    for (auto& worker : workers) {
      const auto message = encode_message(MessageType::hello, encode_hello(identity, acquisition));
      worker.connection = std::make_unique<SenderConnection>(options);
      worker.connection->send_hello(message);
      ++identity.connection_index;
    }
    std::exception_ptr busy;
    std::vector<SenderConnection*> accepted;
    for (auto& worker : workers) {
      try {
        worker.connection->await_accept(options.accept_timeout, layout.frame_bytes());
        accepted.push_back(worker.connection.get());
      } catch (const ServerBusy&) {
        busy = std::current_exception();
      }
    }
    if (!busy) return;
    // The stream became free between two Hellos. The connections that this attempt has opened must not block the next attempt.
    for (SenderConnection* connection : accepted) {
      try {
        connection->say_end();
        connection->await_close();
      } catch (const RuntimeFault&) {
        // The connection is gone, as intended.
      }
    }
    std::rethrow_exception(busy);
  }

  void connect_patiently(const SenderOptions& options) {
    std::chrono::milliseconds waited{0};
    for (std::chrono::milliseconds pause = first_pause;; pause = std::min(2 * pause, longest_pause)) {
      try {
        return connect(options);
      } catch (const ServerBusy& error) {
        for (auto& worker : workers) worker.connection.reset();
        pause = std::min(pause, options.busy_timeout - waited);
        if (pause.count() <= 0) throw;
        if (waited.count() == 0) spdlog::info("{}; trying again for {} ms", error.what(), options.busy_timeout.count());
      }
      wait(pause, options);
      if (options.stop.stop_requested()) throw RuntimeFault("broken off while waiting for the server to become free");
      waited += pause;
    }
  }

  static void wait(std::chrono::milliseconds time, const SenderOptions& options) {
    if (options.pause) return options.pause(time);
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    static_cast<void>(stopped.wait_for(lock, options.stop, time, [] { return false; }));
  }

  void send_stripe(std::size_t index) {
    SenderConnection& connection = *workers[index].connection;
    connection.throw_if_ended();
    for (std::size_t event = index; event < layout.events(); event += workers.size()) {
      const ByteRange bytes = layout.shot_bytes(event);
      connection.add(shot_of(job.stamp, static_cast<std::uint32_t>(event)), job.frame.subspan(bytes.first, bytes.count));
    }
    connection.flush();
  }

  void run(std::size_t index) {
    pthread_setname_np(pthread_self(), "acquisition-tx");
    Worker& worker = workers[index];
    for (std::uint64_t done = 0;;) {
      frames_asked.wait(done);
      if (stopping) return;
      send_stripe_or_fail(index);
      worker.frames_done.store(++done);
      worker.frames_done.notify_one();
    }
  }

  /// Keeps the first failure and cancels the other workers: what they send cannot become a frame any more, and they may be
  /// blocking.
  void send_stripe_or_fail(std::size_t index) noexcept {
    try {
      send_stripe(index);
    } catch (...) {
      if (failed.exchange(true)) return;
      failure = std::current_exception();
      for (auto& worker : workers) worker.connection->cancel();
    }
  }

  const Acquisition acquisition;
  const FrameLayout layout;
  std::uint64_t session = 0;
  std::vector<Worker> workers;  // worker 0 is the caller's thread
  Job job;
  std::atomic<std::uint64_t> frames_asked{0};
  std::atomic<bool> stopping{false};
  std::atomic<bool> failed{false};
  // Written by the first worker that fails; read when all workers have finished the frame.
  std::exception_ptr failure;
  bool usable = true;
};

AcquisitionSender::AcquisitionSender(const Acquisition& acquisition, const SenderOptions& options) {
  if (options.connections < 1 || options.connections > maximum_connections_per_sender) {
    throw InputError("connections", fmt::format("{}", options.connections),
                     fmt::format("1 to {}", maximum_connections_per_sender));
  }
  validate(acquisition, AcquisitionLimits{}, "acquisition");
  if (options.connections > acquisition.event_count()) {
    spdlog::warn("{} connections for the {} shots of a frame: {} of them stay idle", options.connections,
                 acquisition.event_count(), options.connections - acquisition.event_count());
  }
  implementation_ = std::make_unique<Implementation>(acquisition, options);
  Implementation& me = *implementation_;
  me.connect_patiently(options);
  for (std::size_t i = 1; i < me.workers.size(); ++i) me.workers[i].thread = std::thread([&me, i] { me.run(i); });
}

AcquisitionSender::~AcquisitionSender() = default;

void AcquisitionSender::send_frame(const FrameStamp& stamp, std::span<const std::byte> frame) {
  Implementation& me = *implementation_;
  if (frame.size() != me.layout.frame_bytes()) {
    throw InputError("frame", fmt::format("{} bytes", frame.size()), fmt::format("{}", me.layout.frame_bytes()));
  }
  if (!me.usable) throw RuntimeFault("this sender has finished or lost a connection");
  me.job = {stamp, frame};
  const std::uint64_t turn = me.frames_asked.fetch_add(1) + 1;
  if (me.workers.size() > 1) me.frames_asked.notify_all();
  me.send_stripe_or_fail(0);
  for (std::size_t i = 1; i < me.workers.size(); ++i) {
    auto& worker = me.workers[i];
    for (std::uint64_t done = worker.frames_done.load(); done < turn; done = worker.frames_done.load())
      worker.frames_done.wait(done);
  }
  if (me.failed) {
    me.usable = false;
    std::rethrow_exception(me.failure);
  }
}

void AcquisitionSender::send_shot(std::size_t connection, const ShotHeader& shot, std::span<const std::byte> payload) {
  Implementation& me = *implementation_;
  if (connection >= me.workers.size())
    throw InputError("connection", fmt::format("{}", connection), fmt::format("below {}", me.workers.size()));
  if (shot.transmit >= me.layout.events()) {
    throw InputError("transmit", fmt::format("{}", shot.transmit), fmt::format("below {}", me.layout.events()));
  }
  const std::size_t expected = me.layout.shot_bytes(shot.transmit).count;
  if (payload.size() != expected) throw InputError("shot", fmt::format("{} bytes", payload.size()), fmt::format("{}", expected));
  if (!me.usable) throw RuntimeFault("this sender has finished or lost a connection");
  try {
    me.workers[connection].connection->add(shot, payload);
    me.workers[connection].connection->flush();
  } catch (...) {
    me.usable = false;
    throw;
  }
}

void AcquisitionSender::finish() {
  Implementation& me = *implementation_;
  if (!me.usable) return;
  me.usable = false;
  for (auto& worker : me.workers) worker.connection->say_end();
  for (auto& worker : me.workers) worker.connection->await_close();
}

void AcquisitionSender::cancel() noexcept {
  for (auto& worker : implementation_->workers) worker.connection->cancel();
}

std::uint64_t AcquisitionSender::session() const noexcept {
  return implementation_->session;
}

std::uint64_t AcquisitionSender::bytes_sent() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& worker : implementation_->workers) sum += worker.connection->bytes_sent();
  return sum;
}

}  // namespace echoform
