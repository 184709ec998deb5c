#include "rays/stl_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

#include "base/errors.hpp"
#include "base/text_file.hpp"

namespace echoform {
namespace {

constexpr std::size_t head_bytes = 84;      // 80 of text and the number of triangles
constexpr std::size_t triangle_bytes = 50;  // a normal and three corners of three float32, and two bytes of attributes
/// A triangle takes up to some 300 bytes in ASCII.
constexpr std::uintmax_t most_bytes = 512 * most_stl_triangles;

using Triangles = std::vector<std::array<Vector3, 3>>;

void check_count(std::size_t count, const std::string& path) {
  if (count <= most_stl_triangles) return;
  throw InputError(path, fmt::format("{} triangles or more", count), fmt::format("{} at most", most_stl_triangles));
}

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < 4; ++k) value |= std::uint32_t{static_cast<std::uint8_t>(bytes[at + k])} << (8 * k);
  return value;
}

void check_finite(double number, std::size_t triangle, const std::string& path) {
  if (std::isfinite(number)) return;
  throw InputError(fmt::format("{}, triangle {}", path, triangle), "a number that is not finite", "finite coordinates");
}

Triangles parse_binary(std::string_view bytes, const std::string& path, double scale) {
  const std::size_t count = little_endian(bytes, 80);
  check_count(count, path);
  if (bytes.size() != head_bytes + count * triangle_bytes) {
    throw InputError(path, fmt::format("{} bytes for {} triangles", bytes.size(), count),
                     fmt::format("{}: a whole binary STL file", head_bytes + count * triangle_bytes));
  }
  Triangles triangles(count);
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t which = 0; which < 3; ++which) {
      std::array<double, 3> at{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::size_t place = head_bytes + k * triangle_bytes + 4 * (3 + 3 * which + axis);
        at[axis] = static_cast<double>(std::bit_cast<float>(little_endian(bytes, place)));
        check_finite(at[axis], k, path);
      }
      triangles[k][which] = scale * Vector3{at[0], at[1], at[2]};
    }
  }
  return triangles;
}

/// Reads words between blanks.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  /// The next word; empty at the end.
  std::string_view next() {
    constexpr std::string_view blanks = " \t\r\n\v\f";
    const std::size_t begin = std::min(text_.find_first_not_of(blanks, at_), text_.size());
    at_ = std::min(text_.find_first_of(blanks, begin), text_.size());
    return text_.substr(begin, at_ - begin);
  }
  /// Skips the rest of the line.
  void pass_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

bool same_word(std::string_view word, std::string_view wanted) {
  return std::equal(word.begin(), word.end(), wanted.begin(), wanted.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

double number_of(std::string_view word, std::size_t triangle, const std::string& path) {
  double number = 0.0;
  const char* const begin = word.data() + (word.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) {
    throw InputError(fmt::format("{}, triangle {}", path, triangle),
                     word.empty() ? std::string("the end of the file") : fmt::format("\"{}\"", word.substr(0, 32)), "a number");
  }
  check_finite(number, triangle, path);
  return number;
}

Triangles parse_ascii(std::string_view text, const std::string& path, double scale) {
  Words words(text);
  Triangles triangles;
  const auto expect = [&](std::string_view wanted) {
    const std::string_view word = words.next();
    if (same_word(word, wanted)) return;
    throw InputError(fmt::format("{}, triangle {}", path, triangles.size()),
                     word.empty() ? std::string("the end of the file") : fmt::format("\"{}\"", word.substr(0, 32)),
                     fmt::format("\"{}\" of an ASCII STL file", wanted));
  };
  expect("solid");
  words.pass_line();
  while (true) {
    const std::string_view word = words.next();
    if (same_word(word, "endsolid")) {
      words.pass_line();
      // A file may hold several solids.
      if (words.next().empty()) return triangles;
      words.pass_line();
      continue;
    }
    if (!same_word(word, "facet")) {
      throw InputError(fmt::format("{}, triangle {}", path, triangles.size()),
                       word.empty() ? std::string("the end of the file") : fmt::format("\"{}\"", word.substr(0, 32)),
                       "\"facet\" or \"endsolid\" of an ASCII STL file");
    }
    check_count(triangles.size() + 1, path);
    expect("normal");
    for (int k = 0; k < 3; ++k) static_cast<void>(words.next());
    expect("outer");
    expect("loop");
    std::array<Vector3, 3> corners{};
    for (Vector3& corner : corners) {
      expect("vertex");
      std::array<double, 3> at{};
      for (double& number : at) number = number_of(words.next(), triangles.size(), path);
      corner = scale * Vector3{at[0], at[1], at[2]};
    }
    expect("endloop");
    expect("endfacet");
    triangles.push_back(corners);
  }
}

}  // namespace

Triangles parse_stl(std::string_view bytes, const std::string& path, double scale) {
  // Binary files may begin with "solid" too, so the number of triangles decides.
  const bool fits =
      bytes.size() >= head_bytes && bytes.size() == head_bytes + std::size_t{little_endian(bytes, 80)} * triangle_bytes;
  const std::size_t begin = std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size());
  const bool ascii = !fits && same_word(bytes.substr(begin, 5), "solid") && bytes.find('\0') == std::string_view::npos;
  if (ascii) return parse_ascii(bytes, path, scale);
  if (bytes.size() < head_bytes) {
    throw InputError(path, fmt::format("{} bytes", bytes.size()), "an STL file, binary or ASCII");
  }
  return parse_binary(bytes, path, scale);
}

Triangles read_stl(const std::string& path, const std::string& key, double scale) {
  const std::string size_expected = fmt::format("an STL file of at most {} triangles", most_stl_triangles);
  const TextFileRequest request{
      .key = key, .expected = "an STL file, binary or ASCII", .maximum_bytes = most_bytes, .size_expected = size_expected};
  return parse_stl(read_text_file(path, request), path, scale);
}

}  // namespace echoform
