// Collects what the watching threads of a soak find. The first violation ends the run.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "apps/soak/counters.hpp"
#include "config/configuration.hpp"

namespace echoform::soak {

/// Where the server is.
struct Places {
  HostPort frames;
  HostPort web;
  std::string images;     ///< "tcp://127.0.0.1:17180"
  std::string telemetry;  ///< likewise
  std::string control;    ///< likewise; empty where control is off
  std::string stream;     ///< name of the first envelope stream
  std::string web_token;
};

/// Where an endpoint of Places is.
[[nodiscard]] HostPort place_of(const std::string& endpoint);

/// How long anything that must happen may take on a busy machine before the server counts as hung.
inline constexpr std::chrono::seconds patience{60};

class Verdict {
 public:
  /// The first line is kept, and a stop requested. Thread-safe.
  void fail(const std::string& line);
  /// Puts the cause before the line that was kept.
  void fail_because(const std::string& cause);
  [[nodiscard]] std::optional<std::string> failure() const;
  /// Ends the run in order.
  void request_stop() { stop_.request_stop(); }
  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

 private:
  mutable std::mutex mutex_;
  std::optional<std::string> failure_;
  std::stop_source stop_;
};

class Judge {
 public:
  Judge(const Places& places, Expectations& expectations, Verdict& verdict)
      : places_(places), expectations_(expectations), verdict_(verdict) {}

  /// Reads /metrics. A reading that does not close, or in which a counter is beyond what is expected, is a violation.
  /// Thread-safe.
  [[nodiscard]] Counters read();
  /// Reads until every count that was foretold has come, that of frames only with `frames` (which is for a source that waits). A
  /// violation, naming `who`, if they do not come. False if the run is to end.
  bool await(std::string_view who, bool frames = false);
  /// The same until `condition` holds of a reading.
  bool await(std::string_view who, std::string_view what, const std::function<bool(const Counters&)>& condition);

  [[nodiscard]] Expectations& expectations() { return expectations_; }
  [[nodiscard]] Verdict& verdict() { return verdict_; }
  [[nodiscard]] std::uint64_t readings() const { return readings_.load(); }

 private:
  /// `missing` says what a reading lacks, or nothing.
  bool await_nothing(std::string_view who, const std::function<std::optional<std::string>(const Counters&)>& missing);

  const Places& places_;
  Expectations& expectations_;
  Verdict& verdict_;
  std::atomic<std::uint64_t> readings_{0};
};

}  // namespace echoform::soak
