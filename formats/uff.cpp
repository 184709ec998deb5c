// Reads channel data of the Ultrasound Toolbox (USTB): objects of class uff.channel_data in its HDF5 files, [frame, wave,
// channel, time] in C order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/directions.hpp"
#include "base/errors.hpp"
#include "formats/hdf5_blocks.hpp"
#include "formats/pulse_repetition.hpp"
#include "formats/recording_formats.hpp"
#include "formats/samples.hpp"
#include "formats/uff_demodulated.hpp"
#include "formats/uff_fields.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

constexpr double uff_usual_speed = 1540.0;  // m/s: the default of USTB's objects
constexpr double uff_same_time = 1e-3;      // in samples
constexpr double uff_farthest = 1e3;        // metres
constexpr double uff_widest_band = 2.0;     // relative to the centre frequency
constexpr std::size_t uff_most_frames = std::size_t{1} << 24;
constexpr std::size_t uff_most_factor = 64;
constexpr std::size_t uff_piece = std::size_t{1} << 16;  // samples
constexpr std::size_t uff_trial_piece = std::size_t{1} << 20;
constexpr std::size_t uff_trial_samples = std::size_t{1} << 26;  // of a file; the samples read are spread evenly

enum UffAxis : std::size_t { frame_axis, wave_axis, channel_axis, time_axis, uff_axes };

class UffRecording final : public Recording {
 public:
  UffRecording(const InputFile& input, const RecordingOptions& options) : Recording(input.path(), "UFF") {
    const Hdf5Session session;
    file_ = open_hdf5(input);
    const UffObject data = choose(options.sequence);
    const std::vector<UffWave> waves = read_waves(data, options.limits.events);
    const bool passive = waves.front().wavefront == UffWavefront::photoacoustic;
    const std::size_t most = passive ? options.detectors : options.limits.elements;
    read_probe(data.object("probe"), most);
    find_samples(data);
    read_shape(waves.size());
    read_times(data);
    read_events(waves, data);
    read_pulse(data);
    take_pulse_repetition(data.number("PRF"), data.where("PRF"), acquisition_, warnings_);
    material_.longitudinal_velocity = MetresPerSecond(speed_of(data));
    acquisition_.encoding = SampleEncoding::float32;
    AcquisitionLimits limits = options.limits;
    limits.elements = most;
    validate(acquisition_, limits, input.name());
  }

  [[nodiscard]] std::size_t frames() const noexcept override { return sizes_[frame_axis]; }

