// Messages as they go over ZeroMQ: each by itself, each with its session.
#pragma once

#include <cstdint>

#include "proto/acquisition.pb.h"
#include "tests/transport_acquisition/messages.hpp"

namespace echoform::testing_support {

inline Bytes shot_of(std::uint64_t session, std::uint64_t sequence, std::uint32_t transmit, const Bytes& payload) {
  wire::Shot shot;
  shot.set_sequence(sequence);
  shot.set_transmit(transmit);
  shot.set_acquisition_time(1234567);
  shot.set_session(session);
  return raw_message(4, shot.SerializeAsString(), payload.size(), payload);
}

inline Bytes end_of(std::uint64_t session) {
  wire::End end;
  end.set_session(session);
  return encode_message(MessageType::end, end.SerializeAsString());
}

inline Bytes hello_of(const Acquisition& acquisition, std::uint64_t session, const std::string& token = {}) {
  return hello_message(acquisition, {.session = session,
                                     .connection_index = 0,
                                     .connection_count = 1,
                                     .sender = "sender " + std::to_string(session),
                                     .token = token});
}

/// A frame as a sender sends it: the Hello, then its shots.
inline std::vector<Bytes> frame_of(const Acquisition& acquisition, std::uint64_t session, std::uint64_t sequence,
                                   const Bytes& frame) {
  std::vector<Bytes> messages{hello_of(acquisition, session)};
  for (std::uint32_t transmit = 0; transmit < acquisition.event_count(); ++transmit) {
    messages.push_back(shot_of(session, sequence, transmit, shot_payload(acquisition, frame, transmit)));
  }
  return messages;
}

}  // namespace echoform::testing_support
