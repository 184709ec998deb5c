#include "apps/soak/viewers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "apps/soak/web_feed.hpp"
#include "base/errors.hpp"
#include "transport/publish/image_message.hpp"
#include "transport/publish/subscriber.hpp"

namespace echoform::soak {
namespace {

using namespace std::chrono_literals;

/// Pauses a viewer that waits by design; false once it must stop.
bool pause(const std::stop_token& stop, std::chrono::milliseconds time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

SubscriberOptions every_image(const Places& places) {
  return {.endpoint = places.images, .stream = places.stream, .latest_only = false};
}

class GoodSubscriber final : public GoodViewer {
 public:
  GoodSubscriber(const Places& places, Verdict& verdict)
      : GoodViewer(good_subscriber), subscriber_(every_image(places)), verdict_(verdict) {
    connections_ = 1;
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  std::uint64_t published() const override { return published_.load(); }
  const Histogram& latency() const override { return latency_; }
  std::chrono::nanoseconds take_longest_pause() override {
    const std::lock_guard lock(pause_mutex_);
    return std::max(std::exchange(longest_pause_, {}), std::chrono::steady_clock::now() - last_image_);
  }

 private:
  void note_pause() {
    const std::lock_guard lock(pause_mutex_);
    const auto now = std::chrono::steady_clock::now();
    longest_pause_ = std::max(longest_pause_, now - last_image_);
    last_image_ = now;
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const wire::Image* image = subscriber_.receive(100ms);
      if (!subscriber_.last_fault().empty()) {
        verdict_.fail(fmt::format("viewer \"{}\": a malformed image: {}", name_, subscriber_.last_fault()));
      }
      if (image == nullptr) continue;
      const std::uint64_t before = published_.exchange(image->published());
      if (before != 0 && image->published() != before + 1) {
        gaps_ += image->published() - before - 1;
        verdict_.fail(fmt::format("viewer \"{}\": found published image {} after {}; expected every one", name_,
                                  image->published(), before));
      }
      latency_.record(std::chrono::nanoseconds(image->latency()));
      note_pause();
      ++images_;
    }
  }

  ImageSubscriber subscriber_;
  Verdict& verdict_;
  std::atomic<std::uint64_t> published_{0};
  Histogram latency_;
  std::mutex pause_mutex_;
  std::chrono::steady_clock::time_point last_image_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::duration longest_pause_{};
  std::jthread thread_;
};

/// Subscribes and never reads, so that its queue fills, here and at the server.
class StuckSubscriber final : public Viewer {
 public:
  explicit StuckSubscriber(const Places& places) : Viewer("ZeroMQ, never reads"), subscriber_(every_image(places)) {
    connections_ = 1;
  }

 private:
  ImageSubscriber subscriber_;
};

class ChurningSubscriber final : public Viewer {
 public:
  ChurningSubscriber(const Places& places, std::uint64_t seed)
      : Viewer("ZeroMQ, comes and goes"),
        thread_([this, &places, random = std::mt19937_64(seed)](const std::stop_token& stop) mutable {
          run(places, random, stop);
        }) {}

 private:
  void run(const Places& places, std::mt19937_64& random, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      ImageSubscriber subscriber(every_image(places));
      ++connections_;
      std::uint64_t published = 0;
      for (std::uint64_t wanted = random() % 8, silent = 0; wanted > 0 && silent < 20 && !stop.stop_requested();) {
        const wire::Image* image = subscriber.receive(100ms);
        if (image == nullptr) {
          ++silent;
          continue;
        }
        if (published != 0) gaps_ += image->published() - published - 1;
        published = image->published();
        ++images_;
        --wanted;
      }
      if (!pause(stop, std::chrono::milliseconds(random() % 300))) return;
    }
  }

  std::jthread thread_;
};

/// Opens the feeds of a web viewer, one after the other, and reports faults to the verdict.
class WebViewer : public Viewer {
 public:
  using Viewer::Viewer;

 protected:
  /// Opens feeds and calls `use` for each of them until the end.
  template <class Use>
  void run(const Places& places, Verdict& verdict, const std::stop_token& stop, int receive_buffer, Use use) {
    try {
      while (!stop.stop_requested()) {
        WebFeed feed(places, receive_buffer);
        ++connections_;
        published_ = 0;
        use(feed);
      }
    } catch (const std::exception& fault) {
      if (!stop.stop_requested()) verdict.fail(fmt::format("viewer \"{}\": {}", name_, fault.what()));
    }
  }

