// Reads recordings of single elements of M2M's instruments (Multi2000, MultiX++, Panther). A recording is a folder NAME.m2k with
// descriptions in XML and in binary form, and with acq_files/acq_data.bin. This file holds int16 A-scans at the places that
// acq_desc.bin states. The format has no public description; what is known comes from files: module file_m2k of AUSPEX.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "formats/m2k_configuration.hpp"
#include "formats/m2k_index.hpp"
#include "formats/mfmc_events.hpp"
#include "formats/ordered_recording.hpp"
#include "formats/recording_formats.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

constexpr std::uintmax_t longest_m2k_description = std::uintmax_t{1} << 28;  // bytes

std::ifstream open_part(const std::filesystem::path& path, std::uintmax_t most) {
  const InputFile opened(path);
  if (opened.size() > most)
    throw InputError(path.string(), fmt::format("a file of {} bytes", opened.size()), fmt::format("at most {}", most));
  std::ifstream file(opened.same_file(), std::ios::binary);
  if (!file) throw InputError(path.string(), "a file that may not be read", "read permission");
  return file;
}

/// Bytes before the A-scans of a shot. They differ by the version of the program that wrote them.
std::size_t leading_bytes(const std::string& version) {
  return sizeof(std::int16_t) * (version == "8.2.0" ? 3 : 2);
}

class M2kRecording final : public OrderedRecording {
 public:
  M2kRecording(const std::filesystem::path& path, const RecordingOptions& options)
      : OrderedRecording(path, "M2M .m2k"), data_path_(path / "acq_files" / "acq_data.bin") {
    M2kConfiguration configuration = read_configuration(options);
    if (options.sequence >= configuration.salvos.size()) {
      throw InputError(path.string(), fmt::format("a request for sequence {}", options.sequence),
                       fmt::format("0 to {}", configuration.salvos.size() - 1));
    }
    if (configuration.salvos.size() > 1)
      notes_.push_back(fmt::format("{} salvos, this is {}", configuration.salvos.size(), options.sequence));
    const M2kSalvo& salvo = configuration.salvos[options.sequence];
    leading_ = leading_bytes(configuration.version);
    read_index();
    acquisition_.encoding = SampleEncoding::float32;
    acquisition_.sample_rate = Hertz(salvo.sample_rate);
    acquisition_.start_time = Seconds(salvo.start);
    material_ = {MetresPerSecond(salvo.longitudinal_velocity), MetresPerSecond(salvo.shear_velocity)};
    make_probe(configuration.array);
    PairOrder order = order_of(salvo, options.limits.events);
    acquisition_.matrix = order.matrix;
    acquisition_.events = order.events;
    validate(acquisition_, options.limits, path.string());
    open_samples();
    set_order(std::move(order), rows_.size(), {.as_counts = true});
  }

  [[nodiscard]] std::size_t frames() const noexcept override { return index_.positions; }

