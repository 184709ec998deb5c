// A client of the OpenIGTLink server, and the state that all clients share. All of it belongs to the server's thread, except
// for members whose comment states another thread.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "transport/openigtlink/devices.hpp"
#include "transport/openigtlink/message_parser.hpp"
#include "transport/openigtlink/openigtlink_sink.hpp"
#include "transport/peers/peer_book.hpp"
#include "transport/peers/refusal_log.hpp"
#include "transport/web/image_board.hpp"

namespace echoform::openigtlink {

class ClientSession;

struct LinkState {
  explicit LinkState(const OpenIgtlinkSinkOptions& given);

  /// Counts and logs a peer that is refused or disconnected.
  void refuse(PeerRefusal reason, const boost::asio::ip::address& address);
  /// The devices of the board's streams, with the probe there.
  void follow(const ProbePlace& place);
  /// Null where there is none of this name.
  [[nodiscard]] const Device* find(std::string_view device) const;
  /// Notes that a session begins to watch a stream, or that it stops watching it.
  void watch(const std::string& stream);
  void unwatch(const std::string& stream);
  /// An image of the board, prepared once for all sessions: valid until the next call for the device.
  [[nodiscard]] PreparedImage& prepared(const Device& device, std::uint64_t number, std::span<const std::byte> message);

  OpenIgtlinkSinkOptions options;
  ImageBoard board;  // any thread
  PeerBook book;
  RefusalLog refusals{"OpenIGTLink"};
  std::set<ClientSession*> sessions;
  std::vector<Device> devices;   // of the present setup
  bool ready = false;            // whether there is a sender
  std::string telemetry = "{}";  // figures as JSON, the last that were sent

  PeerCounters peers;                     // any thread
  std::atomic<std::uint64_t> dropped{0};  // any thread

 private:
  ProbePlace place_;
  std::map<std::string, PreparedImage, std::less<>> prepared_;  // the last of each stream that was sent
  std::map<std::string, std::size_t, std::less<>> watchers_;    // of each stream
};

class ClientSession : public std::enable_shared_from_this<ClientSession> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  ClientSession(LinkState& state, boost::asio::ip::tcp::socket socket, boost::asio::ip::address address);
  ~ClientSession();
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;

  void start();
  /// Called when the board has new images.
  void offer();
  /// Called when the streams have changed, or when a sender has come or gone.
  void setup_changed();
  /// Called when something that STATUS states has changed.
  void tell_status();
  /// Called when LinkState::telemetry is new.
  void tell_telemetry();
  /// Disconnects a client that has kept the server waiting for too long. Call it once a second.
  void look_at_time(Time now);
  void close();

 private:
  struct Feed {
    Device device;
    std::uint64_t accounted = 0;  // images up to this one are sent or counted as dropped
    bool streams = false;
    Time due = Time::min();  // of the next image at the earliest
  };

  void read();
  void on_bytes();
  [[nodiscard]] bool note(const ReceivedMessage& message);
  void cut_off(PeerRefusal reason, const std::string& why);

  void follow_devices();
  void stream(Feed& feed, bool on);
  void account(Feed& feed, std::uint64_t number);
  [[nodiscard]] bool stream_named(const std::string& device, bool on);

  // What is sent next, if nothing is on its way.
  void advance();
  void answer(const ReceivedMessage& question);
  void add_message(std::string_view type, std::string_view device, std::uint64_t timestamp, const Bytes& content);
  void add_status();
  void add_telemetry();
  void add_image_list();
  void add_probe(const std::string& device);
  /// Adds the device's newest image, whose number becomes `number`. False if the device has none.
  [[nodiscard]] bool add_image(const Device& device, bool with_probe, std::uint64_t& number);
  void add_newest_image();
  void wait_until(Time due);
  void send();

  LinkState& state_;
  boost::asio::ip::tcp::socket socket_;
  const boost::asio::ip::address address_;
  bool closed_ = false;
  bool joined_ = false;  // the board, for the lease

  std::array<std::byte, 4096> received_{};
  std::span<const std::byte> unread_;  // of received_
  bool reading_ = false;
  MessageParser parser_;
  std::uint16_t version_ = first_version;  // the latest that the client has used, in which it is answered
  std::deque<ReceivedMessage> questions_;
  std::size_t messages_ = 0;  // in this second
  std::size_t bytes_ = 0;     // likewise
  Time message_began_{};

  std::vector<Feed> feeds_;
  std::size_t turn_ = 0;  // the feed that is asked first
  bool push_ = true;      // whether streams that come are sent unasked
  bool status_wanted_ = true;
  bool telemetry_wanted_ = false;
  boost::asio::steady_timer due_;

  // The message that is being sent.
  bool writing_ = false;
  Bytes out_;
  Bytes content_;
  ImageBoard::Lease lease_;
  std::span<const std::byte> pixels_;  // of the lease's message
  Bytes tail_;
  Time progress_{};
};

}  // namespace echoform::openigtlink
