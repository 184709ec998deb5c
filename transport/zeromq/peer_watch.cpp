#include "transport/zeromq/peer_watch.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "transport/zeromq/receive_limit.hpp"
#include "transport/zeromq/received_bytes.hpp"

namespace echoform {
namespace {

using Address = boost::asio::ip::address;

// A peer that has sent fewer bytes is still in its handshake. The handshake is a greeting, then READY with a socket type of three
// letters. With CURVE, a HELLO follows the greeting, and an INITIATE carries the same socket type.
constexpr std::uint64_t greeting_bytes = 64;
constexpr std::uint64_t type_bytes = 1 + 11 + 4 + 3;
constexpr std::uint64_t plain_handshake_bytes = greeting_bytes + 2 + 6 + type_bytes;
constexpr std::uint64_t hello_bytes = 2 + 200;
constexpr std::uint64_t initiate_bytes = 9 + 9 + 96 + 8 + 16 + 128 + type_bytes;
constexpr std::uint64_t curve_handshake_bytes = greeting_bytes + hello_bytes + initiate_bytes;

struct Ends {
  std::uint16_t own_port;
  Address peer;
};

std::optional<std::pair<Address, std::uint16_t>> end_of(const sockaddr_storage& storage) {
  if (storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage, sizeof v4);
    return std::pair<Address, std::uint16_t>{boost::asio::ip::address_v4(ntohl(v4.sin_addr.s_addr)), ntohs(v4.sin_port)};
  }
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &storage, sizeof v6);
    boost::asio::ip::address_v6::bytes_type bytes{};
    std::copy_n(v6.sin6_addr.s6_addr, bytes.size(), bytes.begin());
    return std::pair<Address, std::uint16_t>{boost::asio::ip::address_v6(bytes), ntohs(v6.sin6_port)};
  }
  return std::nullopt;
}

// Nothing for a descriptor that is not a connection, or not any more.
std::optional<Ends> ends_of(int descriptor) {
  sockaddr_storage own{}, peer{};
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &own_size) != 0) return std::nullopt;
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) return std::nullopt;
  const auto here = end_of(own), there = end_of(peer);
  if (!here || !there) return std::nullopt;
  return Ends{here->second, there->first};
}

/// Ends a connection and discards the data that wait in the system's buffer. After a shutdown(), libzmq would still read all of
/// that: megabytes of parts, which it keeps.
void abort_connection(int descriptor) {
  sockaddr nowhere{};
  nowhere.sa_family = AF_UNSPEC;
  if (::connect(descriptor, &nowhere, sizeof nowhere) != 0) ::shutdown(descriptor, SHUT_RDWR);
}

}  // namespace

PeerWatch::PeerWatch(zmq::context_t& context, zmq::socket_t& socket, const std::string& name, const std::string& door,
                     const ZeromqPeerLimits& limits, bool encrypted, const MessageMarks& marks, ZeromqPeerCounters& counters)
    : log_(door),
      limits_(limits),
      handshake_bytes_(encrypted ? curve_handshake_bytes : plain_handshake_bytes),
      marks_(marks),
      counters_(counters),
      book_(limits.peers),
      events_(context, zmq::socket_type::pair) {
  const std::string endpoint = "inproc://" + name;
  constexpr int wanted =
      ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;
  if (::zmq_socket_monitor(socket.handle(), endpoint.c_str(), wanted) != 0) throw zmq::error_t();
  events_.set(zmq::sockopt::linger, 0);
  events_.set(zmq::sockopt::rcvhwm, 0);  // with a limit, libzmq's I/O thread would wait for us
  events_.connect(endpoint);
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) throw RuntimeFault(std::string("ZeroMQ: no epoll: ") + std::strerror(errno));
  spare_ = ::fcntl(epoll_, F_DUPFD_CLOEXEC, 0);
  if (spare_ < 0) {
    const int error = errno;
    ::close(epoll_);
    throw RuntimeFault(std::string("ZeroMQ: no descriptor: ") + std::strerror(error));
  }
}

PeerWatch::~PeerWatch() {
  while (!peers_.empty()) forget(peers_.begin());
  ::close(spare_);
  ::close(epoll_);
}

bool PeerWatch::limited() const {
  return std::isfinite(limits_.inbound_burst);
}

