#include "formats/mat5_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/errors.hpp"

namespace echoform::formats {

Mat5File::Mat5File(const InputFile& input) : file_(input.same_file(), std::ios::binary), size_(input.size()) {
  if (!file_) throw InputError(input.name(), "a file that cannot be read", "a readable MATLAB file");
}

bool Mat5File::read(void* to, std::uint64_t count) {
  if (count > size_ - position_) return false;
  if (!file_.read(static_cast<char*>(to), static_cast<std::streamsize>(count))) return false;
  position_ += count;
  return true;
}

bool Mat5File::skip(std::uint64_t count) {
  if (count > size_ - position_) return false;
  position_ += count;
  return static_cast<bool>(file_.seekg(static_cast<std::streamoff>(position_)));
}

bool Mat5File::seek(std::uint64_t position) {
  if (position > size_) return false;
  file_.clear();
  position_ = position;
  return static_cast<bool>(file_.seekg(static_cast<std::streamoff>(position_)));
}

std::string Mat5File::place() const {
  return fmt::format("offset {}", position_);
}

Mat5Inflater::Mat5Inflater(Mat5File& file, std::uint64_t compressed)
    : file_(file), start_(file.position()), compressed_left_(compressed) {
  if (inflateInit(&zlib_) != Z_OK) throw std::bad_alloc();
}

Mat5Inflater::~Mat5Inflater() {
  inflateEnd(&zlib_);
}

std::string Mat5Inflater::place() const {
  return fmt::format("byte {} inside the compressed element at offset {}", position_, start_ - 8);
}

bool Mat5Inflater::inflate_some(std::uint8_t* to, std::uint32_t count) {
  zlib_.next_out = to;
  zlib_.avail_out = count;
  while (zlib_.avail_out > 0) {
    if (ended_) {
      fault_ = "the end of the compressed data";
      return false;
    }
    if (zlib_.avail_in == 0) {
      const auto take = static_cast<std::uint32_t>(std::min<std::uint64_t>(compressed_left_, input_.size()));
      if (take == 0 || !file_.read(input_.data(), take)) {
        fault_ = "the end of the compressed data";
        return false;
      }
      compressed_left_ -= take;
      zlib_.next_in = input_.data();
      zlib_.avail_in = take;
    }
    const int status = inflate(&zlib_, Z_BLOCK);
    constexpr int at_block_end = 128;
    constexpr int in_last_block = 64;
    if (status == Z_OK && (zlib_.data_type & at_block_end) != 0 && (zlib_.data_type & in_last_block) == 0) {
      points_->note(zlib_, file_.position() - zlib_.avail_in);
    }
    if (status == Z_STREAM_END) {
      ended_ = true;
    } else if (status != Z_OK) {
      fault_ = fmt::format("damaged compressed data ({})", zlib_.msg != nullptr ? zlib_.msg : "zlib error");
      return false;
    }
  }
  return true;
}

bool Mat5Inflater::read(void* to, std::uint64_t count) {
  auto* out = static_cast<std::uint8_t*>(to);
  while (count > 0) {
    const auto piece = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, 1u << 30));
    if (!inflate_some(out, piece)) return false;
    out += piece;
    count -= piece;
    position_ += piece;
  }
  return true;
}

bool Mat5Inflater::skip(std::uint64_t count) {
  while (count > 0) {
    const auto piece = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, scratch_.size()));
    if (!inflate_some(scratch_.data(), piece)) return false;
    count -= piece;
    position_ += piece;
  }
  return true;
}

bool Mat5Inflater::at_end() {
  // The checksum comes behind the last byte, so one more byte must be requested from zlib.
  std::uint8_t extra = 0;
  if (!ended_ && inflate_some(&extra, 1)) {
    fault_ = "more compressed data";
    return false;
  }
  if (!ended_) return false;
  if (zlib_.avail_in != 0 || compressed_left_ != 0) {
    fault_ = fmt::format("{} bytes behind the compressed data", zlib_.avail_in + compressed_left_);
    return false;
  }
  return true;
}

}  // namespace echoform::formats
