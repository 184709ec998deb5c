// Writes frames into a capture as one sender on one connection would have sent them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "formats/capture_file.hpp"
#include "formats/recording_formats.hpp"
#include "transport/acquisition/framing.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform {
namespace {

std::string hello_of(const Acquisition& acquisition) {
  return encode_hello({.session = 1, .connection_index = 0, .connection_count = 1, .sender = "a recording", .token = {}},
                      acquisition);
}

/// Throws InputError, naming `where`, if no Hello can express the acquisition (elements of different sizes), or only one that is
/// longer than readers accept (many events with many receivers).
void check_capture_holds(const Acquisition& acquisition, const std::string& where) {
  try {
    static_cast<void>(hello_of(acquisition));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
}

const Acquisition& checked(const Acquisition& acquisition, const std::string& where) {
  check_capture_holds(acquisition, where);
  return acquisition;
}

/// Samples are kept bit by bit, and so are sequence and acquisition time. The records' times follow the frames' acquisition times
/// where those are known and increase. Otherwise they keep the last time.
class CaptureFrameWriter final : public FrameWriter {
 public:
  CaptureFrameWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options);
  ~CaptureFrameWriter() override;

  void flush() override { file_.flush(); }
  void close() override;
  [[nodiscard]] std::uint64_t frames() const noexcept override { return frames_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return frames_ * layout_.frame_bytes(); }

 private:
  void write(std::span<const std::byte> frame, const FrameStamp& stamp) override;

  const FrameLayout layout_;
  const WallTime began_;
  const bool whole_;
  CaptureWriter file_;
  std::uint64_t frames_ = 0;
  std::chrono::nanoseconds time_{0};
  bool closed_ = false;
};

CaptureFrameWriter::CaptureFrameWriter(const std::filesystem::path& path, const Acquisition& acquisition,
                                       const FrameWriterOptions& options)
    : layout_(checked(acquisition, path.string())), began_(options.recorded), whole_(options.whole), file_(path, began_, false) {
  file_.append(CaptureRecordType::open, 0, time_, "a recording");
  file_.append(CaptureRecordType::sent, 0, time_, encode_message(MessageType::hello, hello_of(acquisition)));
}

CaptureFrameWriter::~CaptureFrameWriter() {
  try {
    if (!whole_) close();
  } catch (const std::exception&) {  // callers that need the error call close()
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

}  // namespace

namespace formats {

constinit const FrameFormat capture_frames{.check = check_capture_holds, .make = write_by<CaptureFrameWriter>, .grows = true};

}  // namespace formats

}  // namespace echoform
