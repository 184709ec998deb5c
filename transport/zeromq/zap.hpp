// Decides which peers are let in. It answers, as plain functions, the questions that libzmq asks about each peer before it
// takes a message from it (ZAP, https://rfc.zeromq.org/spec/27).
#pragma once

#include <zmq.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "transport/zeromq/curve_keys.hpp"

namespace echoform {

/// The domain that our sockets name. Another domain is refused.
inline constexpr std::string_view zap_domain = "echoform";
/// Where libzmq asks, in each context.
inline constexpr const char* zap_endpoint = "inproc://zeromq.zap.01";

struct ZapVerdict {
  std::string request_id;
  std::string_view status;  ///< "200", "400" (refused) or "500" (no question that we know)
  std::string_view text;
  std::string user;     ///< the client's public key in Z85; empty unless let in
  std::string address;  ///< of the peer, printable
};

/// Lets in a peer that libzmq asks about by CURVE in our domain and whose key `keys` lists; any key where `keys` lists none.
/// Whatever is not exactly such a question is refused.
[[nodiscard]] ZapVerdict judge(const std::vector<zmq::message_t>& question, const CurveServerKeys& keys);

/// Judges peers of sockets without keys: lets in a peer that libzmq asks about by NULL in our domain, and refuses whatever
/// is not exactly such a question.
[[nodiscard]] ZapVerdict judge_without_keys(const std::vector<zmq::message_t>& question);

}  // namespace echoform
