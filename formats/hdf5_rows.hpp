// A-scans of frames in a dataset of numbers, some of them at a time.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "formats/hdf5_blocks.hpp"
#include "formats/hdf5_file.hpp"

namespace echoform::formats {

/// Axes at the end that are of a frame.
enum class FrameAxes : unsigned char {
  stacked,  ///< one: A-scan after A-scan
  rows,     ///< two: A-scan, sample
};

class Hdf5Rows {
 public:
  /// `data`, which outlives this, is of numbers and has an axis before those of a frame at most. What stands before them is of
  /// frames, the last of them fastest. Values are handed on as int16 with `as_counts`, else as float32. Throws InputError as
  /// Hdf5Blocks.
  Hdf5Rows(const Hdf5Item& data, FrameAxes axes, std::size_t samples, bool as_counts);

  /// Maximum number of frames that a file may have, so that a loop over all frames ends.
  static constexpr std::size_t most_frames = std::size_t{1} << 24;

  [[nodiscard]] std::size_t frames() const { return frames_; }
  /// A-scans of a frame.
  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// Whether they are packed: unpacked for every access anew.
  [[nodiscard]] bool packed() const { return blocks_.packed(); }
  /// `count` A-scans from `first` on. Throws InputError where they are not in the file.
  void read(std::size_t frame, std::size_t first, std::size_t count, std::span<std::byte> to);
  /// Reads samples from all over the file, for a trial of HDF5 in a process of its own (guarded_trial.hpp): a crash shows
  /// here. InputErrors are ignored, since damage is reported when the data is read in earnest.
  void try_reading();

 private:
  const Hdf5Item& data_;
  Hdf5Blocks blocks_;
  FrameAxes axes_;
  std::size_t samples_;
  hid_t type_;
  std::size_t number_bytes_;
  std::size_t frames_ = 1;
  std::size_t rows_ = 0;
};

/// Whether 16 bits with a sign hold whatever the dataset may.
[[nodiscard]] bool holds_counts(const Hdf5Item& data);

/// The item at a path of groups, "/Public/Setup", each step a hard link. Nothing where one of them is not there. `where` is
/// "FILE: ".
[[nodiscard]] std::optional<Hdf5Item> find_at_path(const Hdf5Handle& file, std::string_view path, const std::string& where);

}  // namespace echoform::formats
