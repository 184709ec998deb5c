// What the fuzzers share: an input taken apart, what must hold, a file that holds the input.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace echoform::fuzz {

/// A finding where it does not hold: the fuzzer stops and keeps the input.
inline void require(bool holds, std::string_view what) {
  if (holds) return;
  fmt::print(stderr, "does not hold: {}\n", what);
  std::abort();
}

/// What every message for people keeps: one line, nothing that steers a terminal.
inline void require_one_line(std::string_view text) {
  require(!text.empty(), "an error says something");
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; });
  require(plain, fmt::format("an error is one line without control characters: {:?}", text));
}

/// Numbers off the front of an input; zeros once it is used up.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

  template <class Number>
  Number take() {
    Number value{};
    const std::size_t count = std::min(sizeof value, bytes_.size());
    if (count > 0) std::memcpy(&value, bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
    return value;
  }
  /// Up to and without `end`, or everything.
  std::string_view take_until(char end) {
    const std::string_view all = text();
    const std::string_view part = all.substr(0, all.find(end));
    bytes_ = bytes_.subspan(std::min(part.size() + 1, bytes_.size()));
    return part;
  }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] std::span<const std::uint8_t> rest() const { return bytes_; }
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  std::span<const std::uint8_t> bytes_;
};

/// One file in memory that every input is written to in turn; gone with the program.
class InputFile {
 public:
  explicit InputFile(std::string_view extension) {
    const std::filesystem::path memory = "/dev/shm";
    const auto root = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    std::string folder = (root / "echoform-fuzz-XXXXXX").string();
    require(::mkdtemp(folder.data()) != nullptr, "a folder for the file");
    path_ = std::filesystem::path(folder) / fmt::format("input{}", extension);
  }
  ~InputFile() {
    std::error_code ignored;
    std::filesystem::remove_all(path_.parent_path(), ignored);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  void write(std::span<const std::uint8_t> bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// `listen(bytes, first, step)` hears bytes in pieces, a first one and then others, and tells what it heard: that does not depend
/// on where they are cut. The input begins with the place of a cut.
template <class Listen>
void require_cuts_to_tell_nothing(Input input, const Listen& listen) {
  const auto cut = input.take<std::uint16_t>();
  const auto bytes = input.rest();
  const std::string whole = listen(bytes, bytes.size(), bytes.size());
  const std::size_t first = bytes.empty() ? 0 : cut % bytes.size();
  require(listen(bytes, first, bytes.size()) == whole, "cut in two, what is heard is the same");
  if (bytes.size() <= 512) require(listen(bytes, 1, 1) == whole, "byte by byte, what is heard is the same");
}

}  // namespace echoform::fuzz
