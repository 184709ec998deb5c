// Writes recordings as IPASC HDF5, in the layout of formats/ipasc_fields.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "acquisition/sample_encodings.hpp"
#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "formats/file_writer.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/hdf5_maker.hpp"
#include "formats/ipasc_fields.hpp"
#include "formats/ipasc_layout.hpp"
#include "formats/recording_formats.hpp"
#include "formats/samples.hpp"

namespace echoform {
namespace {

using namespace formats;

// Error of times that readers do not notice, in samples.
constexpr double same_time = 1e-3;
constexpr std::uint64_t room_of_detector = std::uint64_t{1} << 12;  // bytes: its group and numbers have less than 3 KiB

/// Whether counts are written as they are: their amplitude is 1.
bool keeps_counts(const Acquisition& acquisition) {
  return facts_of(acquisition.encoding).counts() && acquisition.sample_scale == 1.0;
}

std::size_t stored_bytes(const Acquisition& acquisition) {
  return acquisition.a_scans() * acquisition.samples * (keeps_counts(acquisition) ? sizeof(std::int16_t) : sizeof(float));
}

/// A random UUID (RFC 4122, version 4).
std::string new_uuid() {
  std::random_device device;
  std::array<unsigned, 8> words{};
  for (unsigned& word : words) word = device() & 0xFFFFU;
  words[3] = (words[3] & 0x0FFFU) | 0x4000U;
  words[4] = (words[4] & 0x3FFFU) | 0x8000U;
  return fmt::format("{:04x}{:04x}-{:04x}-{:04x}-{:04x}-{:04x}{:04x}{:04x}", words[0], words[1], words[2], words[3], words[4],
                     words[5], words[6], words[7]);
}

/// Makes items of the file.
class IpascMaker : public Hdf5Maker {
 public:
  using Hdf5Maker::Hdf5Maker;

