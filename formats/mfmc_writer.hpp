// Recordings out: MFMC 2.0 in HDF5, a frame at a time, readable at any moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "acquisition/acquisition.hpp"
#include "formats/frame_writer.hpp"

namespace echoform {

/// `material` is SPECIMEN_VELOCITY, 0 where unknown, as readers of Echoform take it; `recorded` is DATE_AND_TIME in UTC.
using MfmcWriterOptions = FrameWriterOptions;

/// Throws InputError, naming `where`, unless MFMC 2.0 can hold frames of `acquisition`: it has no word for a half matrix whose
/// instrument added both directions (half_summed) and for events in which nobody transmits, and a frame is one HDF5 chunk, which
/// has less than 4 GiB.
void check_mfmc_holds(const Acquisition& acquisition, const std::string& where);

/// Writes one sequence of one probe, which stays where it is, or where `pose` of the options moves it by the encoder's counts has
/// a placement for each frame (mfmc_encoder.hpp): MFMC_DATA [frames, A-scans, samples], one chunk a frame, in
/// rows as the layout has them; int16 and packed12 as int16 in the sender's counts, float32 as it is. The laws L1, L2 ...
/// name one element each, T1, T2 ... the elements of an event of several, with their delays and weights; a half matrix has the
/// A-scans i <= j only. Some things go beyond the format, which allows it: sizes of elements that are unknown are a nanometre (a
/// vector of length 0 would leave no direction); ECHOFORM_SAMPLE_SCALE of the sequence is the amplitude of one count, where it is
/// not 1; ECHOFORM_ENCODER_COUNT has the positions of frames (mfmc_encoder.hpp); START_TIME has the time offset taken off;
/// attributes tell events apart and say what a law is meant to make (mfmc_parts.hpp).
///
/// The file is in HDF5's SWMR mode (single writer, multiple readers) from the first frame to close(): what the library hands
/// to the system is ordered such that the file is consistent at every moment. Programs may read it while it grows, and a process
/// that is killed leaves all frames whose append() returned. Such a file carries a mark that it was not closed: readers open it
/// with the SWMR flag (h5py: File(path, "r", swmr=True); Recording does so by itself) or clear the mark with HDF5's
/// `h5clear -s`. It costs some 20 KiB a frame beside the samples. Nothing is forced to the disk itself but by flush(): after a
/// loss of power the last seconds may be missing.
///
/// One thread at a time.
class MfmcWriter final : public FrameWriter {
 public:
  /// The file appears at `path` with its first frame. Throws InputError if something is there already, the place may not be
  /// written to, or as check_mfmc_holds; RuntimeFault if the disk is full.
  MfmcWriter(const std::filesystem::path& path, const Acquisition& acquisition, const MfmcWriterOptions& options = {});
  /// As close(), in silence, unless the file is to be whole.
  ~MfmcWriter() override;
  MfmcWriter(const MfmcWriter&) = delete;
  MfmcWriter& operator=(const MfmcWriter&) = delete;

  // When append() returns, the frame survives the process. After a fault no further one is taken.
  void flush() override;
  void close() override;

  [[nodiscard]] std::uint64_t frames() const noexcept override;
  [[nodiscard]] std::uint64_t bytes() const noexcept override;

 private:
  void write(std::span<const std::byte> frame, const FrameStamp& stamp) override;
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace echoform
