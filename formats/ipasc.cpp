// Reads recordings of optoacoustic devices in the HDF5 layout of the International Photoacoustic Standardisation Consortium:
// /binary_time_series_data [detector, sample, wavelength, measurement] from the pulse of light on, /meta_data, /meta_data_device.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "formats/hdf5_blocks.hpp"
#include "formats/ipasc_detectors.hpp"
#include "formats/ipasc_fields.hpp"
#include "formats/recording_formats.hpp"
#include "formats/samples.hpp"

namespace echoform::formats {
namespace {

constexpr std::size_t ipasc_trial_samples = std::size_t{1} << 26;  // of a file; the samples read are spread evenly
constexpr std::size_t ipasc_trial_piece = std::size_t{1} << 20;
constexpr std::size_t most_listed = std::size_t{1} << 24;  // of one list in the metadata
// Light that makes sound has a shorter wavelength. A larger number is in nanometres.
constexpr double longest_in_metres = 1e-4;  // metres
// Seconds since 1970 are above this number, and seconds since the beginning of the recording are below it.
constexpr double earliest_time = 1e8;

enum IpascAxis : std::size_t { detector_axis, sample_axis, wavelength_axis, measurement_axis, axes_count };

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

class IpascRecording final : public Recording {
 public:
  IpascRecording(const InputFile& input, const RecordingOptions& options) : Recording(input.path(), "IPASC HDF5") {
    const Hdf5Session session;
    if (options.sequence != 0)
      throw InputError(input.name(), fmt::format("a request for sequence {}", options.sequence), "0, the only one");
    file_ = open_hdf5(input);
    const std::string root = input.name() + ": ";
    data_ = Hdf5Item::find(file_, ipasc_samples, root);
    if (!data_) throw InputError(input.name(), fmt::format("no {}", ipasc_samples), "an IPASC file");
    const IpascGroup stated = IpascGroup::require(file_, ipasc_acquisition, root);
    IpascDetectors detectors = read_ipasc_detectors(file_, input.name(), options.detectors);
    acquisition_.probe.elements = std::move(detectors.elements);
    notes_ = std::move(detectors.notes);
    warnings_ = std::move(detectors.warnings);
    const auto wavelengths = stated.numbers(stated.stated_name(ipasc_wavelengths), options.limits.events);
    find_axes(wavelengths ? wavelengths->size() : 0);
    find_type();
    read_sampling(stated);
    read_events(stated, wavelengths, options.limits.events);
    read_material(stated);
    read_times(stated);
    read_dead(stated);
    note_unheeded(stated);
    AcquisitionLimits limits = options.limits;
    limits.elements = options.detectors;
    blocks_.emplace(*data_);
    validate(acquisition_, limits, input.name());
  }

  [[nodiscard]] std::size_t frames() const noexcept override { return sizes_[measurement_axis]; }

  void read_frame(std::size_t frame, std::span<float> samples) override {
    check_request(frame, samples.size());
    read_all(frame, H5T_NATIVE_FLOAT, samples.data());
    if (const auto found = first_not_finite(samples)) {
      const std::size_t k = *found;
      throw InputError(fmt::format("{}, frame {}, A-scan {}", data_->where(), frame, k / acquisition_.samples),
                       fmt::format("{} as sample {}", samples[k], k % acquisition_.samples), "finite numbers");
    }
  }
  [[nodiscard]] Acquisition stored() const override {
    Acquisition stored = acquisition_;
    if (as_counts_) stored.encoding = SampleEncoding::int16;
    return stored;
  }
  void read_stored(std::size_t frame, std::span<std::byte> bytes) override {
    if (!as_counts_) return Recording::read_stored(frame, bytes);
    check_request(frame, bytes.size() / sizeof(std::int16_t));
    read_all(frame, H5T_NATIVE_INT16, reinterpret_cast<std::int16_t*>(bytes.data()));
  }
  [[nodiscard]] std::size_t reading_bytes() const override {
    const std::size_t frame = stored().frame_bytes();
    return blocks_->reading_bytes() + (reversed_ ? 2 * frame : frame);
  }
  [[nodiscard]] FrameStamp stamp(std::size_t frame) const override {
    return {.sequence = frame, .acquisition_time = frame < times_.size() ? times_[frame] : WallTime(0)};
  }

  /// Reads samples from all parts of the file; errors appear when they are read.
  void try_reading() {
    const std::size_t detectors = sizes_[detector_axis];
    const std::size_t at_once = std::clamp<std::size_t>(ipasc_trial_piece / acquisition_.samples, 1, detectors);
    const std::size_t in_block = (detectors + at_once - 1) / at_once;
    const std::size_t pieces = in_block * sizes_[wavelength_axis] * frames();
    const std::size_t most = std::max<std::size_t>(2, ipasc_trial_samples / (at_once * acquisition_.samples));
    std::vector<float> samples(at_once * acquisition_.samples);
    for (std::size_t piece = 0; piece < pieces; piece += pieces / most + 1) {
      const std::size_t first = piece % in_block * at_once;
      const std::size_t block = piece / in_block;
      try {
        read_block({first, 0, block % sizes_[wavelength_axis], block / sizes_[wavelength_axis]},
                   std::min(at_once, detectors - first), H5T_NATIVE_FLOAT, samples.data());
      } catch (const InputError&) {  // damage is reported when the data is asked for
      }
    }
  }

