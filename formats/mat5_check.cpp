#include "formats/mat5_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "formats/mat5_stream.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

// Type numbers of data elements (the format's mi...) and classes of arrays (mx...).
enum DataType : std::uint32_t {
  type_int8 = 1,
  type_uint8,
  type_int16,
  type_uint16,
  type_int32,
  type_uint32,
  type_single,
  type_double = 9,
  type_int64 = 12,
  type_uint64 = 13,
  type_matrix = 14,
  type_compressed = 15,
  type_utf8 = 16,
  type_utf16 = 17,
  type_utf32 = 18,
};
enum ArrayClass : std::uint32_t {
  class_cell = 1,
  class_structure,
  class_object,
  class_text,
  class_sparse,
  class_first_numeric = 6,
  class_last_numeric = 15,
};
constexpr std::uint32_t complex_flag = 0x0800;
constexpr std::uint32_t deepest = 16;

std::uint32_t bytes_of(std::uint32_t type) {
  switch (type) {
    case type_int8:
    case type_uint8:
    case type_utf8:
      return 1;
    case type_int16:
    case type_uint16:
    case type_utf16:
      return 2;
    case type_int32:
    case type_uint32:
    case type_single:
    case type_utf32:
      return 4;
    case type_double:
    case type_int64:
    case type_uint64:
      return 8;
    default:
      return 0;
  }
}

/// The properties of a numeric type.
Mat5Type type_of(std::uint32_t type) {
  switch (type) {
    case type_int8:
      return Mat5Type::int8;
    case type_uint8:
      return Mat5Type::uint8;
    case type_int16:
      return Mat5Type::int16;
    case type_uint16:
      return Mat5Type::uint16;
    case type_int32:
      return Mat5Type::int32;
    case type_uint32:
      return Mat5Type::uint32;
    case type_single:
      return Mat5Type::single;
    case type_int64:
      return Mat5Type::int64;
    case type_uint64:
      return Mat5Type::uint64;
    default:
      return Mat5Type::real;
  }
}

struct Tag {
  std::uint32_t type = 0;
  std::uint32_t bytes = 0;
  bool small = false;  // the tag itself holds the data
  std::array<std::uint8_t, 4> data{};
};

class Checker {
 public:
  Checker(std::string file, bool swapped, std::string_view variable, std::string_view field, const Mat5CheckLimits& limits)
      : file_(std::move(file)), swapped_(swapped), variable_(variable), field_(field), limits_(limits) {}

  /// The place of the field's numbers; set once they were found.
  std::optional<Mat5Place> place;

  void top_level(Mat5File& file) {
    const std::string_view variable = variable_;
    bool found = false;
    std::size_t number = 0;
    while (file.position() < file.size()) {
      name_ = fmt::format("element {}", ++number);
      const std::uint64_t offset = file.position();
      const Tag tag = read_tag(file);
      if (tag.small || (tag.type != type_matrix && tag.type != type_compressed)) {
        fail(fmt::format("offset {}", offset), fmt::format("data type {}", tag.type), "a matrix or a compressed matrix");
      }
      if (tag.bytes > file.size() - file.position()) {
        fail(fmt::format("offset {}", offset), fmt::format("{} bytes to the end of the file", file.size() - file.position()),
             fmt::format("the {} that the element states (the file is truncated or damaged)", tag.bytes));
      }
      const std::uint64_t end = file.position() + tag.bytes;
      // Libraries read no variable behind the wanted one, so there only the bytes must be whole.
      if (tag.type == type_matrix) {
        if (found) {
          require(file, file.skip(tag.bytes));
        } else {
          found = matrix(file, tag.bytes, 0) == variable;
        }
      } else {
        const bool placed = place.has_value();
        Mat5Inflater inflated(file, tag.bytes);
        const Tag inner = read_tag(inflated);
        if (inner.small || inner.type != type_matrix) fail(inflated.place(), fmt::format("data type {}", inner.type), "a matrix");
        if (found) {
          require(inflated, inflated.skip(inner.bytes));
        } else {
          found = matrix(inflated, inner.bytes, 0) == variable;
        }
        if (!inflated.at_end()) fail(inflated.place(), inflated.fault(), "the end of the compressed data");
        if (place && !placed) place->points = inflated.points();
      }
      if (file.position() != end)
        fail(file.place(), "an element that ends elsewhere than it states", fmt::format("its end at offset {}", end));
    }
    if (!found) throw InputError(file_, fmt::format("no variable \"{}\"", variable), fmt::format("a structure \"{}\"", variable));
  }

