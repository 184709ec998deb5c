// Recorded acquisitions: one interface over every file format that Echoform reads.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/frame_layout.hpp"
#include "acquisition/recorded_frames.hpp"
#include "formats/frame_writer.hpp"

namespace echoform {

/// A file of acquisition frames, open for reading. Frames of one recording share one acquisition; the probe may move.
class Recording {
 public:
  virtual ~Recording() = default;

  /// What each frame is. The encoding is float32 in the amplitude units of the file (sample_scale 1); the probe is that of
  /// frame 0 in global coordinates.
  [[nodiscard]] const Acquisition& acquisition() const noexcept { return acquisition_; }
  /// Velocities that the file states; 0 where it states none.
  [[nodiscard]] Material material() const noexcept { return material_; }
  /// Velocity of longitudinal waves in the wedge that the probe stands on; 0 if the file states none.
  [[nodiscard]] MetresPerSecond wedge_velocity() const noexcept { return wedge_velocity_; }
  /// Frames of the recording, at least 1.
  [[nodiscard]] virtual std::size_t frames() const noexcept = 0;
  /// The probe of frame `frame` (< frames()) in global coordinates: the same elements, placed where that frame was taken.
  [[nodiscard]] virtual Probe probe(std::size_t /*frame*/) const { return acquisition_.probe; }
  /// Where the file places the probe in frame `frame` (< frames()), if its frames were taken at places of their own: at several,
  /// or where placed_by_encoder(). None otherwise.
  [[nodiscard]] virtual std::optional<Pose> pose(std::size_t /*frame*/) const { return {}; }
  /// The same elements, placed so. Only where frames have poses.
  [[nodiscard]] virtual Probe probe_at(const Pose& /*pose*/) const { return acquisition_.probe; }
  /// Whether the file says that its placements follow from the counts of the encoder: a frame without a count is at no known
  /// place, and where the pose is that of the coordinates themselves the path has s = 0.
  [[nodiscard]] virtual bool placed_by_encoder() const { return false; }

  /// Fills `samples` with frame `frame`: shape [a_scans, samples], rows as the layout has them, missing pairs as 0, those of
  /// dead elements as the file has them.
  /// Throws InputError if `frame` >= frames(), the span has another size, or the frame holds damaged data or a sample that
  /// is not finite (the message names the A-scan).
  virtual void read_frame(std::size_t frame, std::span<float> samples) = 0;

  /// What the file itself stores, where that is an encoding of frames: int16 or packed12 counts with their sample_scale, or
  /// float32. Else as acquisition().
  [[nodiscard]] virtual Acquisition stored() const { return acquisition_; }
  /// Fills `bytes` (stored().frame_bytes() of them) with frame `frame` in the encoding of stored(): the very values of the file.
  /// Throws as read_frame().
  virtual void read_stored(std::size_t frame, std::span<std::byte> bytes);
  /// The same of some rows of the frame, ascending and apart, which come one after the other into `bytes`. Formats that cannot
  /// read a part of a frame read it whole. One thread at a time, as all reading. Throws as read_frame(), also for float samples
  /// that are not finite.
  virtual void read_rows(std::size_t frame, std::span<const RowRange> rows, std::span<std::byte> bytes);
  /// Says that these rows will be asked for soon: a file may be read ahead into the system's cache. Of rows that are not there,
  /// and where the format does not know where they lie, nothing is read.
  virtual void expect_rows(std::size_t /*frame*/, std::span<const RowRange> /*rows*/) {}
  /// Bytes of memory that read_rows() takes besides, at most.
  [[nodiscard]] virtual std::size_t reading_bytes() const { return stored().frame_bytes(); }
  /// The same of read_frame() and read_stored(), at most.
  [[nodiscard]] virtual std::size_t frame_reading_bytes() const { return reading_bytes(); }
  /// What the file says of the frame besides; its number where it names no sequence.
  [[nodiscard]] virtual FrameStamp stamp(std::size_t frame) const { return {.sequence = frame, .acquisition_time = WallTime(0)}; }

  /// What in the file contradicts itself, with what was made of it: a line each, which names the file.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  /// One line for people: format, elements, matrix, sampling, frames, and whatever was unusual about the file.
  [[nodiscard]] virtual std::string describe() const;
  /// Name of the file, for messages.
  [[nodiscard]] virtual std::string name() const { return path_.string(); }

 protected:
  Recording(std::filesystem::path path, std::string_view format) : path_(std::move(path)), format_(format) {}
  /// Throws unless 0 <= frame < frames() and size is what acquisition() asks for.
  void check_request(std::size_t frame, std::size_t size) const;
  /// Throws unless 0 <= frame < frames(), the rows are the frame's, and `bytes` is what they take in stored().
  void check_rows(std::size_t frame, std::span<const RowRange> rows, std::size_t bytes) const;

  std::filesystem::path path_;
  std::string format_;  ///< "BRAIN .mat", "MFMC"
  Acquisition acquisition_;
  Material material_;
  MetresPerSecond wedge_velocity_{};
  std::vector<std::string> notes_;  ///< oddities, for describe()
  std::vector<std::string> warnings_;
};

struct RecordingOptions {
  std::size_t sequence = 0;  ///< which sequence of a file that holds several, from 0 in the file's (alphabetical) order
  /// Larger than the limits for peers: a file is the user's own.
  AcquisitionLimits limits{.elements = 4096, .samples = 1u << 22, .frame_bytes = std::size_t{1} << 32};
  /// Elements of recordings in which nobody transmits: there are no pairs of them.
  std::size_t detectors = most_recorded_detectors;
};

/// Opens a recording; the extension chooses the format. Throws InputError, with one line that names the file and the place
/// in it, if the file is missing, not a regular file, empty, truncated, damaged, or of a kind that is not supported.
[[nodiscard]] std::unique_ptr<Recording> open_recording(const std::filesystem::path& path, const RecordingOptions& options = {});

/// Extensions that open_recording knows, lower case with the dot.
[[nodiscard]] std::vector<std::string> recording_extensions();

}  // namespace echoform
