// What clients of the OpenIGTLink server send, in any portions.
//
// Input: a byte that says how the rest is cut, then the bytes that come.
#include <string>
#include <vector>

#include "tests/fuzz/input.hpp"
#include "transport/openigtlink/message_parser.hpp"

namespace {

using namespace echoform;

struct Outcome {
  std::vector<openigtlink::ReceivedMessage> messages;
  std::string fault;
  bool within = false;
};

/// Whether the parser is told to stop after each message and called again, or goes on by itself.
Outcome take(std::span<const std::uint8_t> bytes, std::size_t portion, bool stops) {
  Outcome outcome;
  openigtlink::MessageParser parser;
  while (!bytes.empty() && outcome.fault.empty()) {
    std::span<const std::byte> part = std::as_bytes(bytes.first(std::min(portion, bytes.size())));
    bytes = bytes.subspan(part.size());
    while (!part.empty() && outcome.fault.empty()) {
      const std::size_t before = part.size();
      outcome.fault = parser
                          .take(part,
                                [&](const openigtlink::ReceivedMessage& message) {
                                  outcome.messages.push_back(message);
                                  return !stops;
                                })
                          .value_or("");
      fuzz::require(part.size() < before, "bytes are taken");
    }
  }
  outcome.within = parser.within_message();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::size_t portion = 1 + input.take<std::uint8_t>();
  const Outcome whole = take(input.rest(), std::max<std::size_t>(1, input.rest().size()), false);
  const Outcome cut = take(input.rest(), portion, true);
  fuzz::require(cut.fault == whole.fault && cut.messages.size() == whole.messages.size(), "any cut gives the same messages");
  std::uint64_t counted = 0;
  for (std::size_t k = 0; k < whole.messages.size(); ++k) {
    const openigtlink::ReceivedMessage& message = whole.messages[k];
    const openigtlink::ReceivedMessage& same = cut.messages[k];
    fuzz::require(message.type == same.type && message.device == same.device && message.version == same.version &&
                      message.timestamp == same.timestamp && message.body_bytes == same.body_bytes,
                  "any cut gives the same messages");
    fuzz::require(message.version == 1 || message.version == 2, "a version that is known");
    fuzz::require_one_line(message.type);
    fuzz::require(message.type.size() <= openigtlink::most_type_letters, "types of at most 12 letters");
    if (!message.device.empty()) fuzz::require_one_line(message.device);
    fuzz::require(message.device.size() <= openigtlink::most_device_letters, "names of at most 20 letters");
    fuzz::require(message.body_bytes <= openigtlink::most_body_bytes, "bodies of bounded size");
    counted += openigtlink::header_bytes + message.body_bytes;
  }
  fuzz::require(counted <= input.rest().size(), "no more messages than bytes");
  if (whole.fault.empty()) {
    fuzz::require(whole.within == (counted < input.rest().size()), "what is left is a message that has begun");
  } else {
    fuzz::require_one_line(whole.fault);
  }
  return 0;
}
