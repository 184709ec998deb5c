// The Hello, in which a sender describes itself and its acquisition: conversion to and from the message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "acquisition/acquisition.hpp"

namespace echoform {

namespace wire {
class Hello;
}

struct SenderIdentity {
  std::uint64_t session = 0;           ///< the same on all connections of one sender
  std::uint32_t connection_index = 0;  ///< below connection_count
  std::uint32_t connection_count = 1;  ///< 1 .. 8
  std::string sender;                  ///< name and version, for logs; printable
  std::string token;
};

struct HelloContents {
  SenderIdentity identity;
  Acquisition acquisition;
};

/// Reads a Hello. Checks every field and its range before it allocates anything of a stated size. Throws InputError, whose
/// line is sent back to the sender.
[[nodiscard]] HelloContents read_hello(const wire::Hello& hello, const AcquisitionLimits& limits);

/// The Hello's header, serialised. Fields that hold their default for every element are left out. Throws InputError if the
/// elements differ in size, which the message cannot express. Throws InputError, naming the longest part, if the Hello would
/// be longer than a server reads (maximum_hello_bytes).
[[nodiscard]] std::string encode_hello(const SenderIdentity& identity, const Acquisition& acquisition);

/// Names of the forms of transmit events that a Hello may list, as the message has them: "element, plane_wave ... or code".
[[nodiscard]] std::string known_event_forms();

/// `text` with control characters and bytes that are not ASCII replaced, cut at `longest` characters: fit for a log line.
[[nodiscard]] std::string printable(std::string_view text, std::size_t longest = 128);

/// Whether two secrets are equal, in a time that depends on the length of `given` alone.
[[nodiscard]] bool equal_in_constant_time(std::string_view expected, std::string_view given) noexcept;

}  // namespace echoform
