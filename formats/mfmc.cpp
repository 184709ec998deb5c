// MFMC 2.0 (HDF5): Multi-Frame Matrix Capture. A group is known by its attribute TYPE alone; names and hierarchy are free, links
// are object references, indices count from 1, and shapes below are in C order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "formats/guarded_trial.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/mat5_check.hpp"
#include "formats/mfmc_parts.hpp"
#include "formats/mfmc_placement.hpp"
#include "formats/pair_order.hpp"
#include "formats/readers.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

/// How much of a recording's data is read on trial; of longer ones, frames spread evenly.
constexpr std::size_t trial_bytes = std::size_t{1} << 28;
// Degrees by which a wedge's face and its placement may differ: numbers of a drawing are rounded.
constexpr double most_face_tilt = 1.0;

class MfmcRecording final : public Recording {
 public:
  MfmcRecording(const std::filesystem::path& path, const RecordingOptions& options)
      : Recording(path, "MFMC"), file_name_(path.string()) {
    const Hdf5Session session;
    file_ = open_hdf5(path);
    const auto sequences = find_sequences(file_, file_name_);
    if (sequences.empty()) throw InputError(file_name_, "no group of TYPE \"SEQUENCE\"", "an MFMC file with a sequence");
    if (options.sequence >= sequences.size()) {
      throw InputError(file_name_, fmt::format("a request for sequence {}", options.sequence),
                       fmt::format("0 to {}", sequences.size() - 1));
    }
    if (sequences.size() > 1)
      notes_.push_back(fmt::format("{} sequences, this is /{}", sequences.size(), printable(sequences[options.sequence])));
    sequence_ = Hdf5Handle(H5Gopen2(file_.id(), sequences[options.sequence].c_str(), H5P_DEFAULT));
    where_ = fmt::format("{}: {}", file_name_, hdf5_name(sequence_));
    read_shape(options);
    read_scalars();
    const std::size_t probe_index = read_laws(options);
    read_placements(probe_index);
    validate(acquisition_, options.limits, file_name_);
  }

  [[nodiscard]] std::size_t frames() const noexcept override { return frames_; }

  [[nodiscard]] Probe probe(std::size_t frame) const override {
    if (frame >= frames_)
      throw InputError(file_name_, fmt::format("a request for frame {}", frame), fmt::format("0 to {}", frames_ - 1));
    return place_probe(probe_, placements_[frame_placements_[frame]], where_);
  }

  void read_frame(std::size_t frame, std::span<float> samples) override {
    check_request(frame, samples.size());
    const std::size_t count = acquisition_.samples;
    scratch_.resize(file_a_scans_ * count);
    read_data(frame, H5T_NATIVE_FLOAT, scratch_.data());
    for (std::size_t a = 0; a < order_.source.size(); ++a) {
      const auto target = samples.subspan(a * count, count);
      if (order_.source[a] == PairOrder::none) {
        std::fill(target.begin(), target.end(), 0.0F);
        continue;
      }
      const auto source = std::span(scratch_).subspan(order_.source[a] * count, count);
      for (std::size_t n = 0; n < count; ++n) {
        if (!std::isfinite(source[n])) {
          throw InputError(fmt::format("{}, frame {}, A-scan {}, sample {}", data_->where(), frame, order_.source[a] + 1, n + 1),
                           fmt::format("{}", source[n]), "finite samples");
        }
      }
      std::transform(source.begin(), source.end(), target.begin(), [this](float value) { return value * sample_scale_; });
    }
  }

  [[nodiscard]] Acquisition stored() const override {
    Acquisition stored = acquisition_;
    if (!as_counts_) return stored;
    stored.encoding = SampleEncoding::int16;
    stored.sample_scale = scale_;
    return stored;
  }

