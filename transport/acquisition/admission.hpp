// From a Hello to a stream: the rules that hold for a sender whichever door it knocks at.
#pragma once

#include <memory>
#include <string>

#include "base/errors.hpp"
#include "pipeline/frame_intake.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform {

/// Its line may go back to the sender.
class WrongToken : public InputError {
 public:
  WrongToken() : InputError("Hello token: found a wrong one; expected the server's token") {}
};

/// Looks at the token, in constant time, and only then at anything else that the Hello says. An empty `token` asks for none.
/// Throws WrongToken, or InputError whose line goes back to the sender.
[[nodiscard]] HelloContents admit(const wire::Hello& hello, const std::string& token, const AcquisitionLimits& limits);

struct StreamOffer {
  std::shared_ptr<FrameIntake> intake;  ///< or none:
  std::string refusal;                  ///< one line for the sender and the log
  bool retry = false;                   ///< the same Hello may be accepted in a little while
};

/// Asks the host for the sender's stream, and takes whatever it throws for a refusal. May take seconds.
[[nodiscard]] StreamOffer open_stream(StreamHost& host, const HelloContents& contents);

}  // namespace echoform