 protected:
  void read_source(std::size_t frame, std::size_t first, std::size_t count, std::span<std::byte> to) override {
    const std::size_t row_bytes = acquisition_.samples * sizeof(std::int16_t);
    for (const std::size_t end = first + count; first < end;) {
      // Channels of a shot are contiguous in the file.
      std::size_t here = 1;
      while (first + here < end && rows_[first + here].shot == rows_[first].shot) ++here;
      const std::uint64_t place = place_of_row(frame, rows_[first]);
      data_.clear();
      data_.seekg(static_cast<std::streamoff>(place));
      if (!data_.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(here * row_bytes)))
        throw InputError(fmt::format("{}, position {}", data_path_.string(), frame), "an end within a shot",
                         "the file as it was when it was opened");
      to = to.subspan(here * row_bytes);
      first += here;
    }
  }

 private:
  struct Row {
    std::size_t shot = 0;     // index of the shot in the index file
    std::size_t channel = 0;  // index of the channel in the shot
  };

  [[nodiscard]] M2kConfiguration read_configuration(const RecordingOptions& options) const {
    const M2kLimits limits{.elements = options.limits.elements};
    const auto own = path_ / "M2kConfig.xml";
    std::ifstream xml = open_part(own, longest_m2k_description);
    M2kConfiguration found = read_m2k_configuration(xml, own.string(), limits);
    const auto other = path_ / "M2kConfig_files" / "M2kConfig.xml";
    if (std::error_code error; std::filesystem::exists(other, error)) {
      std::ifstream more = open_part(other, longest_m2k_description);
      const M2kArray array = read_m2k_array(more, other.string(), limits);
      found.array.water_path = array.water_path;
      if (array.elements > 0) found.array = array;
    }
    if (found.array.elements == 0) throw InputError(own.string(), "no Probe with nbElement", "a linear array");
    return found;
  }

  void read_index() {
    const auto folder = path_ / "acq_files";
    std::ifstream xml = open_part(folder / "acq_desc.xml", longest_m2k_description);
    std::ifstream binary = open_part(folder / "acq_desc.bin", std::uintmax_t{1} << 32);
    index_ = read_m2k_index(xml, (folder / "acq_desc.xml").string(), binary, (folder / "acq_desc.bin").string());
  }

  /// The array is centred, with x along the elements.
  void make_probe(const M2kArray& array) {
    acquisition_.probe =
        make_linear_probe(array.elements, Metres(array.width + array.gap), Metres(array.width), Hertz(0.0), Hertz(0.0));
    if (array.water_path == 0.0) return;
    for (Element& element : acquisition_.probe.elements) element.centre.z = Metres(-array.water_path);
    notes_.push_back(fmt::format("in immersion, {:.4g} mm above the part", 1e3 * array.water_path));
  }

  [[nodiscard]] PairOrder order_of(const M2kSalvo& salvo, std::size_t most_events) {
    const std::string where = (path_ / "M2kConfig.xml").string();
    std::vector<std::size_t> receive;
    std::size_t row_bytes = 0;
    std::vector<bool> seen(index_.shots.size());
    for (const M2kFiring& firing : salvo.firings) {
      const std::string place = fmt::format("{}, Tir {}", where, firing.index);
      if (firing.emitters.empty()) throw InputError(place, "no element that fires", "at least one in voieEmission");
      if (firing.index >= index_.shots.size())
        throw InputError(place, fmt::format("index {}", firing.index),
                         fmt::format("0 to {}, as acq_desc.xml has shots", index_.shots.size() - 1));
      if (seen[firing.index]) throw InputError(place, "an index again", "one of its own for each Tir");
      seen[firing.index] = true;
      const M2kStored& stored = index_.shots[firing.index];
      if (std::ranges::all_of(stored.channels, [](std::uint32_t bytes) { return bytes == 0; }))
        throw InputError(place, "no A-scans of single receivers, which were not kept", "those of each receiver");
      if (stored.channels.size() != firing.receivers.size()) {
        throw InputError(place, fmt::format("{} receivers", firing.receivers.size()),
                         fmt::format("{}, as acq_desc.xml has channels", stored.channels.size()));
      }
      if (rows_.empty()) row_bytes = stored.channels.front();
      for (std::size_t channel = 0; channel < stored.channels.size(); ++channel) {
        if (stored.channels[channel] != row_bytes || row_bytes % sizeof(std::int16_t) != 0) {
          throw InputError(place, fmt::format("an A-scan of {} bytes", stored.channels[channel]),
                           fmt::format("{} bytes, as the first has, 2 a sample", row_bytes));
        }
        rows_.push_back({firing.index, channel});
        receive.push_back(firing.receivers[channel]);
      }
    }
    acquisition_.samples = row_bytes / sizeof(std::int16_t);
    if (const auto delay = delay_of_single_elements(salvo.firings)) {
      acquisition_.start_time = Seconds(salvo.start - *delay);
      std::vector<std::size_t> transmit;
      for (const M2kFiring& firing : salvo.firings)
        transmit.insert(transmit.end(), firing.receivers.size(), firing.emitters.front());
      PairOrder order = order_pairs(transmit, receive, acquisition_.elements(), where);
      if (const auto note = order.note(); !note.empty()) notes_.push_back(note);
      return order;
    }
    std::vector<MfmcLaw> laws(salvo.firings.size());
    std::vector<const MfmcLaw*> transmit;
    for (std::size_t k = 0; k < laws.size(); ++k) {
      const M2kFiring& firing = salvo.firings[k];
      for (std::size_t e = 0; e < firing.emitters.size(); ++e)
        laws[k].entries.push_back({0, firing.emitters[e] + 1, firing.delays[e], 1.0});
      transmit.insert(transmit.end(), firing.receivers.size(), &laws[k]);
    }
    return order_events(transmit, receive, acquisition_.elements(), false, most_events, where).order;
  }

  /// The delay in seconds after which every element fires, if the elements fire one by one and all with the same delay. Then it
  /// is equivalent to begin that much earlier.
  [[nodiscard]] static std::optional<double> delay_of_single_elements(const std::vector<M2kFiring>& firings) {
    const double first = firings.front().delays.front();
    const bool alike = std::ranges::all_of(firings, [first](const M2kFiring& firing) {
      return firing.emitters.size() == 1 && std::abs(firing.delays.front() - first) <= no_delay;
    });
    return alike ? std::optional(first) : std::nullopt;
  }

  /// Place in acq_data.bin, in bytes. The sum of all receivers comes first.
  [[nodiscard]] std::uint64_t place_of_row(std::size_t frame, const Row& row) const {
    const M2kStored& stored = index_.shots[row.shot];
    return index_.places[frame * index_.shots.size() + row.shot] + leading_ + stored.sum +
           row.channel * acquisition_.samples * sizeof(std::int16_t);
  }

  /// Opens the samples, and checks that all places are within the file.
  void open_samples() {
    data_ = open_part(data_path_, std::numeric_limits<std::uintmax_t>::max());
    const std::uintmax_t size = std::filesystem::file_size(data_path_);
    for (std::size_t frame = 0; frame < index_.positions; ++frame) {
      for (const Row& row : rows_) {
        if (row.channel != 0) continue;
        const std::uint64_t place = index_.places[frame * index_.shots.size() + row.shot];
        const std::uintmax_t after = leading_ + std::uintmax_t{index_.shots[row.shot].sum} +
                                     index_.shots[row.shot].channels.size() * acquisition_.samples * sizeof(std::int16_t);
        if (place > size || after > size - place) {
          throw InputError(data_path_.string(), fmt::format("{} bytes", size),
                           fmt::format("{} from {} on, of position {} and shot {}", after, place, frame, row.shot));
        }
      }
    }
  }

  std::filesystem::path data_path_;
  std::ifstream data_;
  std::size_t leading_ = 0;  // bytes
  M2kIndex index_;
  std::vector<Row> rows_;  // A-scans of a position, in the order of the configuration
};

}  // namespace

constinit const RecordingFormat m2k_format{
    .name = "M2M",
    .meaning = "FMC data, a folder of descriptions and samples",
    .extensions = {".m2k"},
    .packages = "libexpat1-dev",
    .page = "file_formats.md#m2m-m2k",
    .fuzzers = {"m2k"},
    .open_folder = [](const std::filesystem::path& folder, const RecordingOptions& options) -> std::unique_ptr<Recording> {
      return std::make_unique<M2kRecording>(folder, options);
    },
};

}  // namespace echoform::formats
