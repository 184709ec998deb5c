#include "transport/doors.hpp"

#include <fmt/format.h>

#include <boost/asio/ip/address.hpp>

#include "base/errors.hpp"

// The list of outputs to external viewers: OUTPUT(NAME) stands for `SinkDoor NAME_door()` of transport/NAME/, with its keys.
#define ECHOFORM_OUTPUTS(OUTPUT) OUTPUT(openigtlink)

namespace echoform {

#define ECHOFORM_DECLARE(NAME) SinkDoor NAME##_door();
ECHOFORM_OUTPUTS(ECHOFORM_DECLARE)
#undef ECHOFORM_DECLARE

std::vector<SinkDoor> output_doors() {
  std::vector<SinkDoor> doors;
#define ECHOFORM_MAKE(NAME) doors.push_back(NAME##_door());
  ECHOFORM_OUTPUTS(ECHOFORM_MAKE)
#undef ECHOFORM_MAKE
  return doors;
}

AcquisitionLimits limits_of(const InputSection& input) {
  return {.elements = input.max_elements, .samples = input.max_samples, .frame_bytes = input.max_frame_bytes};
}

HostPort listening_place(const Configuration& configuration, const std::string& text, std::string_view key) {
  const std::string where = fmt::format("{}: {}", configuration.name(), key);
  HostPort place = parse_host_port(text, where);
  boost::system::error_code error;
  boost::asio::ip::make_address(place.host, error);
  const bool every_interface = place.host == "*" && (key == "[server] images" || key == "[server] telemetry" ||
                                                     key == "[server] control" || key == "[input] zeromq");
  if (error && !every_interface) {
    throw InputError(where, fmt::format("\"{}\"", text), "ADDRESS:PORT with an IPv4 or IPv6 address of this machine");
  }
  return place;
}

}  // namespace echoform
