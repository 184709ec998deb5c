// Refused peers by reason, the same for every listening socket.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/text.hpp"

namespace echoform {

/// Why a peer was refused or disconnected.
enum class PeerRefusal : std::uint8_t {
  too_many,        ///< the maximum number of connections is open
  address_limit,   ///< the address has as many connections as one address may
  too_often,       ///< the address connects too fast
  wrong_key,       ///< CURVE: a key that is not among the clients'
  bad_handshake,   ///< ZeroMQ: no CURVE, another server's key, no ZMTP, left before its end; the web server: no TLS, or too old a
                   ///< one
  flooding,        ///< sent more than such a peer needs to send
  wrong_token,     ///< none, or another
  wrong_host,      ///< a browser that asked for another name
  wrong_origin,    ///< a page of another site
  bad_request,     ///< malformed, too large, not what is served
  silent,          ///< nothing complete in time
  no_descriptors,  ///< the remaining descriptors are reserved for files and control
};
inline constexpr std::size_t peer_refusal_count = 12;

namespace words {
inline constexpr auto peer_refusal = make_words(std::pair{PeerRefusal::too_many, std::string_view("too_many")},
                                                std::pair{PeerRefusal::address_limit, std::string_view("address_limit")},
                                                std::pair{PeerRefusal::too_often, std::string_view("too_often")},
                                                std::pair{PeerRefusal::wrong_key, std::string_view("wrong_key")},
                                                std::pair{PeerRefusal::bad_handshake, std::string_view("bad_handshake")},
                                                std::pair{PeerRefusal::flooding, std::string_view("flooding")},
                                                std::pair{PeerRefusal::wrong_token, std::string_view("wrong_token")},
                                                std::pair{PeerRefusal::wrong_host, std::string_view("wrong_host")},
                                                std::pair{PeerRefusal::wrong_origin, std::string_view("wrong_origin")},
                                                std::pair{PeerRefusal::bad_request, std::string_view("bad_request")},
                                                std::pair{PeerRefusal::silent, std::string_view("silent")},
                                                std::pair{PeerRefusal::no_descriptors, std::string_view("no_descriptors")});
}  // namespace words

/// Totals since the socket was opened. Any thread may read them.
struct PeerCounters {
  std::atomic<std::uint64_t> accepted{0};  ///< connections, whatever became of them
  std::atomic<std::uint64_t> open{0};      ///< now
  std::array<std::atomic<std::uint64_t>, peer_refusal_count> refused{};

  void refuse(PeerRefusal reason) noexcept { refused[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t refused_for(PeerRefusal reason) const noexcept {
    return refused[static_cast<std::size_t>(reason)].load(std::memory_order_relaxed);
  }
};

}  // namespace echoform