void PeerWatch::allow_more(double seconds) {
  const auto whole = [](double& bytes) {
    const auto taken = static_cast<std::uint64_t>(bytes);
    bytes -= static_cast<double>(taken);
    return taken;
  };
  may_read_ += limits_.inbound_rate * seconds;
  signs_of_life_ += signs_of_life_rate * seconds;
  const std::uint64_t more = whole(may_read_), signs = whole(signs_of_life_);
  for (const auto& [id, peer] : peers_) {
    allow_receive(peer.number, more);
    allow_between_messages(peer.number, signs);
  }
}

bool PeerWatch::read_events() {
  zmq::message_t event, address;
  while (events_.recv(event, zmq::recv_flags::dontwait)) {
    if (event.more()) (void)events_.recv(address, zmq::recv_flags::dontwait);
    std::uint16_t what = 0;
    std::int32_t value = 0;
    if (event.size() != sizeof what + sizeof value) continue;
    std::memcpy(&what, event.data(), sizeof what);
    std::memcpy(&value, event.data<char>() + sizeof what, sizeof value);
    if (what == ZMQ_EVENT_ACCEPTED) accepted(value);
    if (what == ZMQ_EVENT_DISCONNECTED) disconnected(value);
    if (what == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) refuse(PeerRefusal::bad_handshake, {});
    // The side that first finds that the two have no mechanism in common closes the connection. libzmq then reports which
    // connection it was.
    if (what == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL) left_in_handshake_ = true;
    if (what == ZMQ_EVENT_MONITOR_STOPPED) return false;
  }
  return true;
}

// The connection is duplicated into a descriptor that we own already. So newcomers are seen, counted and turned away even when no
// descriptor is left.
void PeerWatch::accepted(int number) {
  counters_.accepted.fetch_add(1, std::memory_order_relaxed);
  turned_away_.erase(number);
  if (::dup3(number, spare_, O_CLOEXEC) < 0) return;  // the connection has gone already
  welcome(number);
  ::dup3(epoll_, spare_, O_CLOEXEC);  // releases the connection and keeps the descriptor
}

void PeerWatch::welcome(int number) {
  // The connection may have gone, and its number may belong to another file by now: only a connection of our own port is touched.
  const auto ends = ends_of(spare_);
  if (!ends || ends->own_port != port_) return;
  Peer peer;
  peer.number = number;
  peer.address = ends->peer;
  peer.seen = Clock::now();
  peer.allowance = limits_.inbound_burst;
  peer.mark = marks_.of(number);
  auto refusal = book_.enter(peer.address, peer.seen);
  if (refusal == PeerRefusal::too_many && make_room()) refusal = book_.enter(peer.address, peer.seen);
  if (!refusal) {
    if (!fewer_descriptors_left(number, limits_.descriptors_left)) peer.descriptor = ::fcntl(spare_, F_DUPFD_CLOEXEC, 0);
    if (peer.descriptor < 0) {
      book_.leave(peer.address);
      static_cast<void>(make_room());  // for the next connection
      refusal = PeerRefusal::no_descriptors;
    }
  }
  if (refusal) {
    refuse(*refusal, peer.address);
    turned_away_.insert(number);
    note_freed(spare_);
    abort_connection(spare_);
    return;
  }
  const std::uint64_t id = next_++;
  Peer& entry = peers_[id] = peer;
  counters_.open.store(book_.open(), std::memory_order_relaxed);
  if (!limited()) return unlimit_receive(number);
  limit_receive(number, {static_cast<std::uint64_t>(limits_.inbound_burst), limits_.between_messages});
  // Events are edge-triggered, because the bytes that have arrived are left for libzmq to read.
  epoll_event interest{};
  interest.events = EPOLLIN | EPOLLET;
  interest.data.u64 = id;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, peer.descriptor, &interest) != 0) cut_off(entry, PeerRefusal::too_many);
}

void PeerWatch::disconnected(int number) {
  const auto at = std::find_if(peers_.begin(), peers_.end(), [&](const auto& item) { return item.second.number == number; });
  // If libzmq has read as much as it may, this event is the first report of that.
  if (at != peers_.end() && limited()) check(at->second, true);
  const bool by_us = turned_away_.erase(number) > 0 || (at != peers_.end() && at->second.cut_off);
  if (std::exchange(left_in_handshake_, false) && !by_us) {
    refuse(PeerRefusal::bad_handshake, at != peers_.end() ? at->second.address : Address{});
  }
  if (at != peers_.end()) forget(at);
}

