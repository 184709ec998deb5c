// Viewers during a soak. Over ZeroMQ and over WebSocket each there is a good viewer, one that never reads, and one that
// connects and leaves.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/soak/judge.hpp"
#include "base/histogram.hpp"

namespace echoform::soak {

struct ViewerFigures {
  std::string_view name;
  std::uint64_t images = 0;
  std::uint64_t gaps = 0;         ///< images that were published between those that came
  std::uint64_t connections = 0;  ///< of this viewer so far
};

/// Names of the viewers that must get images.
inline constexpr std::string_view good_subscriber = "ZeroMQ, good";
inline constexpr std::string_view good_web_viewer = "web, good";

class Viewer {
 public:
  explicit Viewer(std::string_view name) : name_(name) {}
  virtual ~Viewer() = default;
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  [[nodiscard]] ViewerFigures figures() const { return {name_, images_.load(), gaps_.load(), connections_.load()}; }

 protected:
  std::string_view name_;
  std::atomic<std::uint64_t> images_{0}, gaps_{0}, connections_{0};
};

/// The viewer that must see everything: each image that it gets says how many were published so far, which must count up by one
/// without exception. It also keeps the latencies that the images state.
class GoodViewer : public Viewer {
 public:
  using Viewer::Viewer;
  /// The newest count of published frames that it has seen; 0 before the first image.
  [[nodiscard]] virtual std::uint64_t published() const = 0;
  /// Times from a frame's last byte to its publication.
  [[nodiscard]] virtual const Histogram& latency() const = 0;
  /// The longest time between two images since this was last asked, the present one included.
  [[nodiscard]] virtual std::chrono::nanoseconds take_longest_pause() = 0;
};

[[nodiscard]] std::unique_ptr<GoodViewer> make_good_subscriber(const Places& places, Verdict& verdict);

/// The others: "never reads" and "comes and goes" by ZeroMQ; good, "never reads" and "comes and goes" by WebSocket. The web feed
/// leaves images out for a viewer that is not ready, so its good viewer's images must rise and its connection must last, and its
/// gaps are counted.
[[nodiscard]] std::vector<std::unique_ptr<Viewer>> make_other_viewers(const Places& places, Verdict& verdict, std::uint64_t seed);

}  // namespace echoform::soak
