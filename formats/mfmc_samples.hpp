// MFMC_DATA [frame, A-scan, sample], some A-scans of a frame at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "formats/hdf5_blocks.hpp"
#include "formats/read_ahead.hpp"

namespace echoform::formats {

class MfmcSamples {
 public:
  /// `data`, which outlives this, is of numbers and has three axes. Values are handed on as int16 with `as_counts`, else as
  /// float32. Throws InputError as Hdf5Blocks.
  MfmcSamples(const Hdf5Item& data, bool as_counts);

  [[nodiscard]] std::size_t row_bytes() const noexcept { return row_bytes_; }
  /// What reading takes, at most: A-scans that are packed together are unpacked together, and kept.
  [[nodiscard]] std::size_t reading_bytes() const noexcept { return blocks_.reading_bytes(); }

  /// `count` A-scans of the file from `first` on. Throws InputError where they are not in it.
  void read(std::size_t frame, std::size_t first, std::size_t count, std::span<std::byte> to);
  /// Announces A-scans that will be read soon, where they lie in the file as they are read.
  void expect(std::size_t frame, std::size_t first, std::size_t count, const ReadAhead& file);
  /// Makes HDF5 find all of a frame's samples, and unpacks them where they are packed, for what comes of it.
  void try_frame(std::size_t frame);

 private:
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::size_t frame, std::size_t chunk_row);

  const Hdf5Item& data_;
  Hdf5Blocks blocks_;
  hid_t type_;
  std::size_t a_scans_;
  std::size_t samples_;
  std::size_t row_bytes_;
  std::size_t chunk_rows_;          // A-scans of a chunk; all, where there are no chunks
  std::size_t file_row_bytes_ = 0;  // of A-scans that lie whole in the file, one after the other in a chunk or frame; else 0
  // Where a chunk begins that was looked up last.
  std::size_t found_frame_ = SIZE_MAX;
  std::size_t found_row_ = 0;
  std::optional<std::uint64_t> found_;
};

}  // namespace echoform::formats
