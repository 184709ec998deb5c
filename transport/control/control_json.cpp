#include "transport/control/control_json.hpp"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>

#include "base/errors.hpp"

namespace echoform {

std::optional<std::string> parse_control_json(std::string_view text, wire::ControlRequest& request) {
  const google::protobuf::LogSilencer silencer;  // malformed requests do not fill our log
  const auto status = google::protobuf::util::JsonStringToMessage({text.data(), text.size()}, &request);
  if (status.ok()) return std::nullopt;
  return fmt::format("control request: found {} bytes that are none; expected a ControlRequest as JSON", text.size());
}

std::string control_json(const wire::ControlReply& reply) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(reply, &text, options).ok()) throw RuntimeFault("a reply that is no JSON");
  return text + '\n';
}

unsigned http_status(wire::ControlOutcome outcome) noexcept {
  switch (outcome) {
    case wire::DONE:
      return 200;
    case wire::REFUSED:
      return 422;
    case wire::CONFLICT:
      return 409;
    default:
      return 500;
  }
}

}  // namespace echoform
