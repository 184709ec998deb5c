// The checked recv() of _FORTIFY_SOURCE is inline and conflicts with the definition below.
#undef _FORTIFY_SOURCE

#include "transport/zeromq/receive_limit.hpp"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace echoform {
namespace {

/// The number of bytes left is stored plus one, so that 0 means "no limit".
struct Limit {
  std::atomic<std::int64_t> left{0};
  std::atomic<std::int64_t> full{0};

  void set(std::uint64_t bytes) noexcept {
    constexpr auto longest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 2);
    const auto value = static_cast<std::int64_t>(std::min(bytes, longest)) + 1;
    full.store(value, std::memory_order_relaxed);
    left.store(value, std::memory_order_relaxed);
  }
  /// Adds bytes, unless there is no limit, or no limit any more.
  void raise(std::uint64_t bytes) noexcept {
    const std::int64_t most = full.load(std::memory_order_relaxed);
    const std::int64_t more = std::min(most, static_cast<std::int64_t>(bytes));
    std::int64_t now = left.load(std::memory_order_relaxed);
    while (now != 0 && !left.compare_exchange_weak(now, std::min(most, now + more), std::memory_order_relaxed)) {
    }
  }
};

/// The limits of one descriptor. They begin and end together.
struct Limits {
  Limit burst, between_messages;

  [[nodiscard]] std::int64_t left() const noexcept {
    return std::min(burst.left.load(std::memory_order_relaxed), between_messages.left.load(std::memory_order_relaxed));
  }
  void spend(std::int64_t bytes) noexcept {
    burst.left.fetch_sub(bytes, std::memory_order_relaxed);
    between_messages.left.fetch_sub(bytes, std::memory_order_relaxed);
  }
  /// Cookie of the socket that the limits apply to: when libzmq has closed a descriptor by itself, its number may serve another
  /// socket.
  std::atomic<std::uint64_t> socket{0};

  void end() noexcept {
    burst.left.store(0, std::memory_order_relaxed);
    between_messages.left.store(0, std::memory_order_relaxed);
  }
};

// Descriptors are small numbers. A larger one has only the limits that are enforced outside libzmq.
constexpr std::size_t places = 65536;
std::array<Limits, places> all_limits;

Limits* limits_of(int descriptor) noexcept {
  const auto place = static_cast<std::size_t>(descriptor);
  return descriptor >= 0 && place < places ? &all_limits[place] : nullptr;
}

/// The number that the system gives to each socket; 0 where it gives none.
std::uint64_t cookie_of(int descriptor) noexcept {
  std::uint64_t cookie = 0;
  socklen_t bytes = sizeof cookie;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &bytes) == 0 ? cookie : 0;
}

/// True on a thread on which libzmq reads, which it names "ZMQbg/IO/0". Other parts of the program reuse descriptors that
/// connections of libzmq had.
bool reads_for_libzmq() noexcept {
  thread_local const bool does = [] {
    std::array<char, 16> name{};
    return ::pthread_getname_np(::pthread_self(), name.data(), name.size()) == 0 &&
           std::string_view(name.data()).starts_with("ZMQbg/IO");
  }();
  return does;
}

}  // namespace

void limit_receive(int descriptor, const ReceiveLimits& limits) noexcept {
  Limits* const to = limits_of(descriptor);
  if (to == nullptr) return;
  to->socket.store(cookie_of(descriptor), std::memory_order_relaxed);
  to->burst.set(limits.burst);
  to->between_messages.set(limits.between_messages);
}

void allow_receive(int descriptor, std::uint64_t bytes) noexcept {
  if (Limits* const limits = limits_of(descriptor)) limits->burst.raise(bytes);
}

void allow_between_messages(int descriptor, std::uint64_t bytes) noexcept {
  if (Limits* const limits = limits_of(descriptor)) limits->between_messages.raise(bytes);
}

void unlimit_receive(int descriptor) noexcept {
  if (Limits* const limits = limits_of(descriptor)) limits->end();
}

}  // namespace echoform

/// Replaces recv() of the C library for the whole program; the limits apply to libzmq's threads alone.
extern "C" ssize_t recv(int descriptor, void* buffer, size_t size, int flags) {
  const auto receive = [&] { return ::recvfrom(descriptor, buffer, size, flags, nullptr, nullptr); };
  echoform::Limits* const limits = echoform::reads_for_libzmq() ? echoform::limits_of(descriptor) : nullptr;
  const std::int64_t left = limits != nullptr ? limits->left() : 0;
  if (left == 0) return receive();
  if (limits->socket.load(std::memory_order_relaxed) != echoform::cookie_of(descriptor)) {
    limits->end();  // the limits are of a connection that has gone
    return receive();
  }
  if (left == 1) {
    limits->end();  // libzmq closes it now
    errno = ECONNRESET;
    return -1;
  }
  size = std::min(size, static_cast<std::size_t>(left - 1));
  const ssize_t received = receive();
  if (received > 0) {
    limits->spend(received);
  } else if (received == 0 || (errno != EAGAIN && errno != EINTR)) {
    limits->end();  // libzmq closes it now
  }
  return received;
}
