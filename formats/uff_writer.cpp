// Writes recordings as channel data of USTB's files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "formats/file_writer.hpp"
#include "formats/recording_formats.hpp"
#include "formats/samples.hpp"
#include "formats/uff_fields.hpp"
#include "formats/uff_output.hpp"
#include "formats/uff_waves.hpp"

namespace echoform {
namespace {

using namespace formats;

// At this velocity plane waves travel ahead whatever their slowness, so which events can be written does not depend on it.
constexpr MetresPerSecond slowest(1e-3);
constexpr std::uint64_t room_of_wave = std::uint64_t{1} << 14;  // bytes: its groups and numbers have 8 KiB

/// Samples of a frame in the file: every wave by every element.
std::size_t channel_samples(const Acquisition& acquisition) {
  return acquisition.event_count() * acquisition.elements() * acquisition.samples;
}
std::size_t channel_bytes(const Acquisition& acquisition) {
  return channel_samples(acquisition) * sizeof(float);
}

/// Fills [event, receiver, sample] from a half matrix, each of whose pairs stands for both of its directions.
void fill_matrix(const Acquisition& acquisition, std::span<const float> half, std::span<float> full) {
  const std::size_t count = acquisition.elements();
  const std::size_t samples = acquisition.samples;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      const auto pair = half.subspan(half_matrix_index(std::min(i, j), std::max(i, j), count) * samples, samples);
      std::ranges::copy(pair, full.begin() + static_cast<std::ptrdiff_t>((i * count + j) * samples));
    }
  }
}

void put_probe(const UffOutput& put, const Hdf5Handle& parent, const Probe& probe) {
  const Hdf5Handle object = put.object(parent, "probe", "uff.probe");
  const std::size_t count = probe.elements.size();
  std::vector<double> geometry(uff_geometry_fields * count);  // [field, element]
  for (std::size_t k = 0; k < count; ++k) {
    const Element& element = probe.elements[k];
    const UffPoint faces = point_towards(element.normal, 1.0);
    const std::array fields{element.centre.x.value, element.centre.y.value, element.centre.z.value, faces.azimuth,
                            faces.elevation,        element.width.value,    element.length.value};
    for (std::size_t field = 0; field < fields.size(); ++field) geometry[field * count + k] = fields[field];
  }
  put.numbers(object, "geometry", {uff_geometry_fields, count}, geometry);
  put.point(object, "origin", {});
}

void put_wave(const UffOutput& put, const Hdf5Handle& parent, const std::string& name, const UffWave& wave) {
  const Hdf5Handle object = put.object(parent, name, "uff.wave");
  put.word(object, "wavefront", "uff.wavefront", static_cast<int>(wave.wavefront));
  put.point(object, "source", wave.source);
  put.point(object, "origin", {});
  put.number(object, "delay", wave.delay);
  put.number(object, "sound_speed", wave.speed);
}

/// Throws InputError, naming `where`, unless USTB's channel data can hold frames of `acquisition`. There must be one position of
/// the probe, and all elements must record every event. (Of half a matrix both directions of a pair are written, of sums
/// neither.) Each event must be a plane, diverging or focused wave, a single element or light. A frame must have less than 4 GiB,
/// the limit of an HDF5 chunk.
void check_uff_holds(const Acquisition& acquisition, const std::string& where) {
  constexpr const char* others = "(.mfmc and .efcap hold others)";
  if (acquisition.pairs_summed()) {
    throw InputError(where, "half a matrix of sums", fmt::format("full and half matrices, and events {}", others));
  }
  if (!acquisition.positions.empty()) {
    throw InputError(where, fmt::format("{} positions of the probe", acquisition.positions.size()),
                     fmt::format("a probe that stays {}", others));
  }
  if (!acquisition.pairs_once() && !all_elements_record(acquisition))
    throw InputError(where, "events that some elements record", fmt::format("all elements for each event {}", others));
  static_cast<void>(waves_of(acquisition, slowest, where));
  if (const std::size_t bytes = channel_bytes(acquisition); bytes > std::numeric_limits<std::uint32_t>::max())
    throw InputError(where, fmt::format("{} bytes a frame", bytes), "less than 4 GiB, what an HDF5 chunk may have");
}

struct UffFrameFile {
  std::filesystem::path path;
  Acquisition acquisition;
  AtomicFile aside;
  Hdf5NewFile file{};
  Hdf5Handle data{};
  std::uint64_t frames = 0;
  bool broken = false;
  bool whole = false;  // gets its name only with close()
  std::vector<float> amplitudes{};
  std::vector<float> pairs{};  // A-scans of half a matrix

  [[nodiscard]] std::array<hsize_t, 4> shape(hsize_t count) const {
    return {count, acquisition.event_count(), acquisition.elements(), acquisition.samples};
  }

