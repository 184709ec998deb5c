// PNG files from pixels in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace echoform {

/// One PNG file in memory. `pixels` is [height, width] (grey) or [height, width, 3] (RGB), distinguished by its size; `text`
/// becomes tEXt entries. Throws InputError if the size is neither or a side is 0 or above 65535.
[[nodiscard]] std::vector<std::uint8_t> encode_png(std::size_t width, std::size_t height, std::span<const std::uint8_t> pixels,
                                                   const std::vector<std::pair<std::string, std::string>>& text = {});

/// Writes encode_png's bytes, whole or not at all.
void write_plain_png(const std::filesystem::path& path, std::size_t width, std::size_t height,
                     std::span<const std::uint8_t> pixels);

/// Pixels of a PNG file: grey stays [height, width], anything else becomes RGB. Throws InputError if it is not a good PNG file.
struct PngPixels {
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t channels = 0;
  std::vector<std::uint8_t> pixels;
};
[[nodiscard]] PngPixels read_png(const std::filesystem::path& path);

}  // namespace echoform
