// How a Hello becomes a stream: the rules for senders, the same over every transport.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/errors.hpp"
#include "pipeline/frame_intake.hpp"
#include "transport/acquisition/hello.hpp"
#include "transport/acquisition/message_reader.hpp"

namespace echoform {

/// The exception for a wrong token. Its line may be sent back to the sender.
class WrongToken : public InputError {
 public:
  WrongToken() : InputError("Hello token: found a wrong one; expected the server's token") {}
};

/// The fields that decide most refusals. They are found in the header of a Hello without parsing it into a message: in a
/// time bounded by its length, and without allocating memory.
struct HelloSummary {
  bool whole = false;  ///< whether the header is one message; else the rest is what came before the damage
  std::uint64_t session = 0;
  std::string_view token;   ///< of the header's bytes
  std::string_view sender;  ///< likewise, as it came
};
[[nodiscard]] HelloSummary summarise_hello(std::span<const std::byte> header);

/// Throws WrongToken where the Hello's token, compared in constant time, is not `token`. An empty `token` accepts every
/// Hello.
void refuse_wrong_token(const HelloSummary& hello, const std::string& token);
/// Makes the refusals that are cheap, for threads that other senders need: for a wrong token, and while another sender is
/// active. Throws WrongToken or StreamBusy.
void refuse_early(const HelloSummary& hello, const std::string& token, const StreamHost& host);

/// A Hello's header as contents, or why it is none.
struct ReadHello {
  std::optional<HelloContents> contents;
  DecodeError error;  ///< where there are no contents
};
/// Parses the header, whose checksum is right, and checks all its fields. Takes milliseconds for long headers.
[[nodiscard]] ReadHello read_hello_header(std::span<const std::byte> header, const std::string& token,
                                          const AcquisitionLimits& limits);

/// Checks the token, in constant time, and only then the other fields of the Hello. An empty `token` accepts every Hello.
/// Throws WrongToken, or InputError whose line goes back to the sender.
[[nodiscard]] HelloContents admit(const wire::Hello& hello, const std::string& token, const AcquisitionLimits& limits);

struct StreamOffer {
  std::shared_ptr<FrameIntake> intake;  ///< null where the stream is refused
  FrameLayout layout;                   ///< of its frames
  std::string refusal;                  ///< one line for the log
  std::string answer;                   ///< the same for the sender, without the paths of the server's files
  bool retry = false;                   ///< the same Hello may be accepted in a little while
};

/// Asks the host for the sender's stream. An exception of the host becomes a refusal. May take seconds.
[[nodiscard]] StreamOffer open_stream(StreamHost& host, const HelloContents& contents);

}  // namespace echoform