void PeerWatch::look() {
  std::array<epoll_event, 64> ready{};
  const int count = ::epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t id = ready[static_cast<std::size_t>(i)].data.u64;  // a copy: the kernel's structure is packed
    const auto at = peers_.find(id);
    if (at != peers_.end()) check(at->second);
  }
}

void PeerWatch::tick(std::chrono::duration<double> passed) {
  if (limited()) allow_more(passed.count());
  if (limits_.between_messages == std::numeric_limits<std::uint64_t>::max()) return;
  for (auto& [id, peer] : peers_) {
    peer.unfinished = std::max(0.0, peer.unfinished - signs_of_life_rate * passed.count());
    weigh(peer, false);
  }
}

void PeerWatch::weigh(Peer& peer, bool ended) {
  if (limits_.between_messages == std::numeric_limits<std::uint64_t>::max() || peer.cut_off) return;
  const auto mark = marks_.of(peer.number);
  // After libzmq has closed a connection, the bytes that it left unread are those that it must not read. They count, too.
  const auto read = ended ? received_bytes(peer.descriptor) : read_bytes(peer.descriptor);
  if (!read) return;
  const std::uint64_t before = std::exchange(peer.read, std::max(*read, peer.read));
  peer.unfinished += static_cast<double>(peer.read - before);
  // Bytes that follow the message are forgiven together with those before it. The error is at most what arrives between two
  // checks.
  if (std::exchange(peer.mark, mark) != mark) peer.unfinished = 0.0;
  if (peer.unfinished > static_cast<double>(limits_.between_messages)) cut_off(peer, PeerRefusal::flooding);
}

void PeerWatch::check(Peer& peer, bool ended) {
  weigh(peer, ended);
  const auto received = received_bytes(peer.descriptor);
  if (!received || peer.cut_off) return;
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - peer.seen).count();
  peer.allowance = std::min(limits_.inbound_burst, peer.allowance + limits_.inbound_rate * seconds) -
                   static_cast<double>(*received - peer.received);
  peer.received = *received;
  peer.seen = now;
  if (peer.allowance < 0.0) cut_off(peer, PeerRefusal::flooding);
}

void PeerWatch::refuse(PeerRefusal reason, const Address& from) {
  counters_.refuse(reason);
  log_.refused(reason, from.is_unspecified() ? std::string() : unmapped(from).to_string());
}

void PeerWatch::note_freed(int descriptor) {
  constexpr std::uint64_t memory_of_a_byte = 32;
  freed_ += memory_of_a_byte * read_bytes(descriptor).value_or(0);
}

void PeerWatch::cut_off(Peer& peer, PeerRefusal reason) {
  peer.cut_off = true;
  refuse(reason, peer.address);
  note_freed(peer.descriptor);
  abort_connection(peer.descriptor);  // libzmq reads its end and reports the disconnection
}

// Silent peers must not keep active peers out: the oldest connection in its handshake gives way.
bool PeerWatch::make_room() {
  for (auto& [id, peer] : peers_) {
    const auto received = received_bytes(peer.descriptor);
    if (peer.cut_off || !received || *received >= handshake_bytes_) continue;
    cut_off(peer, PeerRefusal::silent);
    leave_book(peer);  // its place is reused before libzmq reports that it has gone
    return true;
  }
  return false;
}

void PeerWatch::leave_book(Peer& peer) {
  if (std::exchange(peer.in_book, false)) book_.leave(peer.address);
}

// Drops the peer that has recently sent the largest number of bytes. Older bytes do not count: signs of life would add up over a
// month. A peer that has sent next to nothing is spared.
void PeerWatch::drop_loudest() {
  constexpr double next_to_nothing = 1024.0;
  Peer* loudest = nullptr;
  for (auto& [id, peer] : peers_) {
    check(peer);
    if (!peer.cut_off && (loudest == nullptr || peer.allowance < loudest->allowance)) loudest = &peer;
  }
  if (loudest != nullptr && limits_.inbound_burst - loudest->allowance > next_to_nothing) {
    cut_off(*loudest, PeerRefusal::flooding);
  }
}

void PeerWatch::forget(std::map<std::uint64_t, Peer>::iterator at) {
  leave_book(at->second);
  note_freed(at->second.descriptor);
  // The descriptor is removed explicitly, since libzmq may still have the connection open.
  if (limited()) ::epoll_ctl(epoll_, EPOLL_CTL_DEL, at->second.descriptor, nullptr);
  ::close(at->second.descriptor);
  peers_.erase(at);
  counters_.open.store(book_.open(), std::memory_order_relaxed);
}

}  // namespace echoform