  void read_frame(std::size_t frame, std::span<float> samples) override {
    check_request(frame, samples.size());
    if (imaginary_) {
      read_demodulated(frame, samples);
      require_finite(frame, 0, samples);
    } else if (real_blocks_->packed()) {
      read_block(*real_blocks_, {frame, 0, 0, 0}, sizes_[wave_axis], sizes_[channel_axis], H5T_NATIVE_FLOAT, samples);
      require_finite(frame, 0, samples);
    } else {
      read_pieces(frame, samples);
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
    read_block(*real_blocks_, {frame, 0, 0, 0}, sizes_[wave_axis], sizes_[channel_axis], H5T_NATIVE_INT16,
               std::span(reinterpret_cast<std::int16_t*>(bytes.data()), bytes.size() / sizeof(std::int16_t)));
  }
  [[nodiscard]] std::size_t reading_bytes() const override {
    return stored().frame_bytes() + real_blocks_->reading_bytes() +
           (imaginary_ ? 2 * sizes_[channel_axis] * sizes_[time_axis] * sizeof(float) + imaginary_blocks_->reading_bytes() : 0);
  }

  /// Reads samples from all parts of the file; errors appear when they are read.
  void try_reading() {
    for (auto* const part : {&real_blocks_, &imaginary_blocks_}) {
      if (*part) try_part(**part);
    }
  }

 private:
  [[nodiscard]] UffObject choose(std::size_t sequence) {
    const std::vector<std::string> names = uff_objects_of(file_, uff_channel_data, path_.string() + ": ");
    if (names.empty()) {
      throw InputError(path_.string(), fmt::format("no object of class {}", uff_channel_data), "channel data as USTB writes it");
    }
    if (sequence >= names.size()) {
      throw InputError(path_.string(), fmt::format("a request for sequence {}", sequence),
                       fmt::format("0 to {}, the channel data of the file", names.size() - 1));
    }
    if (names.size() > 1) notes_.push_back(fmt::format("{} channel data, this is /{}", names.size(), printable(names[sequence])));
    return UffObject(Hdf5Handle(H5Gopen2(file_.id(), "/", H5P_DEFAULT)), path_.string() + ": ").object(names[sequence]);
  }

  static double speed_of(const UffObject& object) {
    return object.number("sound_speed") ? object.positive("sound_speed") : uff_usual_speed;
  }

  std::vector<UffWave> read_waves(const UffObject& data, std::size_t most) {
    const double speed = speed_of(data);
    std::vector<UffWave> waves;
    for (const UffObject& object : data.object("sequence").elements({"source", "wavefront"}, most, "waves")) {
      UffWave& wave = waves.emplace_back();
      // Earlier files did not have this field: there the sources determine the wavefront.
      const double wavefront = object.number("wavefront").value_or(1.0);
      if (wavefront != 0.0 && wavefront != 1.0 && wavefront != 2.0) {
        throw InputError(object.where("wavefront"), fmt::format("{:g}", wavefront),
                         "0 (plane), 1 (spherical) or 2 (photoacoustic)");
      }
      wave.wavefront = static_cast<UffWavefront>(static_cast<int>(wavefront));
      if (wave.wavefront != UffWavefront::photoacoustic) wave.source = read_uff_point(object.object("source"));
      wave.delay = object.number("delay").value_or(0.0);
      wave.speed = object.number("sound_speed") ? object.positive("sound_speed") : speed;
    }
    return waves;
  }

  void read_probe(const UffObject& probe, std::size_t most) {
    const Hdf5Item geometry = Hdf5Item::require(probe.handle(), "geometry", probe.where());
    const std::vector<std::size_t>& shape = geometry.shape();
    if (shape.size() != 2 || shape[0] < 3 || shape[0] > uff_geometry_fields || shape[1] == 0) {
      throw InputError(geometry.where(), fmt::format("shape {}", shape_text(shape)), "3 to 7 fields x elements");
    }
    const std::size_t count = shape[1];
    if (count > most) throw InputError(geometry.where(), fmt::format("{} elements", count), fmt::format("at most {}", most));
    const std::vector<double> values = geometry.numbers();
    for (std::size_t k = 0; k < count; ++k) {
      const auto field = [&](std::size_t which) { return which < shape[0] ? values[which * count + k] : 0.0; };
      if (const double away = length(Direction{field(0), field(1), field(2)}); !(away <= uff_farthest)) {
        throw InputError(geometry.where(), fmt::format("element {} {:.3g} m away", k + 1, away),
                         fmt::format("metres, up to {:g}", uff_farthest));
      }
      if (!(field(5) >= 0.0) || !(field(6) >= 0.0))
        throw InputError(geometry.where(), fmt::format("element {} of a size below 0", k + 1), "sizes of at least 0");
      Element element;
      element.centre = {Metres(field(0)), Metres(field(1)), Metres(field(2))};
      element.normal = direction_to({1.0, field(3), field(4)});
      element.width = Metres(field(5));
      element.length = Metres(field(6));
      acquisition_.probe.elements.push_back(element);
    }
  }

  void find_samples(const UffObject& data) {
    if (const auto parts = data.find("data")) {
      real_ = Hdf5Item::require(parts->handle(), "real", parts->where());
      imaginary_ = Hdf5Item::require(parts->handle(), "imag", parts->where());
      imaginary_->require_shape(real_->shape());
    } else {
      real_ = Hdf5Item::require(data.handle(), "data", data.where());
    }
    for (const auto* const part : {&real_, &imaginary_}) {
      if (*part && ((*part)->is_attribute() || (*part)->type_class() != Hdf5Class::number))
        throw InputError((*part)->where(), "something else than numbers", "samples");
    }
    const Hdf5Handle type(H5Dget_type(real_->handle().id()));
    const std::size_t bytes = type ? H5Tget_size(type.id()) : 0;
    const bool whole = type && H5Tget_class(type.id()) == H5T_INTEGER;
    // Samples that fit in 16 bits with a sign are kept as counts.
    as_counts_ = !imaginary_ && whole && (bytes == 1 || (bytes == 2 && H5Tget_sign(type.id()) != H5T_SGN_NONE));
    if ((whole && bytes > 2) || (!whole && bytes > sizeof(float))) notes_.emplace_back("samples are rounded to 32-bit floats");
  }

  void read_shape(std::size_t waves) {
    const std::vector<std::size_t>& shape = real_->shape();
    const std::size_t elements = acquisition_.elements();
    const auto refuse = [&](const std::string& expected) {
      throw InputError(real_->where(), fmt::format("shape {}", shape_text(shape)), expected);
    };
    if (shape.size() < 2 || shape.size() > uff_axes) refuse("frames x waves x channels x samples");
    if (std::ranges::find(shape, std::size_t{0}) != shape.end()) refuse("at least one along each axis");
    // MATLAB drops trailing axes of length 1.
    sizes_.fill(1);
    std::ranges::copy(shape, sizes_.begin() + static_cast<std::ptrdiff_t>(uff_axes - shape.size()));
    if (sizes_[frame_axis] > uff_most_frames) {
      throw InputError(real_->where(), fmt::format("{} frames", sizes_[frame_axis]), fmt::format("at most {}", uff_most_frames));
    }
    if (sizes_[wave_axis] != waves || sizes_[channel_axis] != elements)
      refuse(fmt::format("{} x {} before the samples, the waves and elements", waves, elements));
    real_blocks_.emplace(*real_);
    if (imaginary_) imaginary_blocks_.emplace(*imaginary_);
  }

  void read_times(const UffObject& data) {
    const double rate = data.positive("sampling_frequency");
    const auto first = data.number("initial_time");
    if (!first) throw InputError(data.where(), "no initial_time", "the time of the first sample");
    const double modulation = data.number("modulation_frequency").value_or(0.0);
    if (modulation < 0.0) throw InputError(data.where("modulation_frequency"), fmt::format("{:g}", modulation), "at least 0");
    if (modulation > 0.0 && !imaginary_) {
      throw InputError(data.where("modulation_frequency"), fmt::format("{:g} Hz of samples that are real", modulation),
                       "0, or complex samples");
    }
    if (imaginary_) {
      factor_ = remodulation_factor(Hertz(rate), Hertz(modulation), uff_most_factor);
      if (factor_ > uff_most_factor) {
        throw InputError(data.where("modulation_frequency"), fmt::format("{:g} Hz of {:g} samples a second", modulation, rate),
                         fmt::format("at most {} times as much", uff_most_factor / 2));
      }
      remodulation_.emplace(factor_, Hertz(rate), Hertz(modulation), Seconds(*first));
      notes_.push_back(modulation > 0.0
                           ? fmt::format("demodulated by {:.6g} MHz: echoes of {} samples for each", 1e-6 * modulation, factor_)
                           : std::string("the real part of complex samples"));
    }
    acquisition_.samples = sizes_[time_axis] > SIZE_MAX / factor_ ? SIZE_MAX : sizes_[time_axis] * factor_;
    acquisition_.sample_rate = Hertz(rate * static_cast<double>(factor_));
    acquisition_.start_time = Seconds(*first);
    acquisition_.probe.centre_frequency = Hertz(modulation);
  }

  void read_events(std::span<const UffWave> waves, const UffObject& data) {
    UffEvents made =
        events_of(waves, acquisition_.probe, Seconds(uff_same_time / acquisition_.sample_rate.value), data.where("sequence"));
    acquisition_.events = std::move(made.events);
    acquisition_.start_time = acquisition_.start_time - made.zero;
  }

  void read_pulse(const UffObject& data) {
    const auto pulse = data.find("pulse");
    if (!pulse) return;
    const double centre = pulse->number("center_frequency").value_or(0.0);
    if (!(centre > 0.0)) return;
    acquisition_.probe.centre_frequency = Hertz(centre);
    const double band = pulse->number("fractional_bandwidth").value_or(0.0);
    if (band > 0.0 && band <= uff_widest_band) acquisition_.probe.bandwidth = Hertz(band * centre);
  }

  /// Checks A-scans from A-scan `first` on.
  void require_finite(std::size_t frame, std::size_t first, std::span<const float> samples) const {
    const auto found = first_not_finite(samples);
    if (!found) return;
    throw InputError(fmt::format("{}, frame {}, A-scan {}", real_->where(), frame, first + *found / acquisition_.samples),
                     fmt::format("{} as sample {}", samples[*found], *found % acquisition_.samples), "finite numbers");
  }

  /// Reads in pieces, so that samples are checked while they are still in the processor's cache.
  void read_pieces(std::size_t frame, std::span<float> samples) {
    const std::size_t channels = sizes_[channel_axis];
    const std::size_t at_once = std::clamp<std::size_t>(uff_piece / sizes_[time_axis], 1, channels);
    for (std::size_t wave = 0; wave < sizes_[wave_axis]; ++wave) {
      for (std::size_t first = 0; first < channels; first += at_once) {
        const std::size_t count = std::min(at_once, channels - first);
        const auto piece = samples.first(count * sizes_[time_axis]);
        read_block(*real_blocks_, {frame, wave, first, 0}, 1, count, H5T_NATIVE_FLOAT, piece);
        require_finite(frame, wave * channels + first, piece);
        samples = samples.subspan(piece.size());
      }
    }
  }

  using Place = std::array<hsize_t, uff_axes>;

  /// Reads [wave, channel, time] of some waves and channels from `start` on.
  template <class Sample>
  void read_block(Hdf5Blocks& blocks, const Place& start, std::size_t waves, std::size_t channels, hid_t type,
                  std::span<Sample> to) const {
    const Place block{1, waves, channels, sizes_[time_axis]};
    const std::size_t left_out = uff_axes - real_->shape().size();
    blocks.read(type, std::span(start).subspan(left_out), std::span(block).subspan(left_out),
                std::as_writable_bytes(to.first(waves * channels * sizes_[time_axis])));
  }

  /// Tries to read in steps of HDF5's chunks. Data without filters lie as bytes at an address, and one channel of a chunk
  /// suffices to find them.
  void try_part(Hdf5Blocks& blocks) const {
    const std::size_t channels = sizes_[channel_axis];
    Place step{1, sizes_[wave_axis], channels, sizes_[time_axis]};
    std::size_t at_once = 1;
    const std::vector<hsize_t>& chunk = blocks.chunk();
    std::ranges::copy(chunk, step.begin() + static_cast<std::ptrdiff_t>(chunk.empty() ? 0 : uff_axes - chunk.size()));
    if (blocks.packed()) {
      step = {1, 1, std::clamp<std::size_t>(uff_trial_piece / sizes_[time_axis], 1, channels), 1};
      at_once = step[channel_axis];
    }
    const auto steps = [&](UffAxis axis) { return (sizes_[axis] + step[axis] - 1) / step[axis]; };
    const std::size_t in_wave = steps(channel_axis);
    const std::size_t in_frame = in_wave * steps(wave_axis);
    const std::size_t pieces = in_frame * sizes_[frame_axis];
    const std::size_t most = std::max<std::size_t>(2, uff_trial_samples / (at_once * sizes_[time_axis]));
    std::vector<float> samples(at_once * sizes_[time_axis]);
    for (std::size_t piece = 0; piece < pieces; piece += pieces / most + 1) {
      const std::size_t first = piece % in_wave * step[channel_axis];
      const std::size_t wave = piece % in_frame / in_wave * step[wave_axis];
      try {
        read_block(blocks, {piece / in_frame, wave, first, 0}, 1, std::min(at_once, channels - first), H5T_NATIVE_FLOAT,
                   std::span(samples));
      } catch (const InputError&) {  // damage is reported when the data is asked for
      }
    }
  }

  void read_demodulated(std::size_t frame, std::span<float> samples) {
    const std::size_t in_wave = sizes_[channel_axis] * sizes_[time_axis];
    std::vector<float> real(in_wave);
    std::vector<float> imaginary(in_wave);
    for (std::size_t wave = 0; wave < sizes_[wave_axis]; ++wave) {
      read_block(*real_blocks_, {frame, wave, 0, 0}, 1, sizes_[channel_axis], H5T_NATIVE_FLOAT, std::span(real));
      read_block(*imaginary_blocks_, {frame, wave, 0, 0}, 1, sizes_[channel_axis], H5T_NATIVE_FLOAT, std::span(imaginary));
      for (std::size_t channel = 0; channel < sizes_[channel_axis]; ++channel) {
        const std::size_t at = channel * sizes_[time_axis];
        remodulation_->apply(std::span(real).subspan(at, sizes_[time_axis]), std::span(imaginary).subspan(at, sizes_[time_axis]),
                             samples.first(acquisition_.samples));
        samples = samples.subspan(acquisition_.samples);
      }
    }
  }

  Hdf5Handle file_;
  std::optional<Hdf5Item> real_;
  std::optional<Hdf5Item> imaginary_;
  std::optional<Hdf5Blocks> real_blocks_;
  std::optional<Hdf5Blocks> imaginary_blocks_;
  std::optional<UffRemodulation> remodulation_;
  std::size_t factor_ = 1;
  std::array<std::size_t, uff_axes> sizes_{};
  bool as_counts_ = false;  // int16 holds the stored samples
};

}  // namespace

constinit const RecordingFormat uff_format{
    .name = "USTB",
    .meaning = "channel data of the Ultrasound Toolbox",
    .extensions = {".uff"},
    .packages = "libhdf5-dev",
    .page = "command-line.md#channel-data-of-the-ultrasound-toolbox-uff",
    .fuzzers = {"uff_contents"},
    .open = open_by<UffRecording>,
    .always_hdf5 = "a file of USTB (HDF5)",
    .try_reading = try_by<UffRecording>,
    .writer = &uff_frames,
};

}  // namespace echoform::formats
