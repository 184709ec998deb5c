// Reads recordings of iThera's MSOT scanners. NAME.msot is XML that describes the recording, and NAME.bin beside it has the
// samples, [sweep, wavelength, detector, sample] of 16 bits without a sign, low byte first, and nothing else.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/directions.hpp"
#include "base/errors.hpp"
#include "formats/msot_description.hpp"
#include "formats/recording_formats.hpp"

namespace echoform::formats {
namespace {

constexpr std::uintmax_t longest_description = std::uintmax_t{1} << 28;  // bytes
constexpr std::uint16_t middle_of_counts = 0x8000;                       // of 16-bit counts
constexpr std::size_t piece = std::size_t{1} << 20;                      // counts read at once
// Relative tolerance of the distances from the origin for an arc about it.
constexpr double same_radius = 0.01;
constexpr double same_wavelength = 0.5;  // nanometres
constexpr std::uint64_t ticks_until_1970 = 621'355'968'000'000'000;
constexpr std::uint64_t most_ticks = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 100);

MsotDescription description_of(const InputFile& input, const MsotLimits& limits) {
  if (input.size() > longest_description)
    throw InputError(input.name(), fmt::format("a file of {} bytes", input.size()),
                     fmt::format("at most {}", longest_description));
  std::ifstream file(input.same_file(), std::ios::binary);
  if (!file) throw InputError(input.name(), "a file that may not be read", "read permission");
  return read_msot_description(file, input.name(), limits);
}

class MsotRecording final : public Recording {
 public:
  MsotRecording(const InputFile& input, const RecordingOptions& options)
      : Recording(input.path(), "iThera MSOT"), samples_path_(std::filesystem::path(input.path()).replace_extension(".bin")) {
    if (options.sequence != 0)
      throw InputError(input.name(), fmt::format("a request for sequence {}", options.sequence), "0, the only one");
    const MsotDescription stated = description_of(
        input, {.wavelengths = options.limits.events, .detectors = options.detectors, .samples = options.limits.samples});
    acquisition_.encoding = SampleEncoding::float32;
    acquisition_.samples = stated.samples;
    acquisition_.sample_rate = Hertz(stated.sample_rate);
    place_detectors(stated.detectors);
    read_events(stated);
    AcquisitionLimits limits = options.limits;
    limits.elements = options.detectors;
    validate(acquisition_, limits, input.name());
    open_samples(stated.pulses.size());
  }

  [[nodiscard]] std::size_t frames() const noexcept override { return times_.size(); }

  void read_frame(std::size_t frame, std::span<float> samples) override {
    check_request(frame, samples.size());
    std::vector<std::uint16_t> counts(std::min(piece, samples.size()));
    for (std::size_t first = 0; first < samples.size(); first += piece) {
      const std::size_t count = std::min(piece, samples.size() - first);
      read_counts(frame * samples.size() + first, {counts.data(), count});
      for (std::size_t n = 0; n < count; ++n) samples[first + n] = static_cast<float>(counts[n] - int{middle_of_counts});
    }
  }
  /// Counts minus the middle of their range are numbers with a sign, exactly.
  [[nodiscard]] Acquisition stored() const override {
    Acquisition stored = acquisition_;
    stored.encoding = SampleEncoding::int16;
    return stored;
  }
  void read_stored(std::size_t frame, std::span<std::byte> bytes) override {
    check_request(frame, bytes.size() / sizeof(std::uint16_t));
    std::vector<std::uint16_t> counts(std::min(piece, bytes.size() / sizeof(std::uint16_t)));
    const std::size_t all = bytes.size() / sizeof(std::uint16_t);
    for (std::size_t first = 0; first < all; first += piece) {
      const std::size_t count = std::min(piece, all - first);
      read_counts(frame * all + first, {counts.data(), count});
      for (std::uint16_t& value : counts) value ^= middle_of_counts;
      std::memcpy(bytes.data() + first * sizeof(std::uint16_t), counts.data(), count * sizeof(std::uint16_t));
    }
  }
  [[nodiscard]] std::size_t reading_bytes() const override { return stored().frame_bytes() + piece * sizeof(std::uint16_t); }
  [[nodiscard]] FrameStamp stamp(std::size_t frame) const override {
    return {.sequence = frame, .acquisition_time = times_.at(frame)};
  }

