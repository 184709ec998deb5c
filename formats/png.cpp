#include "formats/png.hpp"

#include <fmt/format.h>
#include <png.h>
#include <zlib.h>

#include "base/errors.hpp"
#include "formats/atomic_file.hpp"

namespace echoform {
namespace {

constexpr std::size_t longest_side = 65535;
// The signature and the IHDR chunk come first and always have the same size.
constexpr std::size_t header_bytes = 8 + 25;

void append_word(std::vector<std::uint8_t>& bytes, std::uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(word >> shift));
}

void append_chunk(std::vector<std::uint8_t>& bytes, const std::string& type, const std::string& data) {
  append_word(bytes, static_cast<std::uint32_t>(data.size()));
  const std::size_t start = bytes.size();
  bytes.insert(bytes.end(), type.begin(), type.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  append_word(bytes, static_cast<std::uint32_t>(crc32(0, bytes.data() + start, static_cast<uInt>(bytes.size() - start))));
}

}  // namespace

std::vector<std::uint8_t> encode_png(std::size_t width, std::size_t height, std::span<const std::uint8_t> pixels,
                                     const std::vector<std::pair<std::string, std::string>>& text) {
  if (width == 0 || height == 0 || width > longest_side || height > longest_side) {
    throw InputError("PNG image", fmt::format("{} x {} pixels", width, height), fmt::format("sides of 1 to {}", longest_side));
  }
  const bool grey = pixels.size() == width * height;
  if (!grey && pixels.size() != 3 * width * height) {
    throw InputError("PNG image", fmt::format("{} bytes for {} x {} pixels", pixels.size(), width, height),
                     "one or three bytes a pixel");
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::uint8_t> plain(size);
  if (png_image_write_to_memory(&image, plain.data(), &size, 0, pixels.data(), 0, nullptr) == 0) {
    throw RuntimeFault(fmt::format("PNG image: cannot be encoded: {}", image.message));
  }
  std::vector<std::uint8_t> file(plain.begin(), plain.begin() + header_bytes);
  for (const auto& [key, value] : text) append_chunk(file, "tEXt", key + '\0' + value);
  file.insert(file.end(), plain.begin() + header_bytes, plain.begin() + static_cast<std::ptrdiff_t>(size));
  return file;
}

void write_plain_png(const std::filesystem::path& path, std::size_t width, std::size_t height,
                     std::span<const std::uint8_t> pixels) {
  check_output_place(path);
  const auto bytes = encode_png(width, height, pixels);
  write_file(path, std::as_bytes(std::span(bytes)));
}

PngPixels read_png(const std::filesystem::path& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) {
    throw InputError(path.string(), fmt::format("no PNG image ({})", image.message), "a PNG file");
  }
  const bool grey = (image.format & PNG_FORMAT_FLAG_COLOR) == 0;
  image.format = grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  PngPixels result{image.width, image.height, grey ? std::size_t{1} : std::size_t{3}, {}};
  if (result.width > longest_side || result.height > longest_side) {
    png_image_free(&image);
    throw InputError(path.string(), fmt::format("{} x {} pixels", result.width, result.height),
                     fmt::format("sides of at most {}", longest_side));
  }
  result.pixels.resize(result.width * result.height * result.channels);
  if (png_image_finish_read(&image, nullptr, result.pixels.data(), 0, nullptr) == 0) {
    throw InputError(path.string(), fmt::format("a damaged PNG image ({})", image.message), "a PNG file");
  }
  return result;
}

}  // namespace echoform
