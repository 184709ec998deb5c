#include "apps/soak/judge.hpp"

#include <fmt/format.h>

#include <thread>

#include "apps/soak/raw_connection.hpp"
#include "base/errors.hpp"

namespace echoform::soak {

HostPort place_of(const std::string& endpoint) {
  return parse_host_port(endpoint.substr(endpoint.find("://") + 3), endpoint);
}

void Verdict::fail(const std::string& line) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = line;
  }
  stop_.request_stop();
}

void Verdict::fail_because(const std::string& cause) {
  const std::lock_guard lock(mutex_);
  failure_ = failure_ ? fmt::format("{}; seen first: {}", cause, *failure_) : cause;
}

std::optional<std::string> Verdict::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Counters Judge::read() {
  const HttpAnswer answer = ask_http(places_.web, http_request(places_.web, "/metrics", places_.web_token), patience);
  if (answer.status != 200) throw RuntimeFault(fmt::format("/metrics answered {}", answer.status));
  Counters counters = parse_metrics(answer.body);
  ++readings_;
  if (const Closure closure = closure_of(counters); !closure.closes()) {
    verdict_.fail(fmt::format("/metrics: the counters do not close: {}", closure.text()));
  }
  // The expectations are read after the counters, because a fault announces each count before it causes it.
  if (const auto line = expectations_.exceeded(counters)) verdict_.fail(*line);
  return counters;
}

bool Judge::await_nothing(std::string_view who, const std::function<std::optional<std::string>(const Counters&)>& missing) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto line = missing(read());
    if (verdict_.failure()) return false;
    if (!line) return true;
    if (std::chrono::steady_clock::now() > deadline) {
      verdict_.fail(fmt::format("{}: after {} s still {}", who, patience.count(), *line));
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // between checks; the condition decides
  }
}

bool Judge::await(std::string_view who, bool frames) {
  return await_nothing(who, [&](const Counters& found) { return expectations_.outstanding(found, frames); });
}

bool Judge::await(std::string_view who, std::string_view what, const std::function<bool(const Counters&)>& condition) {
  return await_nothing(who, [&](const Counters& found) -> std::optional<std::string> {
    if (condition(found)) return std::nullopt;
    return fmt::format("not {}", what);
  });
}

}  // namespace echoform::soak
