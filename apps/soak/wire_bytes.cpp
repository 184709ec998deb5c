#include "apps/soak/wire_bytes.hpp"

#include "apps/soak/judge.hpp"
#include "transport/acquisition/framing.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::soak {

std::string hello_bytes(const Acquisition& acquisition, const std::string& token, std::uint64_t session) {
  const SenderIdentity identity{
      .session = session, .connection_index = 0, .connection_count = 1, .sender = "echoform soak", .token = token};
  const auto bytes = encode_message(MessageType::hello, encode_hello(identity, acquisition));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string shot_bytes(std::uint64_t sequence, std::size_t transmit, std::span<const std::byte> payload) {
  std::array<std::byte, maximum_encoded_shot_bytes> head{};
  const std::size_t length = encode_shot(head, {sequence, static_cast<std::uint32_t>(transmit), WallTime{0}}, payload.size());
  std::string bytes(reinterpret_cast<const char*>(head.data()), length);
  bytes.append(reinterpret_cast<const char*>(payload.data()), payload.size());
  return bytes;
}

Answer answer_of(RawConnection& connection) {
  std::string got;
  while (got.size() < prefix_bytes) {
    if (connection.read(got, patience) != RawConnection::Outcome::bytes) return Answer::none;
  }
  const MessagePrefix prefix = read_prefix(std::as_bytes(std::span(got)).first<prefix_bytes>());
  while (got.size() < prefix_bytes + prefix.header_bytes) {
    if (connection.read(got, patience) != RawConnection::Outcome::bytes) return Answer::none;
  }
  if (!prefix.magic_matches) return Answer::none;
  if (prefix.type == static_cast<std::uint16_t>(MessageType::accept)) return Answer::accept;
  return prefix.type == static_cast<std::uint16_t>(MessageType::reject) ? Answer::reject : Answer::none;
}

}  // namespace echoform::soak