 private:
  /// Finds which axis of the file is which. The metadata states `wavelengths` wavelengths.
  void find_axes(std::size_t wavelengths) {
    const std::vector<std::size_t>& shape = data_->shape();
    const std::size_t detectors = acquisition_.elements();
    const auto refuse = [&](const std::string& expected) {
      throw InputError(data_->where(), fmt::format("shape {}", shape_text(shape)), expected);
    };
    if (data_->is_attribute() || data_->type_class() != Hdf5Class::number)
      throw InputError(data_->where(), "something else than numbers", "samples");
    if (shape.size() < 2 || shape.size() > axes_count) refuse("detectors x samples x wavelengths x measurements");
    if (std::ranges::find(shape, std::size_t{0}) != shape.end()) refuse("at least one sample along each axis");
    // MATLAB reverses the axes and drops trailing axes of length 1.
    reversed_ = shape.front() != detectors && shape.back() == detectors;
    if (shape.front() != detectors && !reversed_) refuse(fmt::format("{} detectors along the first axis", detectors));
    if (reversed_) notes_.emplace_back("axes in MATLAB's order");
    sizes_.fill(1);
    // With one wavelength, the third of three axes is that of the measurements.
    const bool no_wavelengths = shape.size() == 3 && wavelengths == 1;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      const std::size_t axis = k == wavelength_axis && no_wavelengths ? std::size_t{measurement_axis} : k;
      const std::size_t place = reversed_ ? shape.size() - 1 - k : k;
      sizes_[axis] = shape[place];
      place_[axis] = place;
    }
    acquisition_.samples = sizes_[sample_axis];
  }

  void find_type() {
    acquisition_.encoding = SampleEncoding::float32;
    const Hdf5Handle type(H5Dget_type(data_->handle().id()));
    const std::size_t bytes = type ? H5Tget_size(type.id()) : 0;
    const bool whole = type && H5Tget_class(type.id()) == H5T_INTEGER;
    // Samples that fit in 16 bits with a sign are kept as counts.
    as_counts_ = whole && (bytes == 1 || (bytes == 2 && H5Tget_sign(type.id()) != H5T_SGN_NONE));
    if ((whole && bytes > 2) || (!whole && bytes > sizeof(float))) notes_.emplace_back("samples are rounded to 32-bit floats");
  }

  void read_sampling(const IpascGroup& stated) {
    const auto rate = stated.number("ad_sampling_rate");
    if (!rate) throw InputError(stated.where(), "no ad_sampling_rate", "the rate of samples in Hz");
    acquisition_.sample_rate = Hertz(*rate);
  }

  void read_events(const IpascGroup& stated, const std::optional<std::vector<double>>& wavelengths, std::size_t most) {
    const std::size_t count = sizes_[wavelength_axis];
    if (count > most) throw InputError(data_->where(), fmt::format("{} wavelengths", count), fmt::format("at most {}", most));
    if (wavelengths && wavelengths->size() != count) {
      throw InputError(stated.where(stated.stated_name(ipasc_wavelengths)), fmt::format("{} values", wavelengths->size()),
                       fmt::format("{}, as the third axis of {}", count, ipasc_samples));
    }
    const std::vector<double> energies = energies_of(stated, count);
    bool nanometres = false;
    for (std::size_t k = 0; k < count; ++k) {
      double wavelength = wavelengths ? (*wavelengths)[k] : 0.0;
      if (wavelength > longest_in_metres) {
        nanometres = true;
        wavelength *= 1e-9;
      }
      acquisition_.events.push_back({PassiveEvent{Metres(wavelength), energies[k]}, {}});
    }
    if (nanometres) {
      warnings_.push_back(fmt::format("{}: {:g} taken for nanometres (the format has metres)",
                                      stated.where(stated.stated_name(ipasc_wavelengths)), fmt::join(*wavelengths, ", ")));
    }
  }

  /// The energy at each wavelength, in joules; for several measurements their mean.
  std::vector<double> energies_of(const IpascGroup& stated, std::size_t wavelengths) {
    const char* const name = stated.stated_name(ipasc_energies);
    const auto values = stated.numbers(name, most_listed);
    if (!values) return std::vector<double>(wavelengths, 0.0);
    const std::size_t measurements = frames();
    if (values->size() == wavelengths) return *values;
    if (values->size() == 1) return std::vector<double>(wavelengths, values->front());
    notes_.emplace_back("pulse energies are those of all measurements in the mean");
    if (values->size() == measurements) return std::vector<double>(wavelengths, mean_of(*values));
    if (values->size() != wavelengths * measurements) {
      throw InputError(
          stated.where(name), fmt::format("{} values", values->size()),
          fmt::format("1, or one for each of {} wavelengths, of {} measurements, or of both", wavelengths, measurements));
    }
    // MATLAB also reverses the axes of this array.
    std::vector<double> means(wavelengths, 0.0);
    for (std::size_t k = 0; k < values->size(); ++k)
      means[reversed_ ? k % wavelengths : k / measurements] += (*values)[k] / static_cast<double>(measurements);
    return means;
  }

