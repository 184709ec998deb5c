#include "transport/openigtlink/client_session.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/write.hpp>
#include <utility>

namespace echoform::openigtlink {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// Number of queries that may wait for their answers. The session reads nothing more while this many wait.
constexpr std::size_t most_questions = 8;
// Limits for one second. Trackers that send their transforms to everyone who listens stay below them.
constexpr std::size_t most_messages = 2000;
constexpr std::size_t most_received_bytes = std::size_t{16} << 20;
// Bytes of an image that are passed to the system at once.
constexpr std::size_t most_at_once = std::size_t{1} << 20;

// Upper bound of the pause between images, s: the configured rate may be arbitrarily low.
constexpr double longest_pause = 1e6;

// Joins the board for the one image that a session may hold. No stream has this name.
constexpr std::string_view a_lease = " ";

constexpr std::array<std::string_view, 14> types{"IMAGE",       "TRANSFORM",   "STATUS",    "STRING",     "IMGMETA",
                                                 "CAPABILITY",  "GET_IMAGE",   "GET_TRANS", "GET_STATUS", "GET_STRING",
                                                 "GET_IMGMETA", "GET_CAPABIL", "STT_IMAGE", "STP_IMAGE"};

std::uint64_t now_stamp() {
  return timestamp_of(std::chrono::system_clock::now().time_since_epoch());
}

PeerLimits limits_of(const OpenIgtlinkSinkOptions& options) {
  PeerLimits limits;
  limits.connections = options.clients;
  limits.per_address = (options.clients + 1) / 2;
  return limits;
}

}  // namespace

LinkState::LinkState(const OpenIgtlinkSinkOptions& given)
    : options(given), board(given.name, given.choice), book(limits_of(given)) {}

void LinkState::refuse(PeerRefusal reason, const asio::ip::address& address) {
  peers.refuse(reason);
  refusals.refused(reason, address.to_string());
}

void LinkState::follow(const ProbePlace& place) {
  place_ = place;
  devices = devices_of(board.streams(), options.name, options.views);
  prepared_.clear();
}

const Device* LinkState::find(std::string_view device) const {
  const auto place = std::ranges::find(devices, device, &Device::name);
  return place == devices.end() ? nullptr : &*place;
}

void LinkState::watch(const std::string& stream) {
  if (watchers_[stream]++ == 0) board.join(stream);
}

void LinkState::unwatch(const std::string& stream) {
  const auto place = watchers_.find(stream);
  if (--place->second > 0) return;
  watchers_.erase(place);
  board.leave(stream);
}

PreparedImage& LinkState::prepared(const Device& device, std::uint64_t number, std::span<const std::byte> message) {
  PreparedImage& image = prepared_[device.stream];
  if (image.number() != number) image.prepare(number, message, place_);
  return image;
}

ClientSession::ClientSession(LinkState& state, asio::ip::tcp::socket socket, asio::ip::address address)
    : state_(state), socket_(std::move(socket)), address_(std::move(address)), due_(socket_.get_executor()) {
  state_.sessions.insert(this);
  state_.peers.open = state_.sessions.size();
}

ClientSession::~ClientSession() {
  lease_.reset();
  for (Feed& feed : feeds_) stream(feed, false);
  if (joined_) state_.board.leave(a_lease);
  state_.sessions.erase(this);
  state_.peers.open = state_.sessions.size();
  state_.book.leave(address_);
}

void ClientSession::start() {
  // It is set before the calls that may fail for lack of memory: the board first notes the member, then allocates buffers.
  joined_ = true;
  state_.board.join(a_lease);
  follow_devices();
  read();
  advance();
}

