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

/// Its line may go back to the sender.
class WrongToken : public InputError {
 public:
  WrongToken() : InputError("Hello token: found a wrong one; expected the server's token") {}
};

/// What decides most refusals, found in the header of a Hello without making a message of it: in a time that its bytes bound, and
/// without memory.
struct HelloSummary {
  bool whole = false;  ///< whether the header is one message; else the rest is what came before the damage
  std::uint64_t session = 0;
  std::string_view token;   ///< of the header's bytes
  std::string_view sender;  ///< likewise, as it came
};
[[nodiscard]] HelloSummary summarise_hello(std::span<const std::byte> header);

/// Throws WrongToken where the Hello's token, compared in constant time, is not `token`. An empty one asks for none.
void refuse_wrong_token(const HelloSummary& hello, const std::string& token);
/// The refusals that cost nothing, for threads that other senders want: a wrong token, and another sender that is active. Throws
/// WrongToken or StreamBusy.
void refuse_early(const HelloSummary& hello, const std::string& token, const StreamHost& host);

/// A Hello's header as contents, or why it is none.
struct ReadHello {
  std::optional<HelloContents> contents;
  DecodeError error;  ///< where there are no contents
};
/// Makes a message of the header, whose checksum is right, and looks at all that it says. Takes milliseconds for long ones.
[[nodiscard]] ReadHello read_hello_header(std::span<const std::byte> header, const std::string& token,
                                          const AcquisitionLimits& limits);

/// Looks at the token, in constant time, and only then at anything else that the Hello says. An empty `token` asks for none.
/// Throws WrongToken, or InputError whose line goes back to the sender.
[[nodiscard]] HelloContents admit(const wire::Hello& hello, const std::string& token, const AcquisitionLimits& limits);

struct StreamOffer {
  std::shared_ptr<FrameIntake> intake;  ///< or none:
  FrameLayout layout;                   ///< of its frames
  std::string refusal;                  ///< one line for the log
  std::string answer;                   ///< the same for the sender, who is not told where files of the server are
  bool retry = false;                   ///< the same Hello may be accepted in a little while
};

/// Asks the host for the sender's stream, and takes whatever it throws for a refusal. May take seconds.
[[nodiscard]] StreamOffer open_stream(StreamHost& host, const HelloContents& contents);

}  // namespace echoform
