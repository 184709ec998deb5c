#include "instruments/micropulse/conversation.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/errors.hpp"
#include "base/host_port.hpp"
#include "instruments/micropulse/command_writer.hpp"

namespace echoform::micropulse {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds longest_wait{100};

/// The longest message: an A-scan as long as any gate makes it, or one sample longer, with the longer header and a small reserve.
std::size_t longest_message(const SourceOptions& options) {
  return 64 + (most_samples + 1) * bytes_per_sample(options.settings.bits);
}

}  // namespace

std::string name_of(const SourceOptions& options) {
  return "micropulse " + host_port_text(options.host, options.port);
}

Conversation::Conversation(const SourceOptions& options, const WakeBell& bell, const std::atomic<bool>& stopping,
                           LiveSourceCounters& counters, std::function<void(const std::string&)> say)
    : options_(options),
      bell_(bell),
      stopping_(stopping),
      counters_(counters),
      say_(std::move(say)),
      name_(name_of(options)),
      link_(options.host, options.port, options.connect_timeout, bell, stopping),
      parser_(longest_message(options)),
      scratch_(std::size_t{1} << 16) {}

void Conversation::send(const std::vector<std::string>& lines, milliseconds time) {
  link_.send(joined(lines), time);
}

void Conversation::reset(const InstrumentSettings& settings, std::size_t channels) {
  send({std::string(stop_command)}, options_.connect_timeout);
  const auto patience = steady_clock::now() + 4 * options_.settle;
  auto quiet = steady_clock::now() + options_.settle;
  while (!stopping_ && steady_clock::now() < std::min(quiet, patience)) {
    link_.wait(std::max(options_.settle / 4, milliseconds(1)));
    while (const auto bytes = link_.receive(scratch_)) {
      note(*bytes);
      quiet = steady_clock::now() + options_.settle;
      if (steady_clock::now() >= patience) break;
    }
  }
  send({reset_command(settings)}, options_.connect_timeout);
  const auto answer = await(ReplyKind::reset_done, "the reset");
  if (!answer) return;
  const std::string type = type_name(answer->type);
  if (answer->sample_rate_mhz != settings.sample_rate_mhz) {
    throw InputError(name_, fmt::format("{} that samples at {} MHz after its reset", type, answer->sample_rate_mhz),
                     fmt::format("{} MHz", settings.sample_rate_mhz));
  }
  if (answer->array_channels < channels) {
    throw InputError(name_, fmt::format("{} with {} channels for arrays", type, answer->array_channels),
                     fmt::format("{}: elements follow each other from [input.micropulse] first_channel on", channels));
  }
  spdlog::info("{}: {} with {} channels for arrays, {} MHz", name_, type, answer->array_channels, answer->sample_rate_mhz);
  const auto until = steady_clock::now() + options_.reset_wait;
  while (!stopping_ && steady_clock::now() < until) bell_.wait(std::chrono::ceil<milliseconds>(until - steady_clock::now()));
}

void Conversation::tell(const std::vector<std::string>& lines, std::string_view what) {
  send(lines, options_.answer_timeout);
  send({std::string(state_command)}, options_.answer_timeout);
  refusals_.clear();
  static_cast<void>(await(ReplyKind::state, what));
  if (!refusals_.empty()) throw InputError(fmt::format("{}: the instrument refuses {}: {}", name_, what, refusals_));
}

std::optional<Reply> Conversation::await(ReplyKind kind, std::string_view what) {
  const auto until = steady_clock::now() + options_.answer_timeout;
  while (!stopping_) {
    while (auto reply = parser_.next()) {
      if (reply->kind == kind) return reply;
      if (reply->kind == ReplyKind::error) {
        if (refusals_.size() < 200) refusals_ += fmt::format("{}{}", refusals_.empty() ? "" : "; ", reply->text);
        if (kind != ReplyKind::state) say_(fmt::format("{}: the instrument says: {}", name_, reply->text));
      }
    }
    static_cast<void>(take_bytes());
    if (steady_clock::now() >= until) {
      LiveSourceCounters::add(counters_.timed_out);
      throw RuntimeFault(fmt::format("{}: {} is not answered within {} ms", name_, what, options_.answer_timeout.count()));
    }
  }
  return std::nullopt;
}

bool Conversation::take_bytes() {
  if (!parser_.broken().empty()) {
    counters_.add(DecodeReason::bad_type);
    throw InputError(fmt::format("{}: {}", name_, parser_.broken()));
  }
  const auto room = parser_.room();
  std::optional<std::size_t> bytes;
  try {
    bytes = link_.receive(room);
  } catch (const RuntimeFault&) {
    if (parser_.within_message()) counters_.add(DecodeReason::truncated);
    throw;
  }
  if (bytes) {
    parser_.commit(*bytes);
    note(*bytes);
    return true;
  }
  link_.wait(longest_wait);
  return false;
}

void Conversation::drain(milliseconds time) {
  const auto until = steady_clock::now() + time;
  while (steady_clock::now() < until) {
    if (!link_.receive(scratch_)) link_.wait(milliseconds(5));
  }
}

}  // namespace echoform::micropulse
