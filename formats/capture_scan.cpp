#include "formats/capture_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "base/errors.hpp"
#include "proto/acquisition.pb.h"
#include "transport/acquisition/admission.hpp"
#include "transport/acquisition/decoder.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform {
namespace {

/// Maximum number of frames that a session has begun and not finished. With one more, the oldest counts as incomplete.
constexpr std::size_t most_begun = 64;
/// Number of a session's newest whole frames to which late shots are still added.
constexpr std::size_t most_whole = 64;
/// A capture can name any number of connections and acquisitions. These limits bound what is kept of them while they last.
constexpr std::size_t most_open = 256;
constexpr std::size_t most_sequences = 64;
/// A sequence number that jumps further ahead counts as the beginning of a new numbering.
constexpr std::uint64_t longest_gap = 65536;

/// Bytes of a connection that are in one record.
struct Piece {
  std::uint64_t position = 0;  // offset in the bytes that the connection sent
  std::uint64_t offset = 0;    // offset in the file
  std::size_t bytes = 0;
};

struct BegunFrame {
  CapturedFrame frame;
  std::size_t missing = 0;          // expected shots that have not come yet
  std::uint32_t position_from = 0;  // transmit index of the shot that gave the frame its position, if it has one
  bool again = false;               // the sequence number is that of a whole frame: shots came twice, or the numbering began anew
};

struct WholeFrame {
  std::uint64_t number = 0;
  std::size_t place = 0;  // index among the frames of the CapturedSequence
};

/// Frames of one sender.
struct Session {
  std::map<std::uint64_t, BegunFrame> begun;  // the key is the frame's sequence number
  std::deque<std::uint64_t> order;            // sequence numbers in `begun`, oldest first; may name some that are gone
  std::vector<WholeFrame> whole;              // oldest first
  std::uint64_t last = 0;                     // sequence of the last whole frame
  bool any = false;
  std::size_t connections = 0;  // number of open connections
};

struct Connection {
  AcquisitionDecoder decoder;
  std::uint64_t fed = 0;
  std::size_t sequence = 0;     // index in `sequences`
  Session* session = nullptr;   // set after its Hello
  CapturedFrame::Shot payload;  // place of the shot that is being received
  std::array<std::byte, 4096> scratch{};
};

}  // namespace

struct CaptureScan::Implementation {
  Implementation(const std::filesystem::path& path, const AcquisitionLimits& given) : limits(given), reader(path) {
    while (const auto record = reader.next()) {
      duration = record->time;
      switch (record->type) {
        case CaptureRecordType::open:
          open(record->connection, record->payload);
          break;
        case CaptureRecordType::sent:
          if (record->connection < connections.size()) take(record->connection, *record);
          break;
        case CaptureRecordType::close:
          close(record->connection, record->payload);
          break;
        case CaptureRecordType::answer:
        case CaptureRecordType::end:
          break;
      }
    }
    while (!live.empty()) leave(live.begin());
  }

