// What a capture holds: its connections, and the frames that they sent.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/frame_layout.hpp"
#include "formats/capture_file.hpp"
#include "formats/frame_writer.hpp"

namespace echoform {

struct CapturedConnection {
  std::string peer;    ///< as the capture names it
  std::string ending;  ///< how it ended; empty while it is open
  std::string sender;  ///< from its Hello; empty before one
  std::uint64_t session = 0;
  std::uint32_t index = 0;  ///< among the connections of its session
  std::uint64_t bytes = 0;  ///< from the sender
  std::uint64_t shots = 0;  ///< whole ones
  std::string fault;        ///< why its bytes are not the protocol; empty where they are
};

struct CapturedFrame {
  FrameStamp stamp;
  /// Where the payload of a shot begins: connection, and the place among the bytes that it sent.
  struct Shot {
    std::uint32_t transmit = 0;
    std::uint32_t connection = 0;
    std::uint64_t position = 0;
  };
  std::vector<Shot> shots;  ///< those that came, by event
};

/// The frames of one acquisition, over all sessions that announced it.
struct CapturedSequence {
  Acquisition acquisition;
  FrameLayout layout;                 ///< of its frames
  std::vector<CapturedFrame> frames;  ///< whole ones, in the order in which they became whole
  std::uint64_t incomplete = 0;
  std::uint64_t gaps = 0;  ///< sequences left out between whole frames that follow each other
};

/// Scans the whole file. It keeps no samples; they are read from the file on request.
class CaptureScan {
 public:
  /// Throws InputError as CaptureReader, and for a capture that is not finite in sizes: more than `limits` allow is a fault of
  /// the connection that states it.
  explicit CaptureScan(const std::filesystem::path& path, const AcquisitionLimits& limits);
  ~CaptureScan();
  CaptureScan(const CaptureScan&) = delete;
  CaptureScan& operator=(const CaptureScan&) = delete;

  [[nodiscard]] WallTime began() const noexcept;
  [[nodiscard]] std::chrono::nanoseconds duration() const noexcept;
  [[nodiscard]] bool finished() const noexcept;
  [[nodiscard]] const std::string& damage() const noexcept;
  [[nodiscard]] const std::vector<CapturedConnection>& connections() const noexcept;
  /// The sequences, in the order in which they were announced.
  [[nodiscard]] const std::vector<CapturedSequence>& sequences() const noexcept;

  /// Fills `bytes` (frame_bytes() of the sequence's acquisition) with a frame as it was sent; shots that were not are zeros.
  /// Throws InputError if the file has changed.
  void read_frame(const CapturedSequence& sequence, std::size_t frame, std::span<std::byte> bytes) const;
  /// The same of some of its rows, ascending and apart, one after the other.
  void read_rows(const CapturedSequence& sequence, std::size_t frame, std::span<const RowRange> rows,
                 std::span<std::byte> bytes) const;
  /// Announces that these rows will be read soon.
  void expect_rows(const CapturedSequence& sequence, std::size_t frame, std::span<const RowRange> rows) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace echoform
