// Control messages as JSON, in Protocol Buffers' own mapping with the names of control.proto: 64-bit numbers are strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proto/control.pb.h"

namespace echoform {

/// Parses `text` into `request`. Returns what is wrong, in one line, if the text is no ControlRequest; unknown names are
/// errors too.
[[nodiscard]] std::optional<std::string> parse_control_json(std::string_view text, wire::ControlRequest& request);

[[nodiscard]] std::string control_json(const wire::ControlReply& reply);

/// The HTTP status of the answer: 200, 422 (REFUSED), 409 (CONFLICT) or 500 (FAILED).
[[nodiscard]] unsigned http_status(wire::ControlOutcome outcome) noexcept;

}  // namespace echoform
