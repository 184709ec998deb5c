// Messages of the acquisition protocol as bytes, for senders that then send only some of them, or change them.
#pragma once

#include <cstdint>
#include <string>

#include "acquisition/acquisition.hpp"
#include "apps/soak/raw_connection.hpp"

namespace echoform::soak {

[[nodiscard]] std::string hello_bytes(const Acquisition& acquisition, const std::string& token, std::uint64_t session);
/// A shot of `payload`, prefix and header included.
[[nodiscard]] std::string shot_bytes(std::uint64_t sequence, std::size_t transmit, std::span<const std::byte> payload);

enum class Answer { none, accept, reject };
/// The server's answer to what was sent; none if it closes or takes too long.
[[nodiscard]] Answer answer_of(RawConnection& connection);

}  // namespace echoform::soak
