// Places of a deflated stream from which inflating can begin.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace echoform::formats {

/// Where a block of the stream begins, and the bytes before it that it may refer to.
struct Mat5Point {
  std::uint64_t out = 0;             ///< bytes inflated before it
  std::uint64_t in = 0;              ///< of the file: the first byte that is not used up
  int bits = 0;                      ///< of the byte before that, still to be used
  std::vector<std::uint8_t> window;  ///< the last of those bytes, at most 32 KiB
};

/// Points of a stream, as it is inflated from its beginning: at ends of blocks that are at least `step` bytes of output apart,
/// and half as many of them, twice as far apart, whenever there would be more than `most`, which take 16 MiB.
class Mat5Points {
 public:
  explicit Mat5Points(std::uint64_t step = std::uint64_t{1} << 20, std::size_t most = 512) : step_(step), most_(most) {}

  /// Notes a point; to be called at the end of a block of `stream`, whose next input is byte `in` of the file. Throws
  /// std::bad_alloc.
  void note(z_stream& stream, std::uint64_t in);

  /// The last one at or before byte `out`, or null.
  [[nodiscard]] const Mat5Point* before(std::uint64_t out) const;
  [[nodiscard]] std::size_t count() const noexcept { return points_.size(); }

 private:
  std::vector<Mat5Point> points_;
  std::uint64_t step_;
  std::size_t most_;
};

}  // namespace echoform::formats