  void count(const std::string& message) {
    if (const auto fault = parse_image(std::as_bytes(std::span(message)), image_)) {
      throw RuntimeFault(fmt::format("a malformed image: {}", *fault));
    }
    if (image_.published() <= published_) {
      throw RuntimeFault(fmt::format("found published image {} after {}; expected a newer one", image_.published(), published_));
    }
    if (published_ != 0) gaps_ += image_.published() - published_ - 1;
    published_ = image_.published();
    ++images_;
  }

 private:
  wire::Image image_;
  std::uint64_t published_ = 0;
};

class GoodWebViewer final : public WebViewer {
 public:
  GoodWebViewer(const Places& places, Verdict& verdict)
      : WebViewer(good_web_viewer), thread_([this, &places, &verdict](const std::stop_token& stop) {
          run(places, verdict, stop, 0, [&](WebFeed& feed) {
            std::string message;
            while (!stop.stop_requested()) {
              const auto outcome = feed.next(message, 100ms);
              if (outcome == WebFeed::Outcome::closed && !stop.stop_requested()) throw RuntimeFault("the server disconnected it");
              if (outcome != WebFeed::Outcome::image) continue;
              count(message);
              feed.say("ready");
            }
          });
        }) {}

 private:
  std::jthread thread_;
};

/// Opens a feed with a small window and reads nothing, until the server closes the connection.
class StuckWebViewer final : public WebViewer {
 public:
  StuckWebViewer(const Places& places, Verdict& verdict)
      : WebViewer("web, never reads"), thread_([this, &places, &verdict](const std::stop_token& stop) {
          run(places, verdict, stop, 4096, [&](WebFeed& feed) {
            while (pause(stop, 200ms) && !feed.connection().closed_by_peer()) {
            }
          });
        }) {}

 private:
  std::jthread thread_;
};

/// Takes a few images, then leaves in one of the ways in which browsers and laptops do.
class ChurningWebViewer final : public WebViewer {
 public:
  ChurningWebViewer(const Places& places, Verdict& verdict, std::uint64_t seed)
      : WebViewer("web, comes and goes"),
        thread_([this, &places, &verdict, random = std::mt19937_64(seed)](const std::stop_token& stop) mutable {
          run(places, verdict, stop, 0, [&](WebFeed& feed) {
            std::string message;
            for (std::uint64_t wanted = random() % 8, silent = 0; wanted > 0 && silent < 20 && !stop.stop_requested();) {
              const auto outcome = feed.next(message, 100ms);
              if (outcome == WebFeed::Outcome::closed) throw RuntimeFault("the server disconnected it");
              if (outcome == WebFeed::Outcome::silence) {
                ++silent;
                continue;
              }
              count(message);
              feed.say("ready");
              --wanted;
            }
            leave(feed, random() % 4);
            pause(stop, std::chrono::milliseconds(random() % 300));
          });
        }) {}

 private:
  static void leave(WebFeed& feed, std::uint64_t way) {
    if (way == 0) {
      feed.say_goodbye();
      static_cast<void>(feed.connection().read_to_end(patience));
    } else if (way == 1) {
      feed.connection().reset();
    } else if (way == 2) {
      feed.connection().end_sending();
    }  // otherwise it leaves without notice
  }

  std::jthread thread_;
};

}  // namespace

std::unique_ptr<GoodViewer> make_good_subscriber(const Places& places, Verdict& verdict) {
  return std::make_unique<GoodSubscriber>(places, verdict);
}

std::vector<std::unique_ptr<Viewer>> make_other_viewers(const Places& places, Verdict& verdict, std::uint64_t seed) {
  std::vector<std::unique_ptr<Viewer>> viewers;
  viewers.push_back(std::make_unique<StuckSubscriber>(places));
  viewers.push_back(std::make_unique<ChurningSubscriber>(places, seed + 1));
  viewers.push_back(std::make_unique<GoodWebViewer>(places, verdict));
  viewers.push_back(std::make_unique<StuckWebViewer>(places, verdict));
  viewers.push_back(std::make_unique<ChurningWebViewer>(places, verdict, seed + 2));
  return viewers;
}

}  // namespace echoform::soak