  void make(const FrameWriterOptions& options) {
    const MetresPerSecond velocity = options.material.longitudinal_velocity;
    const std::vector<UffWave> waves = waves_of(acquisition, velocity, path.string());
    const Hdf5Session session;
    const UffOutput put(path.string());
    put.require_room(aside.descriptor(), room_of_wave * waves.size() + 64 * acquisition.elements());
    file = Hdf5NewFile(aside.descriptor(), path.string());
    errno = 0;
    put.version(file);
    const Hdf5Handle object = put.object(file.handle(), "channel_data", uff_channel_data);
    put.number(object, "sampling_frequency", acquisition.sample_rate.value);
    put.number(object, "initial_time", (acquisition.start_time - acquisition.time_offset).value);
    put.number(object, "sound_speed", velocity.value);
    put.number(object, "modulation_frequency", 0.0);
    if (acquisition.pulse_repetition.value > 0.0) put.number(object, "PRF", acquisition.pulse_repetition.value);
    put_probe(put, object, acquisition.probe);
    if (waves.size() == 1) {
      put_wave(put, object, "sequence", waves.front());
    } else {
      const Hdf5Handle sequence = put.array(object, "sequence", "uff.wave", waves.size());
      for (std::size_t k = 0; k < waves.size(); ++k) put_wave(put, sequence, element_name("sequence", k), waves[k]);
    }
    if (const double centre = acquisition.probe.centre_frequency.value; centre > 0.0) {
      const Hdf5Handle pulse = put.object(object, "pulse", "uff.pulse");
      put.number(pulse, "center_frequency", centre);
      if (const double band = acquisition.probe.bandwidth.value; band > 0.0)
        put.number(pulse, "fractional_bandwidth", band / centre);
    }
    const Hdf5Handle creation = put.made(H5Pcreate(H5P_DATASET_CREATE));
    const auto one = shape(1);
    put.done(H5Pset_chunk(creation.id(), 4, one.data()));
    // Chunks are written whole, so they need no fill value.
    put.done(H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER));
    const auto none = shape(0);
    const auto most = shape(H5S_UNLIMITED);
    const Hdf5Handle space = put.made(H5Screate_simple(4, none.data(), most.data()));
    data = put.made(H5Dcreate2(object.id(), "data", H5T_IEEE_F32LE, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT));
    put.describe(data, "data", "single");
    file.flush();
  }

  /// Adds the frame in `amplitudes`.
  void add() {
    const std::array<hsize_t, 4> place{frames, 0, 0, 0};
    broken = true;  // until the frame is added
    UffOutput(path.string()).add_chunk(data, shape(frames), shape(frames + 1), place, std::as_bytes(std::span(amplitudes)));
    file.require_written();
    broken = false;
  }
};

/// Writes one object, /channel_data, as float32 [frame, wave, channel, time] in C order. The format has no field for the elements
/// of a wave that fire, dead elements, wavelengths and energies of light, counts of the encoder, and times and numbers of frames.
/// The file appears whole, with close(). The constructor throws InputError if no velocity is stated, which the format requires.
class UffWriter final : public formats::FileWriter<UffFrameFile> {
 public:
  UffWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options);
  ~UffWriter() override;

  void close() override;
  [[nodiscard]] std::uint64_t bytes() const noexcept override;

 private:
  void write(std::span<const std::byte> frame, const FrameStamp& stamp) override;
};

UffWriter::UffWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options) {
  check_uff_holds(acquisition, path.string());
  require_absent(path, path.string());
  file_.reset(new UffFrameFile{path, acquisition, AtomicFile(path, IfThere::refuse)});
  file_->whole = options.whole;
  file_->make(options);
}

UffWriter::~UffWriter() {
  try {
    if (!file_->whole) close();
  } catch (const std::exception&) {  // callers that need the error call close()
  }
}

void UffWriter::write(std::span<const std::byte> frame, const FrameStamp& /*stamp*/) {
  UffFrameFile& f = *file_;
  const Acquisition& a = f.acquisition;
  if (f.broken || !f.file) throw RuntimeFault(fmt::format("{}: no longer written to", f.path.string()));
  if (frame.size() != a.frame_bytes())
    throw InputError(f.path.string(), fmt::format("a frame of {} bytes", frame.size()), fmt::format("{}", a.frame_bytes()));
  UffOutput(f.path.string()).require_room(f.aside.descriptor(), channel_bytes(a));
  f.amplitudes.resize(channel_samples(a));
  if (a.pairs_once()) {
    f.pairs.resize(a.a_scans() * a.samples);
    frame_amplitudes(a, frame, std::span<float>(f.pairs));
    fill_matrix(a, f.pairs, f.amplitudes);
  } else {
    frame_amplitudes(a, frame, std::span<float>(f.amplitudes));
  }
  const Hdf5Session session;
  errno = 0;
  f.add();
  ++f.frames;
}

void UffWriter::close() {
  UffFrameFile& f = *file_;
  if (!f.file) return;
  const Hdf5Session session;
  // If anything fails below, no half-written file stays.
  Hdf5NewFile file = std::exchange(f.file, Hdf5NewFile());
  f.data = Hdf5Handle();
  if (f.frames == 0) return;
  file.close();
  f.aside.commit();
}

std::uint64_t UffWriter::bytes() const noexcept {
  return file_->frames * channel_bytes(file_->acquisition);
}

}  // namespace

namespace formats {

constinit const FrameFormat uff_frames{.check = check_uff_holds,
                                       .make = write_by<UffWriter>,
                                       .velocity_of = "USTB's channel data",
                                       .samples_as = [](const Acquisition& a) -> std::string_view {
                                         return facts_of(a.encoding).counts() ? "float32 amplitudes" : "they are";
                                       }};

}  // namespace formats

}  // namespace echoform
