#include "formats/mat5_points.hpp"

#include <algorithm>

namespace echoform::formats {
namespace {

constexpr std::size_t window_bytes = std::size_t{1} << 15;  // the maximum distance of deflate's references back

}  // namespace

void Mat5Points::note(z_stream& stream, std::uint64_t in) {
  const std::uint64_t out = stream.total_out;
  if (!points_.empty() && out - points_.back().out < step_) return;
  if (points_.size() == most_) {
    step_ *= 2;
    // The first point always stays: without it, nothing before the next point could be reached.
    std::size_t kept = 1;
    for (std::size_t k = 1; k < points_.size(); ++k) {
      if (points_[k].out - points_[kept - 1].out >= step_) std::swap(points_[kept++], points_[k]);
    }
    points_.resize(kept);
    if (out - points_.back().out < step_) return;
  }
  Mat5Point point{out, in, stream.data_type & 7, std::vector<std::uint8_t>(window_bytes)};
  uInt length = 0;
  inflateGetDictionary(&stream, point.window.data(), &length);
  point.window.resize(length);
  point.window.shrink_to_fit();
  points_.push_back(std::move(point));
}

const Mat5Point* Mat5Points::before(std::uint64_t out) const {
  const auto after = std::ranges::upper_bound(points_, out, {}, &Mat5Point::out);
  return after == points_.begin() ? nullptr : &*std::prev(after);
}

}  // namespace echoform::formats