 private:
  [[noreturn]] void fail(const std::string& at, const std::string& found, const std::string& expected) const {
    throw InputError(fmt::format("{}: {}, {}", file_, name_, at), found, expected);
  }
  void require(const Mat5Stream& stream, bool good) const {
    if (!good) fail(stream.place(), stream.fault(), "more data (the file is truncated or damaged)");
  }
  [[nodiscard]] std::uint32_t order(std::uint32_t word) const {
    return swapped_ ? word >> 24 | (word >> 8 & 0xff00u) | (word << 8 & 0xff0000u) | word << 24 : word;
  }

  Tag read_tag(Mat5Stream& stream) const {
    std::array<std::uint32_t, 2> words{};
    require(stream, stream.read(words.data(), sizeof words));
    Tag tag;
    tag.type = order(words[0]);
    if ((tag.type >> 16) != 0) {
      tag.small = true;
      tag.bytes = tag.type >> 16;
      tag.type &= 0xffffu;
      std::memcpy(tag.data.data(), &words[1], tag.data.size());
      if (tag.bytes > 4) fail(stream.place(), fmt::format("a small element of {} bytes", tag.bytes), "at most 4");
    } else {
      tag.bytes = order(words[1]);
    }
    return tag;
  }

  // Tag of a sub-element that must lie, padded, before `end`.
  Tag read_tag_within(Mat5Stream& stream, std::uint64_t end) const {
    if (end - stream.position() < 8) {
      fail(stream.place(), fmt::format("{} bytes left in the element", end - stream.position()), "another element's tag");
    }
    const Tag tag = read_tag(stream);
    if (!tag.small && padded(tag) > end - stream.position()) {
      fail(stream.place(), fmt::format("a part of {} bytes where {} are left", tag.bytes, end - stream.position()),
           "parts that fit their element");
    }
    return tag;
  }
  static std::uint64_t padded(const Tag& tag) { return (std::uint64_t{tag.bytes} + 7) / 8 * 8; }

  std::vector<std::uint8_t> read_bytes(Mat5Stream& stream, const Tag& tag, std::uint32_t most, const char* what) const {
    if (tag.bytes > most) fail(stream.place(), fmt::format("{} of {} bytes", what, tag.bytes), fmt::format("at most {}", most));
    std::vector<std::uint8_t> bytes(tag.bytes);
    if (tag.small) {
      std::copy_n(tag.data.begin(), tag.bytes, bytes.begin());
    } else {
      require(stream, stream.read(bytes.data(), bytes.size()));
      require(stream, stream.skip(padded(tag) - tag.bytes));
    }
    return bytes;
  }