  void read_material(const IpascGroup& stated) {
    const char* const name = stated.stated_name(ipasc_speed);
    const auto values = stated.numbers(name, most_listed);
    if (!values) return;
    const auto [least, greatest] = std::ranges::minmax(*values);
    if (least < 0.0) throw InputError(stated.where(name), fmt::format("{} m/s", least), "velocities of at least 0");
    material_.longitudinal_velocity = MetresPerSecond(mean_of(*values));
    if (values->size() > 1)
      notes_.push_back(fmt::format("a map of velocities from {:g} to {:g} m/s: its mean is taken", least, greatest));
  }

  void read_times(const IpascGroup& stated) {
    const auto values = stated.numbers(stated.stated_name(ipasc_times), most_listed);
    if (!values || values->size() != frames()) return;
    for (const double seconds : *values) {
      // The limit keeps nanoseconds below 2^63.
      const bool absolute = seconds >= earliest_time && seconds < 9e9;
      times_.emplace_back(absolute ? static_cast<std::int64_t>(std::llround(1e9 * seconds)) : 0);
    }
  }

  void read_dead(const IpascGroup& stated) {
    const auto values = stated.numbers(ipasc_dead, acquisition_.elements());
    if (!values) return;
    for (const double value : *values) {
      if (!(value >= 0.0 && value < static_cast<double>(acquisition_.elements())) || value != std::floor(value)) {
        throw InputError(stated.where(ipasc_dead), fmt::format("detector {}", value),
                         fmt::format("whole numbers from 0 to {}", acquisition_.elements() - 1));
      }
      acquisition_.probe.elements[static_cast<std::size_t>(value)].dead = true;
    }
  }

  void note_unheeded(const IpascGroup& stated) {
    std::vector<std::string_view> unheeded;
    for (const char* const name : {"time_gain_compensation", "overall_gain", "element_dependent_gain", "frequency_domain_filter",
                                   "measurement_spatial_poses", "temperature_control"}) {
      if (stated.states(name)) unheeded.emplace_back(name);
    }
    if (!unheeded.empty()) notes_.push_back(fmt::format("stated and not applied: {}", fmt::join(unheeded, ", ")));
  }

  /// Reads the rows of the frame. For each wavelength they are in the order of the detectors.
  template <class Sample>
  void read_all(std::size_t frame, hid_t type, Sample* samples) {
    const std::size_t detectors = sizes_[detector_axis];
    for (std::size_t w = 0; w < sizes_[wavelength_axis]; ++w)
      read_block({0, 0, w, frame}, detectors, type, samples + w * detectors * acquisition_.samples);
  }

  /// Reads the A-scans of `detectors` detectors from `first` on, [detector, sample].
  template <class Sample>
  void read_block(const std::array<std::size_t, axes_count>& first, std::size_t detectors, hid_t type, Sample* samples) {
    const std::size_t rank = data_->shape().size();
    std::array<hsize_t, axes_count> start{};
    std::array<hsize_t, axes_count> count{};
    for (std::size_t axis = 0; axis < axes_count; ++axis) {
      if (!place_[axis]) continue;
      start[*place_[axis]] = first[axis];
      count[*place_[axis]] = axis == detector_axis ? detectors : axis == sample_axis ? acquisition_.samples : 1;
    }
    std::vector<Sample> turned(reversed_ ? detectors * acquisition_.samples : 0);
    const std::span<Sample> to(reversed_ ? turned.data() : samples, detectors * acquisition_.samples);
    blocks_->read(type, std::span(start).first(rank), std::span(count).first(rank), std::as_writable_bytes(to));
    for (std::size_t k = 0; k < turned.size(); ++k) samples[k % detectors * acquisition_.samples + k / detectors] = turned[k];
  }

  Hdf5Handle file_;
  std::optional<Hdf5Item> data_;
  std::optional<Hdf5Blocks> blocks_;
  std::array<std::size_t, axes_count> sizes_{};
  std::array<std::optional<std::size_t>, axes_count> place_{};  // place of each axis among the file's axes
  bool reversed_ = false;
  bool as_counts_ = false;  // int16 holds the stored samples
  std::vector<WallTime> times_;
};

}  // namespace

constinit const RecordingFormat ipasc_format{
    .name = "IPASC",
    .meaning = "time series of optoacoustic devices",
    .extensions = {".hdf5", ".h5"},
    .packages = "libhdf5-dev",
    .page = "command-line.md#optoacoustic-recordings",
    .fuzzers = {"ipasc_contents"},
    .open = open_by<IpascRecording>,
    .always_hdf5 = "an IPASC file (HDF5)",
    .mark =
        Hdf5Mark{ipasc_samples, 0, [](const Hdf5Handle& file) { return H5Lexists(file.id(), ipasc_samples, H5P_DEFAULT) > 0; }},
    .try_reading = try_by<IpascRecording>,
    .writer = &ipasc_frames,
};

}  // namespace echoform::formats