 private:
  /// The scanner's x stays x, its y is -z (up is up in an image), and its z is y, out of the image.
  void place_detectors(const std::vector<Direction>& places) {
    double least = std::numeric_limits<double>::max();
    double greatest = 0.0;
    Direction middle{0.0, 0.0, 0.0};
    for (const Direction& place : places) {
      least = std::min(least, length(place));
      greatest = std::max(greatest, length(place));
      middle = {middle.x + place.x, middle.y + place.y, middle.z + place.z};
    }
    middle = scaled(middle, 1.0 / static_cast<double>(places.size()));
    const bool arc = least > 0.0 && greatest - least <= same_radius * greatest;
    if (arc) middle = {0.0, 0.0, 0.0};
    for (const Direction& place : places) {
      const Direction inward{middle.x - place.x, middle.z - place.z, place.y - middle.y};
      if (!(length(inward) > 0.0))
        throw InputError(path_.string(), "a detector in the middle of all", "detectors around what they hear");
      Element element;
      element.centre = {Metres(place.x), Metres(place.z), Metres(-place.y)};
      element.normal = unit(inward);
      acquisition_.probe.elements.push_back(element);
    }
    notes_.emplace_back(arc ? "detectors face the middle of their arc" : "detectors face the middle of all");
  }

  void read_events(const MsotDescription& stated) {
    const std::size_t wavelengths = stated.wavelengths.size();
    const std::size_t sweeps = stated.pulses.size() / wavelengths;
    if (sweeps == 0) {
      throw InputError(path_.string(), fmt::format("{} DataModelScanFrame", stated.pulses.size()),
                       fmt::format("one a pulse, {} at least: as many as wavelengths", wavelengths));
    }
    if (const std::size_t more = stated.pulses.size() % wavelengths; more > 0)
      notes_.push_back(fmt::format("a sweep that ends after {} of {} wavelengths is left out", more, wavelengths));
    std::vector<double> energies(wavelengths, 0.0);  // joules
    bool all_stated = !stated.normalised;
    for (std::size_t k = 0; k < sweeps * wavelengths; ++k) {
      const MsotPulse& pulse = stated.pulses[k];
      const double expected = stated.wavelengths[k % wavelengths];
      if (pulse.wavelength != 0.0 && std::abs(pulse.wavelength - expected) > same_wavelength) {
        throw InputError(path_.string(), fmt::format("light of {:g} nm in DataModelScanFrame {}", pulse.wavelength, k + 1),
                         fmt::format("{:g}, in the order of WAVELENGTHS", expected));
      }
      all_stated = all_stated && pulse.energy > 0.0;
      energies[k % wavelengths] += 1e-3 * pulse.energy / static_cast<double>(sweeps);
      if (k % wavelengths == 0) times_.push_back(time_of(pulse.ticks));
    }
    for (std::size_t k = 0; k < wavelengths; ++k)
      acquisition_.events.push_back({PassiveEvent{Metres(1e-9 * stated.wavelengths[k]), all_stated ? energies[k] : 0.0}, {}});
    if (stated.normalised) notes_.emplace_back("samples are divided by the energies of the pulses, which are not carried");
    if (all_stated && sweeps > 1) notes_.emplace_back("pulse energies are those of all sweeps in the mean");
  }

  static WallTime time_of(std::uint64_t ticks) {
    const bool after = ticks > ticks_until_1970 && ticks - ticks_until_1970 <= most_ticks;
    return WallTime(after ? static_cast<std::int64_t>((ticks - ticks_until_1970) * 100) : 0);
  }

  void open_samples(std::size_t pulses) {
    const InputFile opened(samples_path_);
    const std::uint64_t size = opened.size();
    // Both factors are limited, so no product overflows.
    const std::uintmax_t expected =
        std::uintmax_t{pulses} * acquisition_.elements() * acquisition_.samples * sizeof(std::uint16_t);
    if (size != expected) {
      throw InputError(samples_path_.string(), fmt::format("{} bytes", size),
                       fmt::format("{}: {} pulses of {} detectors and {} samples of 2 bytes", expected, pulses,
                                   acquisition_.elements(), acquisition_.samples));
    }
    file_.open(opened.same_file(), std::ios::binary);
    if (!file_) throw InputError(samples_path_.string(), "a file that may not be read", "read permission");
  }

  /// Reads counts of the file from count number `first` on.
  void read_counts(std::size_t first, std::span<std::uint16_t> counts) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(first * sizeof(std::uint16_t)));
    if (!file_.read(reinterpret_cast<char*>(counts.data()), static_cast<std::streamsize>(counts.size_bytes())))
      throw InputError(samples_path_.string(),
                       fmt::format("an end before byte {}", (first + counts.size()) * sizeof(std::uint16_t)),
                       "the file as it was when it was opened");
  }

  std::filesystem::path samples_path_;
  std::ifstream file_;
  std::vector<WallTime> times_;  // time of each sweep
};

}  // namespace

constinit const RecordingFormat msot_format{
    .name = "iThera MSOT",
    .meaning = "scans, with NAME.bin beside NAME.msot",
    .extensions = {".msot"},
    .packages = "libexpat1-dev",
    .page = "command-line.md#optoacoustic-recordings",
    .fuzzers = {"msot"},
    .open = open_by<MsotRecording>,
};

}  // namespace echoform::formats
