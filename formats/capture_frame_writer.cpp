#include "formats/capture_frame_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "transport/acquisition/framing.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform {
namespace {

std::string hello_of(const Acquisition& acquisition) {
  return encode_hello({.session = 1, .connection_index = 0, .connection_count = 1, .sender = "a recording", .token = {}},
                      acquisition);
}

const Acquisition& checked(const Acquisition& acquisition, const std::string& where) {
  check_capture_holds(acquisition, where);
  return acquisition;
}

}  // namespace

void check_capture_holds(const Acquisition& acquisition, const std::string& where) {
  try {
    static_cast<void>(hello_of(acquisition));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
}

CaptureFrameWriter::CaptureFrameWriter(const std::filesystem::path& path, const Acquisition& acquisition,
                                       const FrameWriterOptions& options)
    : layout_(checked(acquisition, path.string())), began_(options.recorded), whole_(options.whole), file_(path, began_, false) {
  file_.append(CaptureRecordType::open, 0, time_, "a recording");
  file_.append(CaptureRecordType::sent, 0, time_, encode_message(MessageType::hello, hello_of(acquisition)));
}

CaptureFrameWriter::~CaptureFrameWriter() {
  try {
    if (!whole_) close();
  } catch (const std::exception&) {  // whoever wants to know calls close()
  }
}

void CaptureFrameWriter::write(std::span<const std::byte> frame, const FrameStamp& stamp) {
  if (frame.size() != layout_.frame_bytes())
    throw InputError("capture", fmt::format("a frame of {} bytes", frame.size()), fmt::format("{}", layout_.frame_bytes()));
  if (stamp.acquisition_time > began_ && began_.count() > 0) time_ = std::max(time_, stamp.acquisition_time - began_);
  std::array<std::byte, maximum_encoded_shot_bytes> header{};
  for (std::size_t event = 0; event < layout_.events(); ++event) {
    const ByteRange bytes = layout_.shot_bytes(event);
    const auto payload = frame.subspan(bytes.first, bytes.count);
    const std::size_t length = encode_shot(header, shot_of(stamp, static_cast<std::uint32_t>(event)), payload.size());
    file_.append(CaptureRecordType::sent, 0, time_, std::span<const std::byte>(header).first(length));
    file_.append(CaptureRecordType::sent, 0, time_, payload);
  }
  if (!whole_) file_.publish();
  ++frames_;
}

void CaptureFrameWriter::close() {
  if (std::exchange(closed_, true) || frames_ == 0) return;
  file_.append(CaptureRecordType::sent, 0, time_, encode_message(MessageType::end, {}));
  file_.append(CaptureRecordType::close, 0, time_, "end");
  file_.close(time_);
  if (whole_) file_.publish();
}

}  // namespace echoform
