// Telemetry as a subscriber gets it.
#include "tests/fuzz/input.hpp"
#include "transport/publish/subscriber.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  static wire::Telemetry telemetry;  // subscribers reuse theirs
  if (!parse_telemetry(std::as_bytes(std::span(data, size)), telemetry)) return 0;
  const std::string again = telemetry.SerializeAsString();
  wire::Telemetry copy;
  fuzz::require(parse_telemetry(std::as_bytes(std::span(again)), copy), "telemetry that was taken is taken again");
  return 0;
}
