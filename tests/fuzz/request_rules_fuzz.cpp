// What the web server lets through, against plain statements of the rules.
//
// Input: target, host, origin, the server's token, the token given and the Authorization header, a line each.
#include <boost/asio/ip/address.hpp>
#include <nlohmann/json.hpp>

#include "tests/fuzz/input.hpp"
#include "transport/web/request_rules.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  fuzz::Input input(data, size);
  const std::string_view target = input.take_until('\n');
  const std::string_view host = input.take_until('\n');
  const std::string_view origin = input.take_until('\n');
  const std::string_view expected = input.take_until('\n');
  const std::string_view given = input.take_until('\n');
  const std::string_view authorization = input.take_until('\n');

  if (const auto parsed = parse_target(target)) {
    fuzz::require(parsed->path.starts_with('/'), "a path");
    fuzz::require(parsed->token.size() <= 256, "values of at most 256 bytes");
    fuzz::require(parsed->streams.size() <= most_streams, "no more streams than a viewer may watch");
    std::string escaped = "/?token=" + escape_query(parsed->token);
    for (const std::string& stream : parsed->streams) {
      fuzz::require(stream.size() <= 256, "values of at most 256 bytes");
      escaped += "&stream=" + escape_query(stream);
    }
    const auto again = parse_target(escaped);
    fuzz::require(again && again->streams == parsed->streams && again->token == parsed->token, "escaped values come back");
  }

  const std::vector<std::string> names{"scanner.example"};
  if (host_allowed(host, names)) {
    // Only letters, digits, dots, colons, brackets, and the zone of an IPv6 address.
    const auto end = host.starts_with('[') ? host.find(']') : host.find(':');
    std::string name(host.starts_with('[') ? host.substr(1, end - 1) : host.substr(0, end));
    boost::system::error_code error;
    boost::asio::ip::make_address(name, error);
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    fuzz::require(!error || name == "localhost" || name == names[0], "only addresses, localhost and the server's names");
  }
  if (origin_allowed(origin, host) && !origin.empty()) {
    fuzz::require(origin.size() == host.size() + 7 || origin.size() == host.size() + 8, "an origin of this host");
  }
  const std::string_view brought = authorization.starts_with("Bearer ") ? authorization.substr(7) : given;
  fuzz::require(token_allowed(expected, given, authorization) == (expected.empty() || brought == expected),
                "the right token and no other");

  const bool ascii = std::all_of(target.begin(), target.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  const auto json = nlohmann::json::parse(json_string(target), nullptr, false);
  if (ascii) fuzz::require(json.is_string() && json.get<std::string>() == target, "a JSON string");
  return 0;
}