  static std::string text_of(std::span<const std::byte> bytes) {
    return printable({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, 200);
  }

  void open(std::uint32_t id, std::span<const std::byte> who) {
    // Connections are numbered from 0 in order. Another number means that the capture was put together wrongly, and its bytes are
    // dropped.
    if (id != connections.size()) return;
    connections.push_back({.peer = text_of(who), .ending = {}, .sender = {}, .fault = {}});
    pieces.emplace_back();
    if (live.size() < most_open) {
      live.emplace(id, std::make_unique<Connection>());
    } else {
      connections.back().fault = fmt::format("not looked at: {} others are open", most_open);
    }
  }

  void close(std::uint32_t id, std::span<const std::byte> how) {
    if (id >= connections.size()) return;
    connections[id].ending = text_of(how);
    const auto connection = live.find(id);
    if (connection == live.end()) return;
    if (connection->second->decoder.within_message()) connections[id].fault = "the connection ends within a message";
    leave(connection);
  }

  /// Stops decoding the connection. Frames that a session has begun when its last connection goes never become whole.
  void leave(std::map<std::uint32_t, std::unique_ptr<Connection>>::iterator connection) {
    Session* const session = connection->second->session;
    CapturedSequence* const sequence = session == nullptr ? nullptr : &sequences[connection->second->sequence];
    live.erase(connection);
    if (session == nullptr || --session->connections > 0) return;
    for (const auto& [number, frame] : session->begun) sequence->incomplete += frame.again ? 0 : 1;
    *session = {.begun = {}, .order = {}, .whole = {}, .last = session->last, .any = session->any};
  }

  void take(std::uint32_t id, const CaptureRecord& record) {
    pieces[id].push_back({connections[id].bytes, record.offset, record.payload.size()});
    connections[id].bytes += record.payload.size();
    const auto found = live.find(id);
    if (found == live.end()) return;
    Connection& connection = *found->second;
    auto rest = record.payload;
    for (;;) {
      const DecodeEvent event = connection.decoder.next();
      if (event == DecodeEvent::need_bytes) {
        if (rest.empty()) return;
        std::size_t taken = 0;
        for (const auto target : connection.decoder.read_targets()) {
          const auto piece = rest.first(std::min(rest.size(), target.size()));
          std::copy(piece.begin(), piece.end(), target.begin());
          rest = rest.subspan(piece.size());
          taken += piece.size();
        }
        connection.decoder.commit(taken);
        connection.fed += taken;
      } else if (!handle(id, connection, event)) {
        leave(found);
        return;
      }
    }
  }

  /// False once nothing more is to be decoded from the connection.
  bool handle(std::uint32_t id, Connection& connection, DecodeEvent event) {
    CapturedConnection& said = connections[id];
    switch (event) {
      case DecodeEvent::hello:
        try {
          take_hello(said, connection);
        } catch (const InputError& error) {
          said.fault = error.what();
          return false;
        }
        return true;
      case DecodeEvent::shot:
        connection.payload = {connection.decoder.shot().transmit, id, connection.fed - connection.decoder.unread()};
        connection.decoder.discard_payload(connection.scratch);
        return true;
      case DecodeEvent::shot_complete:
        ++said.shots;
        take_shot(*connection.session, sequences[connection.sequence], connection.decoder.shot(), connection.payload);
        return true;
      case DecodeEvent::failed:
        said.fault = connection.decoder.error().text;
        return false;
      case DecodeEvent::end:
        return false;
      case DecodeEvent::need_bytes:
        break;
    }
    return true;
  }

  void take_hello(CapturedConnection& said, Connection& connection) {
    const ReadHello read = read_hello_header(connection.decoder.hello_header(), {}, limits);
    if (!read.contents) throw InputError(read.error.text);
    const HelloContents& contents = *read.contents;
    said.sender = contents.identity.sender;
    said.index = contents.identity.connection_index;
    std::size_t sequence = 0;
    while (sequence < sequences.size() && sequences[sequence].acquisition != contents.acquisition) ++sequence;
    if (sequence == most_sequences)
      throw InputError("Hello", fmt::format("acquisition {}", sequence + 1), "fewer in one capture");
    if (sequence == sequences.size())
      sequences.push_back({.acquisition = contents.acquisition, .layout = FrameLayout(contents.acquisition), .frames = {}});
    said.session = contents.identity.session;
    connection.sequence = sequence;
    connection.session = &sessions[{said.session, sequence}];
    ++connection.session->connections;
    connection.decoder.accept(FrameLayout(contents.acquisition));
  }

  /// Keeps the shot unless the frame has one of that event already. Returns whether it was kept.
  static bool keep(CapturedFrame& frame, const CapturedFrame::Shot& shot) {
    const auto at =
        std::lower_bound(frame.shots.begin(), frame.shots.end(), shot.transmit,
                         [](const CapturedFrame::Shot& of, std::uint32_t transmit) { return of.transmit < transmit; });
    if (at != frame.shots.end() && at->transmit == shot.transmit) return false;
    frame.shots.insert(at, shot);
    return true;
  }

  /// Takes the position as a server does: that of the lowest transmit index that states one.
  static void take_position(BegunFrame& begun, const ShotHeader& shot) {
    std::optional<EncoderCount>& position = begun.frame.stamp.position;
    if (!shot.position || (position && begun.position_from < shot.transmit)) return;
    position = shot.position;
    begun.position_from = shot.transmit;
  }

  static void take_shot(Session& session, CapturedSequence& sequence, const ShotHeader& shot, const CapturedFrame::Shot& place) {
    auto at = session.begun.find(shot.sequence);
    if (at == session.begun.end()) {
      // A frame is whole without the shots of dead elements. Those may come after it is whole.
      const auto whole = std::find_if(session.whole.rbegin(), session.whole.rend(),
                                      [&](const WholeFrame& frame) { return frame.number == shot.sequence; });
      const bool again = whole != session.whole.rend();
      if (again && keep(sequence.frames[whole->place], place)) return;
      BegunFrame frame{.frame = {.stamp = {shot.sequence, shot.acquisition_time, {}}, .shots = {}},
                       .missing = sequence.layout.expected_shots(),
                       .again = again};
      at = session.begun.emplace(shot.sequence, std::move(frame)).first;
      session.order.push_back(shot.sequence);
    }
    BegunFrame& begun = at->second;
    if (keep(begun.frame, place) && sequence.layout.expected(shot.transmit)) {
      --begun.missing;
      take_position(begun, shot);
    }
    if (begun.missing > 0) return drop_oldest(session, sequence);
    if (session.any && shot.sequence > session.last && shot.sequence - session.last <= longest_gap)
      sequence.gaps += shot.sequence - session.last - 1;
    session.last = shot.sequence;
    session.any = true;
    if (session.whole.size() == most_whole) session.whole.erase(session.whole.begin());
    session.whole.push_back({shot.sequence, sequence.frames.size()});
    begun.frame.shots.shrink_to_fit();
    sequence.frames.push_back(std::move(begun.frame));
    session.begun.erase(at);
    drop_oldest(session, sequence);
  }

  static void drop_oldest(Session& session, CapturedSequence& sequence) {
    while (session.order.size() > most_begun) {
      const auto oldest = session.begun.find(session.order.front());
      session.order.pop_front();
      if (oldest == session.begun.end()) continue;
      sequence.incomplete += oldest->second.again ? 0 : 1;
      session.begun.erase(oldest);
    }
  }

  /// Calls use(offset in the file, count) for the pieces that hold `bytes` bytes of a connection.
  template <class Use>
  void for_each_piece(const CapturedFrame::Shot& place, std::size_t bytes, const Use& use) const {
    const auto& of_connection = pieces[place.connection];
    auto piece = std::upper_bound(of_connection.begin(), of_connection.end(), place.position,
                                  [](std::uint64_t position, const Piece& of) { return position < of.position; });
    std::uint64_t position = place.position;
    for (--piece; bytes > 0; ++piece) {
      const auto within = static_cast<std::size_t>(position - piece->position);
      const std::size_t here = std::min(bytes, piece->bytes - within);
      use(piece->offset + within, here);
      bytes -= here;
      position += here;
    }
  }

  void read(const CapturedFrame::Shot& place, std::span<std::byte> bytes) const {
    for_each_piece(place, bytes.size(), [&](std::uint64_t offset, std::size_t count) {
      reader.read_at(offset, bytes.first(count));
      bytes = bytes.subspan(count);
    });
  }

  /// Calls use(place, bytes) for the rows of a frame, shot by shot. There is no place for a shot that did not come.
  template <class Use>
  static void for_each_shot(const CapturedSequence& sequence, std::size_t frame, std::span<const RowRange> rows, const Use& use) {
    const FrameLayout& layout = sequence.layout;
    const auto& shots = sequence.frames[frame].shots;
    std::size_t event = 0;
    for (const RowRange& range : rows) {
      for (std::size_t row = range.first; row < range.first + range.count;) {
        while (layout.shot(event).first + layout.shot(event).count <= row) ++event;
        const RowRange of_shot = layout.shot(event);
        const std::size_t within = row - of_shot.first;
        const std::size_t count = std::min(of_shot.count - within, range.first + range.count - row);
        const auto found = std::lower_bound(shots.begin(), shots.end(), event,
                                            [](const CapturedFrame::Shot& shot, std::size_t of) { return shot.transmit < of; });
        std::optional<CapturedFrame::Shot> place;
        if (found != shots.end() && found->transmit == event) place = *found;
        if (place) place->position += within * layout.bytes_per_row();
        use(place, count * layout.bytes_per_row());
        row += count;
      }
    }
  }

  const AcquisitionLimits limits;
  CaptureReader reader;
  std::chrono::nanoseconds duration{0};
  std::vector<CapturedConnection> connections;
  std::vector<std::vector<Piece>> pieces;  // index: connection
  std::map<std::uint32_t, std::unique_ptr<Connection>> live;
  std::vector<CapturedSequence> sequences;
  std::map<std::pair<std::uint64_t, std::size_t>, Session> sessions;  // key: session number and index in `sequences`
};

CaptureScan::CaptureScan(const std::filesystem::path& path, const AcquisitionLimits& limits)
    : implementation_(std::make_unique<Implementation>(path, limits)) {}

CaptureScan::~CaptureScan() = default;

WallTime CaptureScan::began() const noexcept {
  return implementation_->reader.began();
}
std::chrono::nanoseconds CaptureScan::duration() const noexcept {
  return implementation_->duration;
}
bool CaptureScan::finished() const noexcept {
  return implementation_->reader.finished();
}
const std::string& CaptureScan::damage() const noexcept {
  return implementation_->reader.damage();
}
const std::vector<CapturedConnection>& CaptureScan::connections() const noexcept {
  return implementation_->connections;
}
const std::vector<CapturedSequence>& CaptureScan::sequences() const noexcept {
  return implementation_->sequences;
}

void CaptureScan::read_frame(const CapturedSequence& sequence, std::size_t frame, std::span<std::byte> bytes) const {
  const RowRange all{0, sequence.layout.rows()};
  read_rows(sequence, frame, {&all, 1}, bytes);
}

void CaptureScan::read_rows(const CapturedSequence& sequence, std::size_t frame, std::span<const RowRange> rows,
                            std::span<std::byte> bytes) const {
  Implementation::for_each_shot(sequence, frame, rows, [&](const std::optional<CapturedFrame::Shot>& place, std::size_t count) {
    const auto target = bytes.first(count);
    if (place) {
      implementation_->read(*place, target);
    } else {
      std::fill(target.begin(), target.end(), std::byte{0});
    }
    bytes = bytes.subspan(count);
  });
}

void CaptureScan::expect_rows(const CapturedSequence& sequence, std::size_t frame, std::span<const RowRange> rows) const {
  Implementation::for_each_shot(sequence, frame, rows, [&](const std::optional<CapturedFrame::Shot>& place, std::size_t count) {
    if (!place) return;
    implementation_->for_each_piece(
        *place, count, [&](std::uint64_t offset, std::size_t bytes) { implementation_->reader.expect(offset, bytes); });
  });
}

}  // namespace echoform