  void text(const Hdf5Handle& group, const char* name, const std::string& value) const {
    const Hdf5Handle type = made(H5Tcopy(H5T_C_S1));
    done(H5Tset_size(type.id(), H5T_VARIABLE));
    done(H5Tset_cset(type.id(), H5T_CSET_UTF8));
    const char* const at = value.c_str();
    scalar(group, name, type.id(), type.id(), static_cast<const void*>(&at));
  }
  void number(const Hdf5Handle& group, const char* name, double value) const {
    scalar(group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
  }
  void count(const Hdf5Handle& group, const char* name, std::size_t value) const {
    const auto whole = static_cast<std::int64_t>(value);
    scalar(group, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &whole);
  }
  void numbers(const Hdf5Handle& group, const char* name, const std::vector<double>& values) const {
    list(group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.size(), values.data());
  }
  void counts(const Hdf5Handle& group, const char* name, const std::vector<std::int64_t>& values) const {
    list(group, name, H5T_STD_I64LE, H5T_NATIVE_INT64, values.size(), values.data());
  }

 private:
  void scalar(const Hdf5Handle& group, const char* name, hid_t in_file, hid_t in_memory, const void* value) const {
    put(group, name, in_file, in_memory, made(H5Screate(H5S_SCALAR)), value);
  }
  void list(const Hdf5Handle& group, const char* name, hid_t in_file, hid_t in_memory, hsize_t size, const void* values) const {
    put(group, name, in_file, in_memory, made(H5Screate_simple(1, &size, nullptr)), values);
  }
  void put(const Hdf5Handle& group, const char* name, hid_t in_file, hid_t in_memory, const Hdf5Handle& space,
           const void* values) const {
    const Hdf5Handle set = made(H5Dcreate2(group.id(), name, in_file, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    done(H5Dwrite(set.id(), in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  }
};

/// Values in the order of the wavelengths; none if no event states one.
std::vector<double> stated_by(const IpascLayout& layout, double (*value)(const PassiveEvent&)) {
  std::vector<double> values;
  for (const PassiveEvent& light : layout.light) values.push_back(value(light));
  return std::ranges::all_of(values, [](double stated) { return stated == 0.0; }) ? std::vector<double>{} : values;
}

void make_device(const IpascMaker& make, const Hdf5Handle& file, const IpascLayout& layout, const std::string& uuid) {
  const Hdf5Handle device = make.group(file, ipasc_device);
  const Hdf5Handle general = make.group(device, "general");
  make.text(general, "unique_identifier", uuid);
  make.count(general, "num_detectors", layout.detectors.size());
  make.count(general, "num_illuminators", 0);
  std::vector<double> view{HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL};  // from, to along x, y, z
  const Hdf5Handle detectors = make.group(device, "detectors");
  for (std::size_t k = 0; k < layout.detectors.size(); ++k) {
    const Detector& at = layout.detectors[k];
    const std::vector<double> centre{at.centre.x.value, at.centre.y.value, at.centre.z.value};
    const Hdf5Handle detector = make.group(detectors, fmt::format("{:010}", k));
    make.numbers(detector, "detector_position", centre);
    make.numbers(detector, "detector_orientation", {at.normal.x, at.normal.y, at.normal.z});
    if (at.width.value > 0.0 || at.length.value > 0.0) {
      make.text(detector, "detector_geometry_type", "CUBOID");
      make.numbers(detector, "detector_geometry", {at.width.value, at.length.value, 0.0});
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      view[2 * axis] = std::min(view[2 * axis], centre[axis]);
      view[2 * axis + 1] = std::max(view[2 * axis + 1], centre[axis]);
    }
  }
  make.numbers(general, "field_of_view", view);
}

/// Throws InputError, naming `where`, unless an IPASC file can hold frames of `acquisition`. The conditions are: only passive
/// events; samples from the pulse of light on; the same detectors for each wavelength; rectangles that are determined by the
/// directions they face; less than 4 GiB a frame, the limit of an HDF5 chunk.
void check_ipasc_holds(const Acquisition& acquisition, const std::string& where) {
  static_cast<void>(ipasc_layout(acquisition, where));
  if (const Seconds first = acquisition.start_time - acquisition.time_offset;
      !(std::abs(first.value) * acquisition.sample_rate.value <= same_time)) {
    throw InputError(where, fmt::format("samples from {:.6g} us on", 1e6 * first.value),
                     "samples from the pulse of light on, the only ones that IPASC files hold (.efcap holds others)");
  }
  if (const std::size_t bytes = stored_bytes(acquisition); bytes > std::numeric_limits<std::uint32_t>::max())
    throw InputError(where, fmt::format("{} bytes a frame", bytes), "less than 4 GiB, what an HDF5 chunk may have");
}

struct IpascFrameFile {
  std::filesystem::path path;
  Acquisition acquisition;
  IpascLayout layout;
  AtomicFile aside;
  bool counts = false;
  Hdf5NewFile file{};
  Hdf5Handle about{};  // meta_data
  Hdf5Handle data{};
  std::uint64_t frames = 0;
  bool broken = false;
  bool whole = false;           // gets its name only with close()
  std::vector<double> times{};  // of the frames, in seconds
  std::vector<std::int16_t> count_rows{}, counts_turned{};
  std::vector<float> amplitude_rows{}, amplitudes_turned{};

  [[nodiscard]] hid_t type() const { return counts ? H5T_STD_I16LE : H5T_IEEE_F32LE; }
  [[nodiscard]] std::array<hsize_t, 4> shape(hsize_t measurements) const {
    return {layout.detectors.size(), acquisition.samples, layout.light.size(), measurements};
  }

  /// Reorders [row, sample] to [detector, sample, wavelength].
  template <class Sample>
  void turn(const std::vector<Sample>& rows, std::vector<Sample>& turned) const {
    const std::size_t detectors = layout.detectors.size();
    const std::size_t wavelengths = layout.light.size();
    turned.resize(rows.size());
    for (std::size_t w = 0; w < wavelengths; ++w) {
      for (std::size_t d = 0; d < detectors; ++d) {
        const Sample* const row = rows.data() + layout.rows[w * detectors + d] * acquisition.samples;
        for (std::size_t n = 0; n < acquisition.samples; ++n) turned[(d * acquisition.samples + n) * wavelengths + w] = row[n];
      }
    }
  }

  void make(const FrameWriterOptions& options) {
    const Hdf5Session session;
    const IpascMaker maker(path.string());
    maker.require_room(aside.descriptor(), room_of_detector * layout.detectors.size());
    file = Hdf5NewFile(aside.descriptor(), path.string());
    errno = 0;
    const Hdf5Handle creation = maker.made(H5Pcreate(H5P_DATASET_CREATE));
    const auto one = shape(1);
    maker.done(H5Pset_chunk(creation.id(), 4, one.data()));
    // Chunks are written whole, so they need no fill value.
    maker.done(H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER));
    const auto none = shape(0);
    const auto most = shape(H5S_UNLIMITED);
    const Hdf5Handle space = maker.made(H5Screate_simple(4, none.data(), most.data()));
    data = maker.made(H5Dcreate2(file.handle().id(), ipasc_samples, type(), space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT));
    about = maker.group(file.handle(), ipasc_acquisition);
    const std::string device = new_uuid();
    maker.text(about, "uuid", new_uuid());
    maker.text(about, "encoding", "UTF-8");
    maker.text(about, "compression", "raw");
    maker.text(about, "data_type", counts ? "int16" : "float32");
    maker.text(about, "dimensionality", "time and space");
    maker.text(about, "photoacoustic_imaging_device_reference", device);
    maker.number(about, "ad_sampling_rate", acquisition.sample_rate.value);
    const auto list = [&](const char* name, const std::vector<double>& values) {
      if (!values.empty()) maker.numbers(about, name, values);
    };
    list("acquisition_wavelengths", stated_by(layout, [](const PassiveEvent& light) { return light.wavelength.value; }));
    list("pulse_energy", stated_by(layout, [](const PassiveEvent& light) { return light.pulse_energy; }));
    if (const double speed = options.material.longitudinal_velocity.value; speed > 0.0)
      maker.number(about, "speed_of_sound", speed);
    std::vector<std::int64_t> dead;
    for (std::size_t k = 0; k < layout.detectors.size(); ++k) {
      if (layout.detectors[k].dead) dead.push_back(static_cast<std::int64_t>(k));
    }
    if (!dead.empty()) maker.counts(about, ipasc_dead, dead);
    make_device(maker, file.handle(), layout, device);
    file.flush();
  }

  /// Adds the frame in `turned`.
  void add(std::span<const std::byte> turned) {
    const std::array<hsize_t, 4> place{0, 0, 0, frames};
    broken = true;  // until the frame is added
    IpascMaker(path.string()).add_chunk(data, shape(frames), shape(frames + 1), place, turned);
    file.require_written();
    broken = false;
  }
};

/// Every detector at every position is a detector of the file, in the order of positions and elements. Events of the same light
/// at the same position are wavelengths of their own, and frames are measurements. Counts of scale 1 are int16, all other samples
/// are float32. One field goes beyond the format, which leaves names to its users: echoform_dead_detectors, if some are dead. The
/// format has no field for the probe's frequencies and for counts of the encoder. The file appears whole, with close().
class IpascWriter final : public formats::FileWriter<IpascFrameFile> {
 public:
  IpascWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options);
  ~IpascWriter() override;

  void close() override;
  [[nodiscard]] std::uint64_t bytes() const noexcept override;

 private:
  void write(std::span<const std::byte> frame, const FrameStamp& stamp) override;
};

IpascWriter::IpascWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options) {
  check_ipasc_holds(acquisition, path.string());
  require_absent(path, path.string());
  file_.reset(new IpascFrameFile{path, acquisition, ipasc_layout(acquisition, path.string()), AtomicFile(path, IfThere::refuse),
                                 keeps_counts(acquisition)});
  file_->whole = options.whole;
  file_->make(options);
}

IpascWriter::~IpascWriter() {
  try {
    if (!file_->whole) close();
  } catch (const std::exception&) {  // callers that need the error call close()
  }
}

void IpascWriter::write(std::span<const std::byte> frame, const FrameStamp& stamp) {
  IpascFrameFile& f = *file_;
  const Acquisition& a = f.acquisition;
  if (f.broken || !f.file) throw RuntimeFault(fmt::format("{}: no longer written to", f.path.string()));
  if (frame.size() != a.frame_bytes())
    throw InputError(f.path.string(), fmt::format("a frame of {} bytes", frame.size()), fmt::format("{}", a.frame_bytes()));
  IpascMaker(f.path.string()).require_room(f.aside.descriptor(), stored_bytes(a) + sizeof(double) * (f.times.size() + 1));
  const Hdf5Session session;
  errno = 0;
  if (f.counts) {
    f.count_rows.resize(a.a_scans() * a.samples);
    frame_counts(a, frame, f.count_rows);
    f.turn(f.count_rows, f.counts_turned);
    f.add(std::as_bytes(std::span(f.counts_turned)));
  } else {
    f.amplitude_rows.resize(a.a_scans() * a.samples);
    frame_amplitudes(a, frame, std::span<float>(f.amplitude_rows));
    f.turn(f.amplitude_rows, f.amplitudes_turned);
    f.add(std::as_bytes(std::span(f.amplitudes_turned)));
  }
  f.times.push_back(1e-9 * static_cast<double>(stamp.acquisition_time.count()));
  ++f.frames;
}

void IpascWriter::close() {
  IpascFrameFile& f = *file_;
  if (!f.file) return;
  const Hdf5Session session;
  const IpascMaker make(f.path.string());
  // If anything fails below, no half-written file stays.
  Hdf5NewFile file = std::exchange(f.file, Hdf5NewFile());
  {
    const Hdf5Handle about = std::exchange(f.about, Hdf5Handle());
    f.data = Hdf5Handle();
    if (f.frames == 0) return;
    errno = 0;
    const auto shape = f.shape(f.frames);
    make.counts(about, "sizes", {shape.begin(), shape.end()});
    if (std::ranges::any_of(f.times, [](double time) { return time > 0.0; }))
      make.numbers(about, "measurement_timestamps", f.times);
  }
  file.close();
  f.aside.commit();
}

std::uint64_t IpascWriter::bytes() const noexcept {
  return file_->frames * stored_bytes(file_->acquisition);
}

}  // namespace

namespace formats {

constinit const FrameFormat ipasc_frames{
    .check = check_ipasc_holds, .make = write_by<IpascWriter>, .samples_as = [](const Acquisition& a) -> std::string_view {
      return a.sample_scale != 1.0 ? "float32 amplitudes" : "they are";
    }};

}  // namespace formats

}  // namespace echoform
