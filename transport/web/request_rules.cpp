#include "transport/web/request_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>

namespace echoform {
namespace {

constexpr std::size_t value_limit = 256;

bool same_without_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::string> unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned value = 0;
    if (i + 2 >= text.size()) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
    if (error != std::errc() || end != text.data() + i + 3) return std::nullopt;
    plain += static_cast<char>(value);
    i += 2;
  }
  return plain;
}

// Extracts the host: "[::1]:8080" -> "::1", "localhost:8080" -> "localhost"; empty where malformed.
std::string_view host_name(std::string_view host) {
  std::string_view name, rest;
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    if (end == std::string_view::npos) return {};
    name = host.substr(1, end - 1);
    rest = host.substr(end + 1);
  } else {
    const auto colon = std::min(host.find(':'), host.size());
    name = host.substr(0, colon);
    rest = host.substr(colon);
  }
  if (rest.empty()) return name;
  const bool port =
      rest.starts_with(':') && std::all_of(rest.begin() + 1, rest.end(), [](char c) { return c >= '0' && c <= '9'; });
  return port ? name : std::string_view{};
}

}  // namespace

std::optional<RequestTarget> parse_target(std::string_view target) {
  if (!target.starts_with('/')) return std::nullopt;
  RequestTarget parsed;
  const auto question = std::min(target.find('?'), target.size());
  parsed.path = target.substr(0, question);
  std::string_view query = target.substr(std::min(question + 1, target.size()));
  while (!query.empty()) {
    const auto end = query.find('&');
    const std::string_view part = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
    const auto equals = std::min(part.find('='), part.size());
    const auto value = unescape(part.substr(std::min(equals + 1, part.size())));
    if (!value || value->size() > value_limit) return std::nullopt;
    if (part.substr(0, equals) == "stream" &&
        std::find(parsed.streams.begin(), parsed.streams.end(), *value) == parsed.streams.end()) {
      if (parsed.streams.size() == most_streams) return std::nullopt;
      parsed.streams.push_back(*value);
    }
    if (part.substr(0, equals) == "token") parsed.token = *value;
    if (part.substr(0, equals) == "together") parsed.together = true;
  }
  return parsed;
}

bool host_allowed(std::string_view host, std::span<const std::string> names) {
  const std::string_view name = host_name(host);
  if (name.empty()) return false;
  boost::system::error_code error;
  boost::asio::ip::make_address(name, error);
  if (!error || same_without_case(name, "localhost")) return true;
  return std::any_of(names.begin(), names.end(), [&](const std::string& own) { return same_without_case(own, name); });
}

bool origin_allowed(std::string_view origin, std::string_view host, bool encrypted) {
  if (origin.empty()) return true;
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (origin.starts_with(scheme)) return same_without_case(origin.substr(scheme.size()), host);
    if (encrypted) break;
  }
  return false;
}

bool token_allowed(std::string_view expected, std::string_view given, std::string_view authorization) {
  if (expected.empty()) return true;
  if (authorization.starts_with("Bearer ")) given = authorization.substr(7);
  unsigned difference = given.size() == expected.size() ? 0U : 1U;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const char c = i < given.size() ? given[i] : '\0';
    difference |= static_cast<unsigned>(static_cast<unsigned char>(c) ^ static_cast<unsigned char>(expected[i]));
  }
  return difference == 0;
}

std::optional<PeerRefusal> refuse_to_read(const RequestOrigin& request, const RequestTrust& trust) {
  if (!host_allowed(request.host, trust.host_names)) return PeerRefusal::wrong_host;
  if (!origin_allowed(request.origin, request.host, trust.encrypted)) return PeerRefusal::wrong_origin;
  const bool elsewhere = request.fetch_site == "cross-site" || request.fetch_site == "same-site";
  if (elsewhere && request.fetch_mode != "navigate") return PeerRefusal::wrong_origin;
  if (!token_allowed(trust.token, request.token, request.authorization)) return PeerRefusal::wrong_token;
  return std::nullopt;
}

std::optional<PeerRefusal> refuse_to_change(const RequestOrigin& request, const RequestTrust& trust) {
  if (const auto refusal = refuse_to_read(request, trust)) return refusal;
  if (!request.fetch_site.empty() && request.fetch_site != "same-origin") return PeerRefusal::wrong_origin;
  std::string_view type = request.content_type.substr(0, request.content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  if (!same_without_case(type, "application/json")) return PeerRefusal::bad_request;
  return std::nullopt;
}

std::string escape_query(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    if (plain)
      escaped += c;
    else
      escaped += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return escaped;
}

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace echoform