  [[nodiscard]] std::vector<std::uint32_t> words_of(const std::vector<std::uint8_t>& bytes) const {
    std::vector<std::uint32_t> words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), words.size() * 4);
    for (auto& word : words) word = order(word);
    return words;
  }

  // Checks one matrix element of `bytes` bytes; returns its name.
  std::string matrix(Mat5Stream& stream, std::uint32_t bytes, std::uint32_t depth) {
    if (depth > deepest) fail(stream.place(), "arrays nested too deep", fmt::format("at most {} levels", deepest));
    const std::uint64_t end = stream.position() + bytes;
    const bool wanted = std::exchange(wanted_, false);
    if (bytes == 0) return {};  // an empty cell or field

    const Tag flags_tag = read_tag_within(stream, end);
    if (flags_tag.small || flags_tag.type != type_uint32 || flags_tag.bytes != 8)
      fail(stream.place(), "no array flags", "array flags of 8 bytes");
    const std::uint32_t flags = words_of(read_bytes(stream, flags_tag, 8, "flags"))[0];
    const std::uint32_t array_class = flags & 0xffu;
    const bool numeric = array_class >= class_first_numeric && array_class <= class_last_numeric;
    if (!numeric && array_class != class_cell && array_class != class_structure && array_class != class_text &&
        array_class != class_sparse) {
      fail(stream.place(), fmt::format("an array of class {}", array_class),
           "numbers, text, cells and structures (save exp_data alone, without objects or function handles)");
    }

    const Tag dimensions_tag = read_tag_within(stream, end);
    if (dimensions_tag.type != type_int32 || dimensions_tag.bytes < 8 || dimensions_tag.bytes % 4 != 0) {
      fail(stream.place(), "no array dimensions", "at least two 32-bit dimensions");
    }
    std::uint64_t values = 1;
    for (const std::uint32_t size : words_of(read_bytes(stream, dimensions_tag, 32 * 4, "dimensions"))) {
      if (size > limits_.array_values || (size != 0 && values > limits_.array_values / size)) {
        fail(stream.place(), "an array too large", fmt::format("at most {} values", limits_.array_values));
      }
      values *= size;
    }

    const Tag name_tag = read_tag_within(stream, end);
    if (name_tag.type != type_int8) fail(stream.place(), "no array name", "a name");
    const auto name_bytes = read_bytes(stream, name_tag, 256, "a name");
    std::string name(name_bytes.begin(), name_bytes.end());
    const std::string outer = name_;
    if (!name.empty()) name_ = printable(name);

    switch (array_class) {
      case class_cell:
        cells(stream, end, values, depth);
        break;
      case class_structure:
        fields(stream, end, values, depth, depth == 0 && name == variable_);
        break;
      case class_sparse:
        sparse(stream, end, (flags & complex_flag) != 0);
        break;
      default:
        for (int part = 0; part < ((flags & complex_flag) != 0 ? 2 : 1); ++part)
          data(stream, end, values, array_class, wanted && numeric && part == 0);
    }
    if (stream.position() != end) {
      fail(stream.place(), fmt::format("{} bytes behind the array's last part", end - stream.position()), "none");
    }
    name_ = outer;
    return name;
  }

  void data(Mat5Stream& stream, std::uint64_t end, std::uint64_t values, std::uint32_t array_class, bool wanted) {
    const bool text = array_class == class_text;
    const Tag tag = read_tag_within(stream, end);
    const std::uint32_t size = bytes_of(tag.type);
    const bool text_type = tag.type >= type_utf8;
    if (size == 0 || (text_type && !text)) fail(stream.place(), fmt::format("data type {}", tag.type), "a numeric type");
    // UTF-8 takes one to four bytes a character.
    const bool fits = tag.type == type_utf8 ? tag.bytes >= values && tag.bytes <= 4 * values : tag.bytes == values * size;
    if (!fits) {
      fail(stream.place(), fmt::format("{} bytes of data", tag.bytes), fmt::format("{} values of {} bytes", values, size));
    }
    if (wanted && !place) {
      place.emplace(
          Mat5Place{type_of(tag.type), static_cast<std::uint8_t>(array_class), swapped_, values, {}, stream.position(), {}});
      if (tag.small) place->here.assign(tag.data.begin(), tag.data.begin() + tag.bytes);
    }
    if (!tag.small) require(stream, stream.skip(padded(tag)));
  }

  void sparse(Mat5Stream& stream, std::uint64_t end, bool is_complex) const {
    for (int part = 0; part < (is_complex ? 4 : 3); ++part) {
      const Tag tag = read_tag_within(stream, end);
      const std::uint32_t size = bytes_of(tag.type);
      if (size == 0 || tag.bytes % size != 0 || (part < 2 && tag.type != type_int32))
        fail(stream.place(), "a damaged sparse array", "indices and values");
      if (!tag.small) require(stream, stream.skip(padded(tag)));
    }
  }

  void nested(Mat5Stream& stream, std::uint64_t end, std::uint32_t depth) {
    const Tag tag = read_tag_within(stream, end);
    if (tag.small || tag.type != type_matrix || tag.bytes % 8 != 0)
      fail(stream.place(), fmt::format("data type {} of {} bytes", tag.type, tag.bytes), "a matrix");
    matrix(stream, tag.bytes, depth + 1);
  }

  void cells(Mat5Stream& stream, std::uint64_t end, std::uint64_t count, std::uint32_t depth) {
    for (std::uint64_t k = 0; k < count; ++k) nested(stream, end, depth);
  }

  void fields(Mat5Stream& stream, std::uint64_t end, std::uint64_t count, std::uint32_t depth, bool of_variable) {
    const Tag length_tag = read_tag_within(stream, end);
    if (length_tag.type != type_int32 || length_tag.bytes != 4)
      fail(stream.place(), "no length of field names", "a 32-bit length");
    const std::uint32_t length = words_of(read_bytes(stream, length_tag, 4, "a length"))[0];
    const Tag names_tag = read_tag_within(stream, end);
    if (length == 0 || length > 256 || names_tag.type != type_int8 || names_tag.bytes % length != 0) {
      fail(stream.place(), fmt::format("{} bytes of field names of length {}", names_tag.bytes, length),
           "whole names of 1 to 256 bytes");
    }
    const auto names = read_bytes(stream, names_tag, 1u << 20, "field names");
    std::vector<std::string> fields;
    for (std::size_t at = 0; at < names.size(); at += length) {
      const auto* first = reinterpret_cast<const char*>(names.data() + at);
      const std::size_t used = strnlen(first, length);
      if (used == 0 || used == length)
        fail(stream.place(), "a field name that is empty or does not end", "names that end with 0");
      fields.emplace_back(first, used);
    }
    const std::string outer = name_;
    bool met = false;
    for (std::uint64_t k = 0; k < count; ++k) {
      for (const auto& field : fields) {
        name_ = outer + "." + printable(field);
        wanted_ = of_variable && !met && field == field_;
        met = met || wanted_;
        nested(stream, end, depth);
      }
    }
    name_ = outer;
  }

  std::string file_;
  bool swapped_;
  std::string_view variable_;
  std::string_view field_;
  Mat5CheckLimits limits_;
  bool wanted_ = false;  // the next matrix is the field
  std::string name_;     // name of the current element, for messages
};

}  // namespace

