#include "formats/m2k_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "formats/xml_reader.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

/// What acq_desc.bin holds for a description (DataDescSave of acq_desc.xml): a header, or a count of bytes.
enum class StoredKind : unsigned char { header, channel, sum, other };

struct StoredDescription {
  StoredKind kind = StoredKind::other;
  std::uint32_t channel = 0;
};

struct KnownStoredKind {
  std::uint32_t class_type;
  std::uint32_t type;
  StoredKind kind;
};
// The kinds found in files of Multi2000, Multi++ and Panther.
constexpr std::array known_kinds{
    KnownStoredKind{2, 16, StoredKind::header}, KnownStoredKind{1, 6, StoredKind::channel},
    KnownStoredKind{1, 5, StoredKind::sum},     KnownStoredKind{1, 21, StoredKind::other},  // stands beside the sum
    KnownStoredKind{4, 3, StoredKind::other},                                               // encoders
    KnownStoredKind{4, 2, StoredKind::other},                                               // stands beside the encoders
    KnownStoredKind{2, 50, StoredKind::other},  // an image that the instrument made, in three parts
    KnownStoredKind{2, 51, StoredKind::other},  KnownStoredKind{2, 52, StoredKind::other},
    KnownStoredKind{1, 48, StoredKind::other},  KnownStoredKind{0, 10, StoredKind::other},
};

class StoredReader final : private XmlReader {
 public:
  StoredReader(const std::string& file, const M2kIndexLimits& limits) : XmlReader(file), limits_(limits) {}

  void parse(std::istream& xml) {
    read(xml);
    if (shots_.empty()) throw InputError(file(), "no ShotDescSave", "one a shot");
    for (std::size_t shot = 0; shot < shots_.size(); ++shot) {
      const auto headers =
          std::ranges::count_if(shots_[shot], [](const StoredDescription& one) { return one.kind == StoredKind::header; });
      if (headers != 1)
        throw InputError(file(), fmt::format("{} headers in ShotDescSave {}", headers, shot), "one (classType 2, type 16)");
      // The check below also keeps channels that are not described from taking memory for their sizes.
      std::uint32_t channels = 0;
      std::uint32_t last = 0;
      for (const StoredDescription& one : shots_[shot]) {
        channels += one.kind == StoredKind::channel ? 1 : 0;
        last = std::max(last, one.channel);
      }
      if (last > channels)
        throw InputError(file(), fmt::format("indice {} in ShotDescSave {}", last, shot),
                         fmt::format("1 to {}, its channels", channels));
    }
  }
  [[nodiscard]] const std::vector<std::vector<StoredDescription>>& shots() const { return shots_; }
  [[nodiscard]] std::size_t coordinates() const { return coordinates_; }

 private:
  void begin() override {
    if (std::exchange(at_root_, false)) coordinates_ = number("nbCartoByShot", 1024);
    if (name() == "ShotDescSave") {
      if (shots_.size() >= limits_.shots)
        throw InputError(where(), "more ShotDescSave", fmt::format("at most {}", limits_.shots));
      shots_.emplace_back();
    } else if (name() == "DataDescSave" && inside("ShotDescSave") && inside("DataSave")) {
      if (++descriptions_ > limits_.descriptions)
        throw InputError(where(), "more DataDescSave", fmt::format("at most {}", limits_.descriptions));
      add(number("classType", 65535), number("type", 65535));
    }
  }
  void end() override {}

  void add(std::uint32_t class_type, std::uint32_t type) {
    for (const KnownStoredKind& known : known_kinds) {
      if (known.class_type != class_type || known.type != type) continue;
      StoredDescription& made = shots_.back().emplace_back();
      made.kind = known.kind;
      if (known.kind != StoredKind::channel) return;
      made.channel = number("indice", static_cast<std::uint32_t>(limits_.channels));
      if (made.channel == 0) throw InputError(where(), "indice 0", "channels from 1 on");
      return;
    }
    throw InputError(where(), fmt::format("a DataDescSave of classType {} and type {}", class_type, type),
                     "a kind that is known");
  }

  [[nodiscard]] std::uint32_t number(const char* attribute_name, std::uint32_t most) const {
    const std::string text = attribute(attribute_name).value_or("");
    std::uint32_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size() || value > most) {
      throw InputError(where(), fmt::format("{} \"{}\"", attribute_name, printable(text, 40)),
                       fmt::format("a whole number up to {}", most));
    }
    return value;
  }

  const M2kIndexLimits& limits_;
  std::vector<std::vector<StoredDescription>> shots_;
  std::size_t coordinates_ = 0;
  std::size_t descriptions_ = 0;
  bool at_root_ = true;
};

/// Reads numbers of the binary file, low byte first.
class IndexWords {
 public:
  IndexWords(std::istream& binary, const std::string& file) : binary_(binary), file_(file) {}

  [[nodiscard]] bool at_end() {
    const bool ended = binary_.peek() == std::istream::traits_type::eof();
    require_readable();
    return ended;
  }
  template <class Number>
  Number take() {
    Number value{};
    if (!binary_.read(reinterpret_cast<char*>(&value), sizeof value)) {
      require_readable();
      throw InputError(file_, "an end within a position", "whole ones, as acq_desc.xml describes them");
    }
    return value;
  }
  void skip(std::size_t bytes) {
    for (; bytes > 0; bytes -= sizeof(std::uint32_t)) static_cast<void>(take<std::uint32_t>());
  }

 private:
  void require_readable() const {
    if (binary_.bad()) throw InputError(file_, "a file that cannot be read", "positions, as acq_desc.xml describes them");
  }

  std::istream& binary_;
  const std::string& file_;
};

}  // namespace

M2kIndex read_m2k_index(std::istream& xml, const std::string& xml_file, std::istream& binary, const std::string& binary_file,
                        const M2kIndexLimits& limits) {
  StoredReader reader(xml_file, limits);
  reader.parse(xml);
  M2kIndex index;
  index.shots.resize(reader.shots().size());
  IndexWords words(binary, binary_file);
  for (; !words.at_end(); ++index.positions) {
    if (index.positions >= limits.positions || index.places.size() + index.shots.size() > limits.places)
      throw InputError(binary_file, "more positions", fmt::format("at most {}", index.positions));
    for (std::size_t shot = 0; shot < index.shots.size(); ++shot) {
      M2kStored stored;
      std::uint64_t place = 0;
      for (const StoredDescription& description : reader.shots()[shot]) {
        if (description.kind == StoredKind::header) {
          static_cast<void>(words.take<std::uint32_t>());  // an identifier
          place = words.take<std::uint64_t>();
          static_cast<void>(words.take<std::uint64_t>());                  // a number
          words.skip(sizeof(std::uint32_t) * (reader.coordinates() + 1));  // coordinates, and a word
          continue;
        }
        const auto bytes = words.take<std::uint32_t>();
        if (description.kind == StoredKind::sum) stored.sum = bytes;
        if (description.kind != StoredKind::channel) continue;
        if (stored.channels.size() < description.channel) stored.channels.resize(description.channel, 0);
        stored.channels[description.channel - 1] = bytes;
      }
      M2kStored& first = index.shots[shot];
      if (index.positions == 0)
        first = std::move(stored);
      else if (stored.channels != first.channels || stored.sum != first.sum)
        throw InputError(fmt::format("{}, position {}, shot {}", binary_file, index.positions, shot),
                         "other sizes than at the first position", "the same at all");
      index.places.push_back(place);
    }
  }
  if (index.positions == 0) throw InputError(binary_file, "no position", "at least one");
  return index;
}

}  // namespace echoform::formats
