// The acquisition decoder: whatever arrives, and however it is cut, the events are the same.
//
// Input: one byte of choices (bit 0: mend the checksums, which no mutation hits; bit 1: discard the payloads of odd frames), two
// bytes that say where to cut, then the bytes of a connection.
#include <fmt/format.h>

#include <vector>

#include "base/errors.hpp"
#include "proto/acquisition.pb.h"
#include "tests/fuzz/input.hpp"
#include "transport/acquisition/admission.hpp"
#include "transport/acquisition/decoder.hpp"

namespace echoform {
namespace {

using Bytes = std::vector<std::byte>;

// Small enough that a slot can be made for every shot.
constexpr AcquisitionLimits limits{.elements = 16, .samples = 256, .frame_bytes = std::size_t{1} << 16};

void mend_checksums(Bytes& bytes) {
  for (std::size_t at = 0; bytes.size() - at >= prefix_bytes;) {
    const auto message = std::span(bytes).subspan(at);
    const MessagePrefix prefix = read_prefix(message.first<prefix_bytes>());
    const std::size_t left = message.size() - prefix_bytes;
    if (!prefix.magic_matches || prefix.header_bytes > left) return;
    const std::uint32_t checksum =
        message_checksum(message.first<checksummed_prefix_bytes>(), message.subspan(prefix_bytes, prefix.header_bytes));
    std::memcpy(message.data() + checksummed_prefix_bytes, &checksum, sizeof checksum);
    if (prefix.payload_bytes > left - prefix.header_bytes) return;
    at += prefix_bytes + prefix.header_bytes + prefix.payload_bytes;
  }
}

/// Everything that a server learns of the connection, as text. `pieces` are the lengths in which the bytes come.
std::string listen(const Bytes& bytes, const std::vector<std::size_t>& pieces, bool discard_odd) {
  AcquisitionDecoder decoder;
  std::string heard;
  Bytes place;
  Bytes scratch(7);
  bool discarding = false;
  std::size_t at = 0;
  for (const std::size_t piece : pieces) {
    const std::size_t end = at + piece;
    for (;;) {
      const DecodeEvent event = decoder.next();
      if (event == DecodeEvent::need_bytes) {
        if (at == end) break;
        std::size_t taken = 0;
        for (const auto target : decoder.read_targets()) {
          const std::size_t here = std::min(end - at - taken, target.size());
          if (here > 0) std::memcpy(target.data(), bytes.data() + at + taken, here);
          taken += here;
        }
        fuzz::require(taken > 0, "a decoder that asks for bytes has room for some");
        decoder.commit(taken);
        at += taken;
        continue;
      }
      switch (event) {
        case DecodeEvent::hello:
          if (const ReadHello read = read_hello_header(decoder.hello_header(), {}, limits); read.contents) {
            heard += fmt::format("hello {} {}\n", read.contents->identity.session, read.contents->acquisition.frame_bytes());
            decoder.accept(FrameLayout(read.contents->acquisition));
          } else {
            decoder.fail(read.error.reason, read.error.text);
          }
          break;
        case DecodeEvent::shot: {
          const ShotHeader& shot = decoder.shot();
          heard += fmt::format("shot {} {} {} {} {}\n", shot.sequence, shot.transmit, shot.acquisition_time.count(),
                               shot.position.value_or(no_position), decoder.payload_bytes());
          fuzz::require(shot.position != no_position, "a count, or none");
          fuzz::require(decoder.payload_bytes() <= limits.frame_bytes, "a payload fits its frame");
          discarding = discard_odd && shot.sequence % 2 == 1;
          if (discarding) {
            decoder.discard_payload(scratch);
          } else {
            place.assign(decoder.payload_bytes(), std::byte{0});
            decoder.receive_payload(place);
          }
          break;
        }
        case DecodeEvent::shot_complete:
          heard += "complete ";
          if (!discarding) heard.append(reinterpret_cast<const char*>(place.data()), place.size());
          heard += '\n';
          break;
        case DecodeEvent::end:
          return heard + "end\n";
        case DecodeEvent::failed:
          fuzz::require_one_line(decoder.error().text);
          return heard + fmt::format("failed {} {}\n", words::decode_reason.of(decoder.error().reason), decoder.error().text);
        case DecodeEvent::need_bytes:
          break;
      }
    }
  }
  return heard + (decoder.within_message() ? "within a message\n" : "between messages\n");
}

}  // namespace
}  // namespace echoform

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  fuzz::Input input(data, size);
  const auto choices = input.take<std::uint8_t>();
  const auto cut = input.take<std::uint16_t>();
  const auto rest = std::as_bytes(input.rest());
  Bytes bytes(rest.begin(), rest.end());
  if ((choices & 1U) != 0) mend_checksums(bytes);
  const bool discard_odd = (choices & 2U) != 0;

  const std::string whole = listen(bytes, {bytes.size()}, discard_odd);
  const std::size_t first = bytes.empty() ? 0 : cut % bytes.size();
  fuzz::require(listen(bytes, {first, bytes.size() - first}, discard_odd) == whole, "cut in two, the events are the same");
  if (bytes.size() <= 512) {
    fuzz::require(listen(bytes, std::vector<std::size_t>(bytes.size(), 1), discard_odd) == whole,
                  "byte by byte, the events are the same");
  }
  return 0;
}