void ClientSession::close() {
  closed_ = true;
  due_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

void ClientSession::cut_off(PeerRefusal reason, const std::string& why) {
  if (closed_) return;
  spdlog::debug("OpenIGTLink: {} is cut off: {}", address_.to_string(), why);
  state_.refuse(reason, address_);
  close();
}

void ClientSession::look_at_time(Time now) {
  messages_ = 0;
  bytes_ = 0;
  if (writing_ && now - progress_ > state_.options.client_timeout) return cut_off(PeerRefusal::silent, "it takes nothing");
  if (parser_.within_message() && reading_ && now - message_began_ > state_.options.client_timeout) {
    cut_off(PeerRefusal::silent, "it ends no message");
  }
}

// ---- what the client sends

void ClientSession::read() {
  if (reading_ || closed_) return;
  reading_ = true;
  socket_.async_read_some(asio::buffer(received_), [self = shared_from_this()](error_code error, std::size_t size) {
    self->reading_ = false;
    if (error) return self->close();
    self->bytes_ += size;
    self->unread_ = std::span<const std::byte>(self->received_).first(size);
    self->on_bytes();
  });
}

void ClientSession::on_bytes() {
  const bool within = parser_.within_message();
  bool whole = false;
  const auto fault = parser_.take(unread_, [&](const ReceivedMessage& message) {
    whole = true;
    return note(message);
  });
  if (!within || whole) message_began_ = std::chrono::steady_clock::now();
  if (fault) return cut_off(PeerRefusal::bad_request, *fault);
  if (messages_ > most_messages || bytes_ > most_received_bytes) return cut_off(PeerRefusal::flooding, "it says too much");
  advance();
  if (unread_.empty() && questions_.size() < most_questions) read();
}

bool ClientSession::note(const ReceivedMessage& message) {
  ++messages_;
  version_ = std::max(version_, message.version);
  const auto asks = [&](std::string_view prefix) {
    return message.type.starts_with(prefix) && message.type.size() > prefix.size();
  };
  // Other messages, such as a STATUS or the transforms of a tracker, have no use here.
  if (asks("GET_") || asks("STT_") || asks("STP_")) questions_.push_back(message);
  return questions_.size() < most_questions && messages_ <= most_messages;
}

// ---- streams

void ClientSession::follow_devices() {
  std::vector<Feed> before = std::exchange(feeds_, {});
  for (const Device& device : state_.devices) {
    const auto same = std::ranges::find_if(before, [&](const Feed& feed) { return feed.device.stream == device.stream; });
    if (same != before.end()) {
      feeds_.push_back(std::move(*same));
      feeds_.back().device = device;
      before.erase(same);
    } else {
      stream(feeds_.emplace_back(Feed{device}), push_);
    }
  }
  for (Feed& gone : before) stream(gone, false);
  turn_ = 0;
}

void ClientSession::stream(Feed& feed, bool on) {
  if (feed.streams == on) return;
  feed.streams = on;
  if (!on) return state_.unwatch(feed.device.stream);
  state_.watch(feed.device.stream);
  // The image that already exists is sent first.
  const std::uint64_t newest = state_.board.newest(feed.device.stream);
  feed.accounted = newest > 0 ? newest - 1 : 0;
}

bool ClientSession::stream_named(const std::string& device, bool on) {
  bool found = device.empty();
  for (Feed& feed : feeds_) {
    if (!device.empty() && feed.device.name != device) continue;
    stream(feed, on);
    found = true;
  }
  if (device.empty()) push_ = on;
  return found;
}

void ClientSession::account(Feed& feed, std::uint64_t number) {
  // Images that are skipped to keep to the requested rate are not counted as lost.
  if (feed.due <= std::chrono::steady_clock::now()) state_.dropped += number - feed.accounted;
  feed.accounted = number;
}

void ClientSession::setup_changed() {
  follow_devices();
  tell_status();
}

void ClientSession::tell_status() {
  status_wanted_ = true;
  advance();
}

void ClientSession::tell_telemetry() {
  telemetry_wanted_ = true;
  advance();
}

void ClientSession::offer() {
  advance();
  // The newest image waits; this client never receives the images before it.
  for (Feed& feed : feeds_) {
    const std::uint64_t newest = state_.board.newest(feed.device.stream);
    if (feed.streams && newest > feed.accounted + 1) account(feed, newest - 1);
  }
}

// ---- what the client is sent

void ClientSession::advance() {
  if (writing_ || closed_) return;
  out_.clear();
  tail_.clear();
  pixels_ = {};
  if (std::exchange(status_wanted_, false)) add_status();
  if (std::exchange(telemetry_wanted_, false)) add_telemetry();
  // One answer at a time, so that a client that asks without end still gets images. The image is sent last.
  if (!questions_.empty()) {
    answer(questions_.front());
    questions_.pop_front();
  }
  if (!lease_) add_newest_image();
  if (!out_.empty()) send();
}

void ClientSession::add_message(std::string_view type, std::string_view device, std::uint64_t timestamp, const Bytes& content) {
  put_message(out_, {version_, type, device, timestamp}, content);
  content_.clear();
}

void ClientSession::add_status() {
  if (state_.ready) {
    put_status(content_, StatusCode::ok, "", "images are sent");
  } else {
    put_status(content_, StatusCode::not_ready, "no sender", "nobody sends frames");
  }
  add_message("STATUS", state_.options.name, now_stamp(), content_);
}

void ClientSession::add_telemetry() {
  put_string(content_, state_.telemetry);
  add_message("STRING", "telemetry", now_stamp(), content_);
}

void ClientSession::answer(const ReceivedMessage& question) {
  const std::string_view type = question.type;
  const std::string_view subject = type.substr(4);
  if (type == "GET_STATUS") return add_status();
  if (type == "GET_IMAGE") {
    const Device* device =
        question.device.empty() && !state_.devices.empty() ? state_.devices.data() : state_.find(question.device);
    std::uint64_t number = 0;
    if (device != nullptr && add_image(*device, false, number)) return;
  }
  if (type == "GET_TRANS") return add_probe(question.device);
  if (type == "GET_IMGMETA") return add_image_list();
  if (type == "GET_STRING") return add_telemetry();
  if (type == "GET_CAPABIL") {
    put_capability(content_, types);
    return add_message("CAPABILITY", question.device, now_stamp(), content_);
  }
  // A query without an answer gets an empty message.
  if (type.starts_with("GET_")) return add_message(subject, question.device, 0, content_);
  const bool done = subject == "IMAGE" && stream_named(question.device, type.starts_with("STT_"));
  put_outcome(content_, done);
  add_message(fmt::format("RTS_{}", subject), question.device, now_stamp(), content_);
}

void ClientSession::add_image_list() {
  for (const Device& device : state_.devices) put_image_meta(content_, {device.stream, device.name, 0, device.head});
  add_message("IMGMETA", state_.options.name, now_stamp(), content_);
}

void ClientSession::add_probe(const std::string& name) {
  std::uint64_t timestamp = 0;
  if (!state_.devices.empty()) {
    const Device& device = state_.devices.front();
    std::uint64_t number = 0;
    if (const ImageBoard::Lease lease = state_.board.take(device.stream, number)) {
      const PreparedImage& image = state_.prepared(device, number, lease.message());
      timestamp = image.timestamp();
      if (image.probe()) put_transform(content_, *image.probe());
    }
  }
  add_message("TRANSFORM", name.empty() ? "probe" : name, timestamp, content_);
}

bool ClientSession::add_image(const Device& device, bool with_probe, std::uint64_t& number) {
  lease_ = state_.board.take(device.stream, number);
  if (!lease_) return false;
  PreparedImage& image = state_.prepared(device, number, lease_.message());
  if (with_probe && image.probe()) {
    put_transform(content_, *image.probe());
    add_message("TRANSFORM", "probe", image.timestamp(), content_);
  }
  pixels_ = pixels_of(lease_.message());
  image.put_head(out_, version_, device.name, pixels_);
  image.put_tail(tail_, version_);
  return true;
}

void ClientSession::add_newest_image() {
  const Time now = std::chrono::steady_clock::now();
  Time earliest = Time::max();
  // Streams take turns, beginning with the one after the last that was sent, so that none delays the others.
  for (std::size_t k = 0; k < feeds_.size(); ++k) {
    const std::size_t place = (turn_ + k) % feeds_.size();
    Feed& feed = feeds_[place];
    if (!feed.streams || state_.board.newest(feed.device.stream) <= feed.accounted) continue;
    if (feed.due > now) {
      earliest = std::min(earliest, feed.due);
      continue;
    }
    std::uint64_t number = 0;
    // The position of the probe goes with the first image of a frame.
    if (!add_image(feed.device, place == 0, number)) continue;
    account(feed, number - 1);
    feed.accounted = number;
    if (state_.options.most_per_second > 0.0) {
      // The interval counts from the time at which the image was due, so that rates that do not divide one another are right on
      // average.
      const auto apart = std::chrono::duration_cast<Time::duration>(
          std::chrono::duration<double>(std::min(1.0 / state_.options.most_per_second, longest_pause)));
      feed.due = std::max(feed.due, now - apart) + apart;
    }
    turn_ = place + 1;
    return;
  }
  if (earliest != Time::max()) wait_until(earliest);
}

void ClientSession::wait_until(Time due) {
  if (due_.expiry() == due) return;
  due_.expires_at(due);
  due_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (!error && self) self->advance();
  });
}

void ClientSession::send() {
  writing_ = true;
  progress_ = std::chrono::steady_clock::now();
  const std::array<asio::const_buffer, 3> buffers{asio::buffer(out_), asio::buffer(pixels_.data(), pixels_.size()),
                                                  asio::buffer(tail_)};
  const auto going_on = [this](error_code error, std::size_t) -> std::size_t {
    progress_ = std::chrono::steady_clock::now();
    return error ? 0 : most_at_once;
  };
  asio::async_write(socket_, buffers, going_on, [self = shared_from_this()](error_code error, std::size_t) {
    self->writing_ = false;
    self->lease_.reset();
    if (error) return self->close();
    self->advance();
    // Handle the queries that waited for the answers.
    if (self->questions_.size() < most_questions) self->on_bytes();
  });
}

}  // namespace echoform::openigtlink
