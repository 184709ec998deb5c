// HOST:PORT as options and configurations give it: what is taken comes back when it is put together again.
#include "base/errors.hpp"
#include "config/configuration.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  HostPort place;
  try {
    place = parse_host_port(fuzz::Input(data, size).text(), "--listen");
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
    return 0;
  }
  fuzz::require(!place.host.empty(), "a host");
  const bool brackets = place.host.find_first_of(":[]/ ") != std::string::npos;
  const HostPort again =
      parse_host_port(fmt::format("{}{}{}:{}", brackets ? "[" : "", place.host, brackets ? "]" : "", place.port), "--listen");
  fuzz::require(again.host == place.host && again.port == place.port, "put together again, the same");
  return 0;
}
