// A-scans and images out, as ONDE (https://github.com/COFREND/ONDE-format), version 0.9.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "acquisition/acquisition.hpp"
#include "formats/frame_writer.hpp"
#include "formats/image_writer.hpp"

namespace echoform {

/// Throws InputError, naming `where`, unless ONDE 0.9.0 can hold frames of `acquisition`: it has no word for a half matrix whose
/// instrument added both directions, for events in which nobody transmits, and for several positions within a frame; a frame is
/// one HDF5 chunk, which has less than 4 GiB.
void check_onde_holds(const Acquisition& acquisition, const std::string& where);

/// One data set of one probe: DATA [dataframes, A-scans, samples], one chunk a frame, in rows as the layout has them; int16 and
/// packed12 as int16 counts, whose scale is that of the AMPLITUDE_DIMENSION, float32 as it is. Laws name elements from 1; waves
/// are written by their delays. The trajectory has a frame for each dataframe: that in which elements are stated, or where `pose`
/// of the options moves it by the encoder's counts. What is unknown is NaN, a size of an element 0. The file appears whole, once
/// it is closed.
class OndeWriter final : public FrameWriter {
 public:
  OndeWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options = {});
  /// As close(), in silence.
  ~OndeWriter() override;
  OndeWriter(const OndeWriter&) = delete;
  OndeWriter& operator=(const OndeWriter&) = delete;

  void flush() override {}  // nothing is there before it is whole
  void close() override;
  [[nodiscard]] std::uint64_t frames() const noexcept override;
  [[nodiscard]] std::uint64_t bytes() const noexcept override;

 private:
  void write(std::span<const std::byte> frame, const FrameStamp& stamp) override;
  struct File;
  std::unique_ptr<File> file_;
};

namespace formats {

/// Writes into the empty file that is open as `descriptor`; `name` is what messages call it. A TSCAN of one dataframe, [1, x, z]
/// or [1, x, y, z] of float32, whose zone is that of the grid's pixels with half a pixel around, z into the part. An image knows
/// no probe: the one that the format asks for, and the data set of A-scans, which were not kept, state nothing. Throws InputError
/// for fields of complex numbers and axes that are not in metres, RuntimeFault if the file cannot be written.
void write_onde_image(int descriptor, const std::string& name, const ImageFile& image);

}  // namespace formats
}  // namespace echoform