  void read_stored(std::size_t frame, std::span<std::byte> bytes) override {
    if (!as_counts_) return Recording::read_stored(frame, bytes);
    const std::size_t count = acquisition_.samples;
    check_request(frame, bytes.size() / sizeof(std::int16_t));
    std::vector<std::int16_t> values(file_a_scans_ * count);
    read_data(frame, H5T_NATIVE_INT16, values.data());
    for (std::size_t a = 0; a < order_.source.size(); ++a) {
      const auto target = bytes.subspan(a * count * sizeof(std::int16_t), count * sizeof(std::int16_t));
      if (order_.source[a] == PairOrder::none) {
        std::fill(target.begin(), target.end(), std::byte{0});
      } else {
        std::memcpy(target.data(), values.data() + order_.source[a] * count, target.size());
      }
    }
  }

 private:
  /// All A-scans of a frame in the file's order.
  void read_data(std::size_t frame, hid_t type, void* to) const {
    const Hdf5Session session;
    const std::array<hsize_t, 3> start{frame, 0, 0};
    const std::array<hsize_t, 3> shape{1, file_a_scans_, acquisition_.samples};
    const Hdf5Handle space(H5Dget_space(data_->handle().id()));
    const Hdf5Handle memory(H5Screate_simple(3, shape.data(), nullptr));
    if (!space || !memory || H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, shape.data(), nullptr) < 0 ||
        H5Dread(data_->handle().id(), type, memory.id(), space.id(), H5P_DEFAULT, to) < 0) {
      throw InputError(fmt::format("{}, frame {}", data_->where(), frame), "damaged data", "samples that HDF5 can read");
    }
  }

  void read_shape(const RecordingOptions& options) {
    data_.emplace(Hdf5Item::require(sequence_, "MFMC_DATA", where_));
    const auto& shape = data_->shape();
    if (data_->type_class() != Hdf5Class::number)
      throw InputError(data_->where(), "something else than numbers", "integers or floating-point numbers");
    if (shape.size() != 3)
      throw InputError(data_->where(), fmt::format("shape {}", shape_text(shape)), "frames x A-scans x samples");
    if (shape[0] == 0 || shape[1] == 0)
      throw InputError(data_->where(), fmt::format("shape {}", shape_text(shape)), "at least one frame of at least one A-scan");
    const auto& limits = options.limits;
    if (shape[2] > limits.samples || shape[1] > limits.frame_bytes / sizeof(float) / std::max<std::size_t>(shape[2], 1)) {
      throw InputError(data_->where(), fmt::format("shape {}", shape_text(shape)),
                       fmt::format("at most {} bytes a frame", limits.frame_bytes));
    }
    frames_ = shape[0];
    if (is_unfinished(file_)) notes_.emplace_back("not closed by its writer: still growing, or interrupted");
    file_a_scans_ = shape[1];
    acquisition_.samples = shape[2];
    acquisition_.encoding = SampleEncoding::float32;
    const Hdf5Handle type(H5Dget_type(data_->handle().id()));
    const std::size_t bytes = type ? H5Tget_size(type.id()) : 0;
    const bool whole = type && H5Tget_class(type.id()) == H5T_INTEGER;
    // Whatever 16 bits with a sign hold.
    as_counts_ = whole && (bytes == 1 || (bytes == 2 && H5Tget_sign(type.id()) != H5T_SGN_NONE));
    if ((whole && bytes > 2) || (!whole && bytes > sizeof(float))) notes_.emplace_back("samples are rounded to 32-bit floats");
    if (Hdf5Item::find(sequence_, "MFMC_DATA_IM", where_))
      notes_.emplace_back("the imaginary part is left out: the analytic signal follows from the real part");
  }

  [[nodiscard]] double number(const char* name) const {
    const Hdf5Item item = Hdf5Item::require(sequence_, name, where_);
    item.require_shape({1});
    return item.numbers().front();
  }

  void read_scalars() {
    const double step = number("TIME_STEP");
    if (!(step > 0.0)) throw InputError(where_ + "/TIME_STEP", fmt::format("{} s", step), "a positive time");
    acquisition_.sample_rate = Hertz(1.0 / step);
    acquisition_.start_time = Seconds(number("START_TIME"));
    if (Hdf5Item::find(sequence_, sample_scale_attribute, where_)) {
      scale_ = number(sample_scale_attribute);
      sample_scale_ = static_cast<float>(scale_);
      if (!std::isfinite(sample_scale_) || sample_scale_ == 0.0F) {
        throw InputError(fmt::format("{}/{}", where_, sample_scale_attribute), fmt::format("{}", sample_scale_),
                         "a finite number other than 0");
      }
      notes_.push_back(fmt::format("one count is {:g}", sample_scale_));
    }
    const Hdf5Item velocity = Hdf5Item::require(sequence_, "SPECIMEN_VELOCITY", where_);
    velocity.require_shape({2});
    const auto values = velocity.numbers();  // shear first
    for (const double value : values) {
      if (value < 0.0) throw InputError(velocity.where(), fmt::format("{} m/s", value), "velocities of at least 0");
    }
    material_.shear_velocity = MetresPerSecond(values[0]);
    material_.longitudinal_velocity = MetresPerSecond(values[1]);
    if (const auto wedge = Hdf5Item::find(sequence_, "WEDGE_VELOCITY", where_)) {
      wedge->require_shape({2});
      const double longitudinal = wedge->numbers()[1];
      if (!(longitudinal >= 0.0) || !std::isfinite(longitudinal))
        throw InputError(wedge->where(), fmt::format("{} m/s", longitudinal), "velocities of at least 0");
      wedge_velocity_ = MetresPerSecond(longitudinal);
    }
  }

  /// Reads both laws of every A-scan; returns the place in PROBE_LIST of the one probe in use.
  std::size_t read_laws(const RecordingOptions& options) {
    const Hdf5Item probe_list = Hdf5Item::require(sequence_, "PROBE_LIST", where_);
    const auto probes = probe_list.references();
    if (probe_list.shape().size() > 1 || probes.empty())
      throw InputError(probe_list.where(), fmt::format("shape {}", shape_text(probe_list.shape())), "a list of probes");
    probes_used_ = probes.size();
    for (const auto reference : probes) require_mfmc_type(open_reference(probe_list, reference), "PROBE", probe_list, file_name_);

    std::optional<hobj_ref_t> used;
    std::map<hobj_ref_t, std::size_t> elements_by_law;  // from 1
    const auto elements_of = [&](const char* name) {
      const Hdf5Item item = Hdf5Item::require(sequence_, name, where_);
      item.require_shape({file_a_scans_});
      std::vector<std::size_t> elements;
      elements.reserve(file_a_scans_);
      for (const auto reference : item.references()) {
        auto found = elements_by_law.find(reference);
        if (found == elements_by_law.end()) {
          const Hdf5Handle group = open_reference(item, reference);
          require_mfmc_type(group, "LAW", item, file_name_);
          const MfmcLaw law = read_mfmc_law(group, file_name_);
          const auto& entry = law.entries.front();
          // A picosecond is nothing at any ultrasonic frequency.
          if (law.entries.size() != 1 || std::abs(entry.delay) > 1e-12) {
            throw InputError(fmt::format("{}: {}", file_name_, law.name),
                             law.entries.size() != 1 ? fmt::format("{} elements at work", law.entries.size())
                                                     : fmt::format("a delay of {:.6g} s", entry.delay),
                             "one element without delay (plane-wave/CSM sequences are not supported yet)");
          }
          if (used.value_or(entry.probe) != entry.probe) {
            throw InputError(fmt::format("{}: {}", file_name_, law.name), "a second probe",
                             "one probe that transmits and receives (pitch-catch is not supported yet)");
          }
          used = entry.probe;
          found = elements_by_law.emplace(reference, entry.element).first;
        }
        elements.push_back(found->second - 1);
      }
      return elements;
    };
    const auto transmit = elements_of("TRANSMIT_LAW");
    const auto receive = elements_of("RECEIVE_LAW");

    const auto place = std::find(probes.begin(), probes.end(), *used);
    if (place == probes.end()) throw InputError(where_, "laws for a probe that is not in PROBE_LIST", "laws for its probes");
    probe_ = read_mfmc_probe(open_reference(probe_list, *used), file_name_);
    if (probe_.elements.size() > options.limits.elements) {
      throw InputError(fmt::format("{}: {}", file_name_, probe_.name), fmt::format("{} elements", probe_.elements.size()),
                       fmt::format("at most {}", options.limits.elements));
    }
    order_ = order_pairs(transmit, receive, probe_.elements.size(), where_ + " TRANSMIT_LAW, RECEIVE_LAW");
    acquisition_.matrix = order_.matrix;
    acquisition_.events = order_.events;
    if (const auto note = order_.note(); !note.empty()) notes_.push_back(note);
    count_dead(transmit, receive);
    return static_cast<std::size_t>(place - probes.begin());
  }

  /// Their A-scans are handed on as they are: imaging leaves them out, unless the user says that an element lives.
  void count_dead(const std::vector<std::size_t>& transmit, const std::vector<std::size_t>& receive) {
    std::size_t dead = 0;
    for (const auto source : order_.source) {
      if (source == PairOrder::none) continue;
      dead += probe_.elements[transmit[source]].dead || probe_.elements[receive[source]].dead ? 1 : 0;
    }
    if (dead > 0) notes_.push_back(fmt::format("{} A-scans of dead elements count as zero", dead));
  }

  void read_placements(std::size_t probe_index) {
    const Hdf5Item position = Hdf5Item::require(sequence_, "PROBE_POSITION", where_);
    const auto& shape = position.shape();
    if (shape.size() != 3 || shape[0] == 0 || shape[1] != probes_used_ || shape[2] != 3) {
      throw InputError(position.where(), fmt::format("shape {}", shape_text(shape)),
                       fmt::format("placements x {} x 3", probes_used_));
    }
    const auto vectors = [&](const char* name) {
      const Hdf5Item item = Hdf5Item::require(sequence_, name, where_);
      item.require_shape(shape);
      return item.numbers();
    };
    const auto positions = vectors("PROBE_POSITION");
    const auto x_directions = vectors("PROBE_X_DIRECTION");
    const auto y_directions = vectors("PROBE_Y_DIRECTION");
    for (std::size_t b = 0; b < shape[0]; ++b) {
      const std::size_t at = (b * probes_used_ + probe_index) * 3;
      const auto vector = [at](const std::vector<double>& values) { return Vector3{values[at], values[at + 1], values[at + 2]}; };
      placements_.push_back({vector(positions), vector(x_directions), vector(y_directions)});
    }

    std::vector<bool> checked(placements_.size(), false);
    double tilt = 0.0;  // the greatest
    bool lacking = false;
    const auto check_placement = [&](std::size_t b) {
      const std::string name = fmt::format("{}, placement {}", where_, b + 1);
      // One way for all placements: where they contradict each other, place_probe() refuses one.
      if (std::find(checked.begin(), checked.end(), true) == checked.end() &&
          emission_is_backwards(probe_, placements_[b], name)) {
        turn_emission(probe_);
        notes_.emplace_back(
            "ELEMENT_MAJOR x ELEMENT_MINOR points along -z of the probe: its elements are taken to emit along +z");
      }
      static_cast<void>(place_probe(probe_, placements_[b], name));
      if (!lacks_direction(placements_[b])) {
        tilt = std::max(tilt, face_tilt(probe_, placements_[b], name));
      } else if (!std::exchange(lacking, true)) {
        notes_.emplace_back("PROBE_X_DIRECTION or PROBE_Y_DIRECTION is zero: the probe's z is taken to point into the part");
      }
      checked[b] = true;
    };
    const Hdf5Item index = Hdf5Item::require(sequence_, "PROBE_PLACEMENT_INDEX", where_);
    // A writer places a frame before it adds the samples.
    const bool longer = is_unfinished(file_) && index.shape().size() == 2 && index.shape()[0] > frames_;
    index.require_shape({longer ? index.shape()[0] : frames_, file_a_scans_});
    // Grows with the recording, by every A-scan: one value a frame is kept.
    index.for_indices(1, placements_.size(), frames_, [&](std::size_t frame, std::span<const std::size_t> indices) {
      for (; !indices.empty(); indices = indices.subspan(file_a_scans_), ++frame) {
        const std::size_t first = indices.front();
        const auto of_frame = indices.first(file_a_scans_);
        if (std::any_of(of_frame.begin(), of_frame.end(), [&](std::size_t placement) { return placement != first; })) {
          throw InputError(fmt::format("{}, frame {}", index.where(), frame), "a probe that moves within the frame",
                           "one placement a frame");
        }
        frame_placements_.push_back(first);
        if (!checked[first]) check_placement(first);
      }
    });
    acquisition_.probe = probe(0);
    if (tilt > most_face_tilt) {
      warnings_.push_back(
          fmt::format("{}, {}: PROBE_X_DIRECTION and PROBE_Y_DIRECTION put the wedge's face {:.3g} degrees off the "
                      "part's surface, WEDGE_SURFACE_NORMAL says that this face lies on it: the wedge counts",
                      where_, probe_.name, tilt));
    }
    const auto placements_in_use = std::count(checked.begin(), checked.end(), true);
    if (probe_.wedge_face) {
      const Point& first = acquisition_.probe.elements.front().centre;
      const Point& last = acquisition_.probe.elements.back().centre;
      notes_.push_back(
          fmt::format("the wedge's face puts the aperture's middle {:.4g} mm above the part, turned by {:.3g} degrees",
                      -500.0 * (first.z + last.z).value,
                      std::atan2((last.z - first.z).value, (last.x - first.x).value) * 180.0 / std::numbers::pi));
    }
    if (placements_in_use > 1) notes_.push_back(fmt::format("the probe takes {} places", placements_in_use));
  }

  std::string file_name_;
  Hdf5Handle file_;
  Hdf5Handle sequence_;
  std::string where_;  // file and sequence
  std::optional<Hdf5Item> data_;
  double scale_ = 1.0;         // amplitude of one count
  float sample_scale_ = 1.0F;  // the same
  bool as_counts_ = false;     // int16 holds what is stored
  std::size_t frames_ = 0;
  std::size_t file_a_scans_ = 0;
  std::size_t probes_used_ = 0;
  MfmcProbe probe_;
  std::vector<MfmcPlacement> placements_;
  std::vector<std::size_t> frame_placements_;
  PairOrder order_;
  std::vector<float> scratch_;
};

}  // namespace