bool is_hdf5_file(const InputFile& file) {
  // The signature is at 0, or behind a user block of 512, 1024, 2048 ... bytes.
  constexpr std::array<char, 8> signature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  for (std::uint64_t offset = 0; offset <= (1 << 16); offset = offset == 0 ? 512 : 2 * offset) {
    std::array<char, 8> bytes{};
    if (file.read(offset, std::as_writable_bytes(std::span(bytes))) < bytes.size()) return false;
    if (bytes == signature) return true;
  }
  return false;
}

std::optional<Mat5Place> check_mat5(const InputFile& input, std::string_view variable, std::string_view field,
                                    const Mat5CheckLimits& limits) {
  static_assert(std::endian::native == std::endian::little);
  Mat5File file(input);
  std::array<char, 128> header{};
  if (!file.read(header.data(), header.size())) {
    throw InputError(input.name(), fmt::format("{} bytes", file.size()), "a MATLAB file with its header of 128 bytes");
  }
  const bool little = header[126] == 'I' && header[127] == 'M';
  const bool big = header[126] == 'M' && header[127] == 'I';
  if (!little && !big) throw InputError(input.name(), "no MATLAB version 5 header", "a .mat file of version 5 or 7");
  const auto major = static_cast<unsigned char>(little ? header[125] : header[124]);
  if (major != 1)
    throw InputError(input.name(), fmt::format("MATLAB file version {}", major), "version 5 or 7 (major version 1)");
  Checker checker(input.name(), big, variable, field, limits);
  checker.top_level(file);
  return std::move(checker.place);
}

}  // namespace echoform::formats
