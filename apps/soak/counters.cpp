#include "apps/soak/counters.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace echoform::soak {
namespace {

std::uint64_t sum_of(const Counters& counters, std::string_view family) {
  std::uint64_t sum = 0;
  for (auto at = counters.lower_bound(family); at != counters.end() && at->first.starts_with(family); ++at) sum += at->second;
  return sum;
}

void add_to(Counters& counters, std::string_view name, std::uint64_t count) {
  const auto at = counters.find(name);
  if (at == counters.end()) {
    counters.emplace(name, count);
  } else {
    at->second += count;
  }
}

}  // namespace

Counters parse_metrics(std::string_view text) {
  Counters counters;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto space = line.rfind(' ');
    if (line.starts_with('#') || space == std::string_view::npos) continue;
    const std::string_view digits = line.substr(space + 1);
    std::uint64_t value = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (fault == std::errc() && end == digits.data() + digits.size()) counters.emplace(line.substr(0, space), value);
  }
  return counters;
}

std::uint64_t value_of(const Counters& counters, std::string_view name) {
  const auto at = counters.find(name);
  return at == counters.end() ? 0 : at->second;
}

std::string counter::decode_error(std::string_view reason) {
  return fmt::format("{}{{reason=\"{}\"}}", decode_errors, reason);
}

std::string Closure::text() const {
  return fmt::format("received {} = published {} + dropped {} + in flight {}", received, published, dropped, in_flight);
}

Closure closure_of(const Counters& counters) {
  return {value_of(counters, counter::received), value_of(counters, counter::published), sum_of(counters, counter::dropped),
          value_of(counters, counter::in_flight)};
}

std::string drops_text(const Counters& counters) {
  std::string text;
  for (auto at = counters.lower_bound(counter::dropped); at != counters.end() && at->first.starts_with(counter::dropped); ++at) {
    if (at->second == 0) continue;
    const auto quote = at->first.find('"');
    const std::string reason = at->first.substr(quote + 1, at->first.rfind('"') - quote - 1);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", reason, at->second);
  }
  return text.empty() ? "none" : text;
}

void Expectations::add(std::string_view name, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  add_to(expected_, name, count);
}

void Expectations::add_later(std::string_view name, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  add_to(expected_, name, count);
  add_to(later_, name, count);
}

void Expectations::arrived(std::string_view name, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  later_.find(name)->second -= count;
}

bool Expectations::judged(std::string_view name) const {
  if (name == counter::received || name == counter::gaps || name == counter::duplicate_shots || name == counter::stale_shots ||
      name == counter::clipped || name == counter::invalid)
    return true;
  if (name.starts_with(counter::decode_errors) || name.starts_with(counter::connections)) return true;
  return outcomes_ && (name == counter::published || name.starts_with(counter::dropped));
}

std::optional<std::string> Expectations::exceeded(const Counters& found) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, value] : found) {
    if (!judged(name) || value <= value_of(expected_, name)) continue;
    return fmt::format("{}: found {}; expected at most {} by now", name, value, value_of(expected_, name));
  }
  return std::nullopt;
}

std::optional<std::string> Expectations::outstanding(const Counters& found, bool frames) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, value] : expected_) {
    if (!judged(name) || (!frames && (name == counter::received || name == counter::published))) continue;
    // These are counted when a frame is imaged, and load may have dropped the frame that held them.
    if (!outcomes_ && (name == counter::clipped || name == counter::invalid)) continue;
    if (value_of(found, name) + value_of(later_, name) >= value) continue;
    return fmt::format("{}: found {}; expected {}", name, value_of(found, name), value - value_of(later_, name));
  }
  if (frames && value_of(found, counter::in_flight) != 0) {
    return fmt::format("{}: found {}; expected 0", counter::in_flight, value_of(found, counter::in_flight));
  }
  return std::nullopt;
}

Counters Expectations::expected() const {
  const std::lock_guard lock(mutex_);
  return expected_;
}

}  // namespace echoform::soak
