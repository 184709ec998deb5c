#include "formats/mat5_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "base/errors.hpp"

namespace echoform::formats {
namespace {

constexpr std::size_t input_bytes = std::size_t{1} << 16;
constexpr std::uint8_t class_double = 6;
constexpr std::uint8_t class_single = 7;

/// Converts a number of MATLAB class `array_class`, however it is stored: files keep whole numbers in the shortest type.
template <class Stored>
float as_single(Stored value, std::uint8_t array_class) {
  if (array_class == class_double) return static_cast<float>(static_cast<double>(value));
  if (array_class == class_single || std::is_integral_v<Stored>) return static_cast<float>(value);
  return static_cast<float>(static_cast<std::int64_t>(value));
}

template <class Stored>
void convert(std::span<const std::uint8_t> bytes, const Mat5Place& place, std::span<float> values) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    std::array<std::uint8_t, sizeof(Stored)> of_one{};
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(k * sizeof(Stored)), sizeof(Stored), of_one.begin());
    if (place.swapped) std::ranges::reverse(of_one);
    values[k] = as_single(std::bit_cast<Stored>(of_one), place.array_class);
  }
}

}  // namespace

std::size_t bytes_of(Mat5Type type) {
  switch (type) {
    case Mat5Type::int8:
    case Mat5Type::uint8:
      return 1;
    case Mat5Type::int16:
    case Mat5Type::uint16:
      return 2;
    case Mat5Type::int32:
    case Mat5Type::uint32:
    case Mat5Type::single:
      return 4;
    case Mat5Type::real:
    case Mat5Type::int64:
    case Mat5Type::uint64:
      return 8;
  }
  return 0;
}

Mat5Numbers::Mat5Numbers(const InputFile& file, Mat5Place place)
    : file_name_(file.name()), file_(file), place_(std::move(place)) {}

std::size_t Mat5Numbers::most_bytes(std::size_t count) {
  constexpr std::size_t of_zlib = std::size_t{1} << 16;  // zlib's state and window
  return count * bytes_of(Mat5Type::real) + input_bytes + of_zlib;
}

void Mat5Numbers::End::operator()(z_stream* stream) const {
  inflateEnd(stream);
  delete stream;
}

void Mat5Numbers::read(std::uint64_t first, std::span<float> values) {
  const std::size_t size = bytes_of(place_.type);
  bytes_.resize(values.size() * size);
  read_bytes(first * size, bytes_);
  const std::span<const std::uint8_t> bytes(bytes_);
  switch (place_.type) {
    case Mat5Type::int8:
      return convert<std::int8_t>(bytes, place_, values);
    case Mat5Type::uint8:
      return convert<std::uint8_t>(bytes, place_, values);
    case Mat5Type::int16:
      return convert<std::int16_t>(bytes, place_, values);
    case Mat5Type::uint16:
      return convert<std::uint16_t>(bytes, place_, values);
    case Mat5Type::int32:
      return convert<std::int32_t>(bytes, place_, values);
    case Mat5Type::uint32:
      return convert<std::uint32_t>(bytes, place_, values);
    case Mat5Type::single:
      return convert<float>(bytes, place_, values);
    case Mat5Type::real:
      return convert<double>(bytes, place_, values);
    case Mat5Type::int64:
      return convert<std::int64_t>(bytes, place_, values);
    case Mat5Type::uint64:
      return convert<std::uint64_t>(bytes, place_, values);
  }
}

void Mat5Numbers::read_bytes(std::uint64_t offset, std::span<std::uint8_t> to) {
  if (!place_.here.empty()) {
    std::copy_n(place_.here.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
  } else if (!place_.points) {
    if (!file_.seek(place_.offset + offset) || !file_.read(to.data(), to.size())) fail();
  } else {
    seek_inflated(place_.offset + offset);
    inflate_into(to);
  }
}

void Mat5Numbers::seek_inflated(std::uint64_t offset) {
  const Mat5Point* const point = place_.points->before(offset);
  if (point == nullptr) fail();
  if (!inflating_ || inflated_ > offset || inflated_ < point->out) {
    inflating_.reset(new z_stream{});
    // Raw deflate: the stream is read without its header and checksum, which are at its ends.
    if (inflateInit2(inflating_.get(), -MAX_WBITS) != Z_OK) throw std::bad_alloc();
    std::uint8_t before = 0;
    if (!file_.seek(point->in - (point->bits != 0 ? 1 : 0))) fail();
    if (point->bits != 0) {
      if (!file_.read(&before, 1)) fail();
      inflatePrime(inflating_.get(), point->bits, before >> (8 - point->bits));
    }
    if (!point->window.empty()) {
      inflateSetDictionary(inflating_.get(), point->window.data(), static_cast<uInt>(point->window.size()));
    }
    inflated_ = point->out;
  }
  std::array<std::uint8_t, 1 << 14> skipped;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled
  while (inflated_ < offset) inflate_into(std::span(skipped).first(std::min<std::uint64_t>(skipped.size(), offset - inflated_)));
}

void Mat5Numbers::inflate_into(std::span<std::uint8_t> to) {
  input_.resize(input_bytes);
  z_stream& stream = *inflating_;
  while (!to.empty()) {
    if (stream.avail_in == 0) {
      const std::uint64_t take = std::min<std::uint64_t>(input_.size(), file_.size() - file_.position());
      if (take == 0 || !file_.read(input_.data(), take)) fail();
      stream.next_in = input_.data();
      stream.avail_in = static_cast<uInt>(take);
    }
    const auto wanted = static_cast<uInt>(std::min<std::size_t>(to.size(), std::size_t{1} << 30));
    stream.next_out = to.data();
    stream.avail_out = wanted;
    const int status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t made = wanted - stream.avail_out;
    inflated_ += made;
    to = to.subspan(made);
    if (status != Z_OK && !(status == Z_STREAM_END && to.empty())) fail();
  }
}

void Mat5Numbers::fail() const {
  throw InputError(file_name_, "other data than when it was opened", "a recording that stays as it is");
}

}  // namespace echoform::formats
