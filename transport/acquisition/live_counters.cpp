#include "transport/acquisition/live_counters.hpp"

#include <spdlog/spdlog.h>

#include "transport/acquisition/hello.hpp"

namespace echoform {
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

void PeerWarnings::write(const std::string& line, std::uint64_t left_out) {
  spdlog::warn("{}{}", line, left_out_text(left_out));
}

}  // namespace echoform
