// An array of a MATLAB version 5 or 7 file, some numbers at a time.
#pragma once

#include <zlib.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/input_file.hpp"
#include "formats/mat5_points.hpp"
#include "formats/mat5_stream.hpp"

namespace echoform::formats {

/// How numbers are stored: the format's mi... types.
enum class Mat5Type : std::uint8_t { int8, uint8, int16, uint16, int32, uint32, single, real, int64, uint64 };
[[nodiscard]] std::size_t bytes_of(Mat5Type type);

/// Where the numbers of an array lie, in the file's (column-major) order.
struct Mat5Place {
  Mat5Type type = Mat5Type::real;
  std::uint8_t array_class = 0;  ///< what MATLAB has them as: the format's mx... number
  bool swapped = false;          ///< big-endian
  std::uint64_t count = 0;
  std::vector<std::uint8_t> here;            ///< the numbers themselves, where they are in their tag
  std::uint64_t offset = 0;                  ///< of the first, in the file or in the compressed element's inflated bytes
  std::shared_ptr<const Mat5Points> points;  ///< of that element; null: the file's own bytes
};

class Mat5Numbers {
 public:
  /// `place` is of this file, checked. Throws InputError if it cannot be opened.
  Mat5Numbers(const InputFile& file, Mat5Place place);

  /// Bytes of memory that reading `count` numbers at a time takes, at most.
  [[nodiscard]] static std::size_t most_bytes(std::size_t count);

  /// values.size() numbers from `first` on, which are there, as MATLAB would convert them to single. Inflates from the point
  /// before them, or goes on where the last call ended. Throws InputError where the file is not what it was when it was checked.
  void read(std::uint64_t first, std::span<float> values);

 private:
  /// Ends a stream that inflates.
  struct End {
    void operator()(z_stream* stream) const;
  };
  void read_bytes(std::uint64_t offset, std::span<std::uint8_t> to);
  void seek_inflated(std::uint64_t offset);
  void inflate_into(std::span<std::uint8_t> to);
  [[noreturn]] void fail() const;

  std::string file_name_;
  Mat5File file_;
  Mat5Place place_;
  std::vector<std::uint8_t> bytes_;           // of the numbers that are read
  std::unique_ptr<z_stream, End> inflating_;  // from a point on; null: nothing yet
  std::uint64_t inflated_ = 0;                // where it is, in inflated bytes
  std::vector<std::uint8_t> input_;           // what it reads from
};

}  // namespace echoform::formats