void require_hdf5(const std::filesystem::path& path) {
  if (!is_hdf5_file(path)) throw InputError(path.string(), "no HDF5 signature", "an MFMC file (HDF5)");
}

void read_mfmc_on_trial(const std::filesystem::path& path, const RecordingOptions& options) {
  MfmcRecording recording(path, options);
  const std::size_t size = recording.acquisition().a_scans() * recording.acquisition().samples;
  const std::size_t budget = trial_bytes / sizeof(float) / size;
  std::vector<float> samples(size);
  const std::size_t step = recording.frames() / std::max<std::size_t>(budget, 2) + 1;
  for (std::size_t frame = 0; frame < recording.frames(); frame += step) {
    try {
      recording.read_frame(frame, samples);
    } catch (const InputError&) {  // a bad frame is reported when it is asked for
    }
  }
}

std::unique_ptr<Recording> open_mfmc(const std::filesystem::path& path, const RecordingOptions& options) {
  require_hdf5(path);
  // HDF5 1.10 can crash on damaged files, and no check of ours covers its format: the file is gone through in a child first.
  try_in_child(
      path.string(), [&] { read_mfmc_on_trial(path, options); }, mfmc_trial_limits(path));
  return open_mfmc_untried(path, options);
}

std::unique_ptr<Recording> open_mfmc_untried(const std::filesystem::path& path, const RecordingOptions& options) {
  return std::make_unique<MfmcRecording>(path, options);
}

}  // namespace echoform::formats
