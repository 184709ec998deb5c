// What a MicroPulse sends: whatever arrives, and however it is cut, the replies are the same, and none is longer than was agreed.
//
// Input: two bytes that say where to cut, then the bytes of a connection.
#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "instruments/micropulse/reply_parser.hpp"
#include "tests/fuzz/input.hpp"

namespace echoform::micropulse {
namespace {

constexpr std::size_t longest = 256;

/// Everything that a source learns, as text. `piece` bytes come at first, then `then` at a time.
std::string listen(std::span<const std::uint8_t> bytes, std::size_t piece, std::size_t then) {
  ReplyParser parser(longest);
  std::string heard;
  while (!bytes.empty() && parser.broken().empty()) {
    const auto room = parser.room();
    fuzz::require(!room.empty(), "there is room while the framing holds");
    const std::size_t count = std::min({piece, bytes.size(), room.size()});
    if (count > 0) std::memcpy(room.data(), bytes.data(), count);
    parser.commit(count);
    bytes = bytes.subspan(count);
    piece = then;
    while (const auto reply = parser.next()) {
      fuzz::require(reply->samples.size() <= longest, "samples fit the message");
      fuzz::require(reply->test <= 2048 && reply->channel < 2048, "tests and channels have 11 bits");
      if (!reply->text.empty()) fuzz::require_one_line(reply->text);
      heard += fmt::format("{} {} {} {} {} {}\n", static_cast<int>(reply->kind), reply->test, reply->channel, reply->format,
                           reply->axes[0], reply->text);
      heard.append(reinterpret_cast<const char*>(reply->samples.data()), reply->samples.size());
    }
  }
  if (!parser.broken().empty()) fuzz::require_one_line(parser.broken());
  return heard + parser.broken();
}

}  // namespace
}  // namespace echoform::micropulse

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  fuzz::require_cuts_to_tell_nothing(fuzz::Input(data, size), micropulse::listen);
  return 0;
}
