#include "transport/acquisition/live_counters.hpp"

#include <spdlog/spdlog.h>

#include <chrono>

#include "transport/acquisition/hello.hpp"

namespace echoform {
namespace {

constexpr int per_second = 10;

}  // namespace

SourceCounters LiveSourceCounters::read() const noexcept {
  SourceCounters result;
  for (std::size_t i = 0; i < decode_reason_count; ++i) result.decode_errors[i] = decode_errors[i].load();
  result.connections_accepted = accepted.load();
  result.connections_rejected = rejected.load();
  result.connections_timed_out = timed_out.load();
  result.connections_lost = lost.load();
  result.connections_open = open.load();
  result.shots_received = shots.load();
  result.shots_discarded = discarded.load();
  result.bytes_received = bytes.load();
  return result;
}

void LiveSourceCounters::note_rejection(std::string_view reason) {
  std::string text = printable(reason, 1000);
  const std::lock_guard lock(mutex_);
  last_rejection_.swap(text);
}

std::string LiveSourceCounters::last_rejection() const {
  const std::lock_guard lock(mutex_);
  return last_rejection_;
}

std::int64_t PeerWarnings::second() const noexcept {
  return std::chrono::duration_cast<std::chrono::seconds>(clock_.steady()).count();
}

bool PeerWarnings::open() const noexcept {
  return second_.load() != second() || warnings_.load() < per_second;
}

void PeerWarnings::warn(const std::string& line) {
  const std::int64_t now = second();
  if (second_.exchange(now) != now) warnings_ = 0;
  const int count = ++warnings_;
  if (count <= per_second) spdlog::warn("{}", line);
  if (count == per_second) spdlog::warn("more warnings about senders within this second are left out");
}

}  // namespace echoform
