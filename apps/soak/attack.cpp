#include "apps/soak/attack.hpp"

#include <array>
#include <chrono>
#include <random>

#include "apps/soak/raw_connection.hpp"
#include "base/errors.hpp"
#include "proto/control.pb.h"

namespace echoform::soak {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

constexpr std::size_t greeting_bytes = 64;

/// A message of ZMTP 3.0, or a part of one that other parts follow.
std::string message(std::string_view body, bool more = false) {
  std::string frame;
  if (body.size() < 256) {
    frame += more ? '\1' : '\0';
    frame += static_cast<char>(body.size());
  } else {
    frame += more ? '\3' : '\2';
    for (unsigned shift = 64; shift > 0; shift -= 8) frame += static_cast<char>((body.size() >> (shift - 8)) & 0xFFU);
  }
  frame += body;
  return frame;
}

std::string random_text(std::mt19937_64& random, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (char& byte : text) byte = static_cast<char>(random());
  return text;
}

/// Subscriptions of `each` random bytes, with `all` bytes together. No other client sends the same ones.
std::string subscriptions(std::mt19937_64& random, std::size_t each, std::size_t all) {
  std::string bytes;
  while (bytes.size() + each < all) bytes += message('\1' + random_text(random, each));
  return bytes;
}

std::string requests(std::string_view body, std::size_t count) {
  std::string bytes;
  for (; count > 0; --count) bytes += message("", true) + message(body);
  return bytes;
}

/// The bytes that one connection sends.
struct Words {
  std::string bytes;
  bool over_and_over = true;  ///< sent repeatedly; otherwise once, and the connection stays for a moment
};

Words words_of(AttackKind kind, std::mt19937_64& random) {
  const std::uint64_t way = random() % 4;
  if (kind == AttackKind::subscriptions) {
    switch (way) {
      case 0:
        return {subscriptions(random, 4000, 60'000)};
      case 1:
        return {subscriptions(random, 500, 60'000)};
      case 2:
        return {subscriptions(random, 480, 1'800), false};
      default:
        return {subscriptions(random, 3, 1'800), false};
    }
  }
  wire::ControlRequest get;
  get.set_action("get");
  switch (way) {
    case 0:
      return {requests(random_text(random, 60'000), 8)};
    case 1:
      return {requests(get.SerializeAsString(), 2000)};
    case 2:
      return {requests(random_text(random, 2), 20'000)};
    default: {
      Words parts;
      for (int part = 0; part < 100'000; ++part) parts.bytes += "\1\0"sv;
      return parts;
    }
  }
}

/// True if the server has answered the handshake, so that it takes messages.
bool answered(RawConnection& connection, const std::stop_token& stop) {
  std::string bytes;
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  while (bytes.size() <= greeting_bytes && !stop.stop_requested() && std::chrono::steady_clock::now() < deadline) {
    if (connection.read(bytes, 20ms) == RawConnection::Outcome::closed) return false;
  }
  return bytes.size() > greeting_bytes;
}

}  // namespace

std::string zeromq_handshake(std::string_view type) {
  std::string bytes("\xFF\0\0\0\0\0\0\0\0\x7F\x03\0NULL"sv);
  bytes.resize(greeting_bytes);
  bytes += "\x04\x19\x05READY\x0BSocket-Type\0\0\0\x03"sv;
  bytes += type;
  return bytes;
}

Attack::Attack(AttackKind kind, const std::string& endpoint, std::size_t clients, std::uint64_t seed) {
  for (std::size_t client = 0; client < clients; ++client) {
    clients_.emplace_back([this, kind, place = place_of(endpoint), seed = seed + client](const std::stop_token& stop) {
      run(kind, place, seed, stop);
    });
  }
}

Attack::~Attack() {
  for (std::jthread& client : clients_) client.request_stop();  // all at once, not one after the other
}

void Attack::run(AttackKind kind, const HostPort& place, std::uint64_t seed, const std::stop_token& stop) {
  std::mt19937_64 random(seed);
  const std::string handshake = zeromq_handshake(kind == AttackKind::subscriptions ? "SUB" : "REQ");
  while (!stop.stop_requested()) {
    try {
      RawConnection connection(place);
      ++connections_;
      if (!connection.send(handshake) || !answered(connection, stop)) continue;
      const Words words = words_of(kind, random);
      if (!words.over_and_over && !connection.send(words.bytes)) continue;
      for (int turn = 0; turn < 100 && !stop.stop_requested(); ++turn) {
        if (words.over_and_over ? !connection.send_some(words.bytes) : connection.closed_by_peer()) break;
        std::this_thread::sleep_for(1ms);  // the server decides how much it takes
      }
    } catch (const RuntimeFault&) {
      std::this_thread::sleep_for(10ms);  // the server has no free connection, or has gone
    }
  }
}

}  // namespace echoform::soak
