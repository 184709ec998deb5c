// Reads ONDE, the neutral format of COFREND and EPRI: A-scan data sets, [dataframe, A-scan, sample] in version 0.9.0 and [u, v,
// A-scan, sample] later. Groups are identified by their classes, links are object references (onde_fields.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "acquisition/positions.hpp"
#include "base/errors.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/hdf5_rows.hpp"
#include "formats/mat5_check.hpp"
#include "formats/mfmc_events.hpp"
#include "formats/mfmc_parts.hpp"
#include "formats/onde_fields.hpp"
#include "formats/onde_probe.hpp"
#include "formats/ordered_recording.hpp"
#include "formats/pulse_repetition.hpp"
#include "formats/recording_formats.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

constexpr double most_component_velocity = 1e5;
constexpr double most_ascan_rate = 1e10;   // Hz
constexpr double latest_start = 1.0;       // seconds
constexpr double farthest_on_way = 1e3;    // metres
constexpr double surface_rounding = 1e-6;  // metres: a wavelength is hundreds of micrometres
constexpr double same_start = 1e-3;        // in samples
constexpr double least_scale = 1e-20;
constexpr std::size_t numbers_of_frame = 7;

class OndeRecording final : public OrderedRecording {
 public:
  OndeRecording(const InputFile& input, const RecordingOptions& options)
      : OrderedRecording(input.path(), "ONDE"), file_name_(input.name()) {
    const Hdf5Session session;
    file_ = open_hdf5(input);
    check_file_type();
    const OndeGroup dataset = choose(options.sequence);
    const OndeGroup setup = dataset.follow("ONDE_DATASET:SETUP");
    const OndeGroup ultrasonic = setup.follow("ONDE_SETUP_UT:ULTRASONIC_SETUP");
    const OndeGroup geometric = setup.follow("ONDE_SETUP:GEOMETRIC_SETUP");
    read_shape(dataset, options);
    acquisition_.encoding = SampleEncoding::float32;
    acquisition_.sample_rate = Hertz(ultrasonic.number("ONDE_ULTRASONIC_SETUP:ASCAN_SAMPLE_RATE", 1.0, most_ascan_rate));
    read_start(dataset, ultrasonic);
    read_pulse_repetition(ultrasonic);
    read_notes(ultrasonic);
    const Hdf5Item probe_list = geometric.require("ONDE_GEOMETRIC_SETUP:PROBE_LIST");
    const std::vector<hobj_ref_t> probes = probe_list.references();
    OndeLaws laws(file_name_, probes);
    const auto [transmit, receive] = read_laws(ultrasonic, laws);
    const auto place = std::ranges::find(probes, laws.probe());
    if (place == probes.end()) throw InputError(probe_list.where(), "none that the laws are of", "the probe of the laws");
    read_probe(OndeGroup(open_reference(probe_list, *place), probe_list.where()), options);
    read_places(geometric, static_cast<std::size_t>(place - probes.begin()), probes.size());
    read_velocities(geometric);
    PairOrder order = order_of(transmit, receive, ultrasonic, options);
    const Amplitudes amplitudes = read_amplitudes(dataset);
    validate(acquisition_, options.limits, file_name_);
    rows_.emplace(*data_, FrameAxes::rows, acquisition_.samples, amplitudes.as_counts);
    set_order(std::move(order), rows_->rows(), amplitudes);
  }

  [[nodiscard]] std::size_t frames() const noexcept override { return frames_; }
  [[nodiscard]] Probe probe(std::size_t frame) const override {
    return poses_.empty() ? acquisition_.probe : placed(own_, poses_.at(frame));
  }
  [[nodiscard]] std::optional<Pose> pose(std::size_t frame) const override {
    if (poses_.empty() || frame >= poses_.size()) return {};
    return poses_[frame];
  }
  [[nodiscard]] Probe probe_at(const Pose& pose) const override {
    return poses_.empty() ? acquisition_.probe : placed(own_, pose);
  }
  void try_reading() { rows_->try_reading(); }

 protected:
  void read_source(std::size_t frame, std::size_t first, std::size_t count, std::span<std::byte> to) override {
    rows_->read(frame, first, count, to);
  }
  [[nodiscard]] bool reads_whole_frames() const override { return rows_->packed(); }
  [[nodiscard]] std::string place_of(std::size_t frame, std::size_t source) const override {
    return fmt::format("{}, frame {}, A-scan {}", data_->where(), frame, source + 1);
  }

 private:
  void check_file_type() {
    const OndeGroup root(Hdf5Handle(H5Gopen2(file_.id(), "/", H5P_DEFAULT)), file_name_ + ": ");
    const std::string type = root.require(onde_file_type).text();
    if (type != onde_ultrasound)
      throw InputError(file_name_, fmt::format("{} \"{}\"", onde_file_type, printable(type, 40)),
                       fmt::format("\"{}\"", onde_ultrasound));
    const std::string version = root.require(onde_version).text();
    if (!version.starts_with("0.9"))
      warnings_.push_back(fmt::format("{}: version {}, which is read as 0.9", file_name_, printable(version, 40)));
  }

  OndeGroup choose(std::size_t sequence) {
    std::vector<std::string> names = find_onde_groups(file_, file_name_, onde_a_scans);
    const auto open = [this](const std::string& name) {
      return OndeGroup(Hdf5Handle(H5Gopen2(file_.id(), name.c_str(), H5P_DEFAULT)),
                       fmt::format("{}: /{}", file_name_, printable(name)));
    };
    const std::size_t all = names.size();
    // Files of images name a data set of A-scans that was not kept.
    std::erase_if(names, [&](const std::string& name) { return !open(name).find(onde_data); });
    if (names.empty()) {
      throw InputError(file_name_, all == 0 ? fmt::format("no group of {}", onde_a_scans) : "no A-scans, which were not kept",
                       "an ONDE file with A-scans");
    }
    if (sequence >= names.size())
      throw InputError(file_name_, fmt::format("a request for sequence {}", sequence), fmt::format("0 to {}", names.size() - 1));
    if (names.size() > 1) notes_.push_back(fmt::format("{} data sets, this is /{}", names.size(), printable(names[sequence])));
    return open(names[sequence]);
  }

  void read_shape(const OndeGroup& dataset, const RecordingOptions& options) {
    Hdf5Item data = dataset.require(onde_data);
    if (data.type_class() == Hdf5Class::reference) {
      if (data.points() != 1) throw InputError(data.where(), fmt::format("shape {}", shape_text(data.shape())), "one reference");
      data = Hdf5Item::referred(data, data.references().front());
    }
    data_ = std::move(data);
    const std::vector<std::size_t>& shape = data_->shape();
    if (data_->is_attribute() || data_->type_class() != Hdf5Class::number)
      throw InputError(data_->where(), "something else than a dataset of numbers", "A-scans");
    if (shape.size() < 3 || shape.size() > 4 || shape.back() == 0 || shape[shape.size() - 2] == 0) {
      throw InputError(data_->where(), fmt::format("shape {}", shape_text(shape)),
                       "dataframes x A-scans x samples, or positions along u x v x A-scans x samples");
    }
    const auto& limits = options.limits;
    const std::size_t a_scans = shape[shape.size() - 2];
    if (shape.back() > limits.samples || a_scans > limits.frame_bytes / sizeof(float) / shape.back()) {
      throw InputError(data_->where(), fmt::format("shape {}", shape_text(shape)),
                       fmt::format("at most {} bytes a frame", limits.frame_bytes));
    }
    acquisition_.samples = shape.back();
    frames_ = Hdf5Rows(*data_, FrameAxes::rows, acquisition_.samples, false).frames();
  }

  [[nodiscard]] std::size_t file_a_scans() const { return data_->shape()[data_->shape().size() - 2]; }

  void read_start(const OndeGroup& dataset, const OndeGroup& ultrasonic) {
    auto item = dataset.find("ONDE_DATASET_UT_ASCAN:ASCAN_START");
    if (!item) item = ultrasonic.require("ONDE_ULTRASONIC_SETUP:ASCAN_START");
    const std::vector<double> starts = item->numbers();
    if (starts.empty() || !(std::abs(starts.front()) <= latest_start))
      throw InputError(item->where(), starts.empty() ? "none" : fmt::format("{:g} s", starts.front()), "a time within a second");
    const auto other = std::ranges::find_if(
        starts, [&](double start) { return std::abs(start - starts.front()) * acquisition_.sample_rate.value > same_start; });
    if (other != starts.end()) {
      throw InputError(item->where(), fmt::format("{:g} and {:g} s", starts.front(), *other), "A-scans that all start together");
    }
    acquisition_.start_time = Seconds(starts.front());
  }

  /// Reads the pulse repetition if it is one number; several numbers state none.
  void read_pulse_repetition(const OndeGroup& ultrasonic) {
    const auto item = ultrasonic.find("ONDE_ULTRASONIC_SETUP:PRF");
    if (!item || item->type_class() != Hdf5Class::number || item->points() != 1) return;
    take_pulse_repetition(item->numbers_or_nan().front(), item->where(), acquisition_, warnings_);
  }

  /// Properties that are reported and not corrected.
  void read_notes(const OndeGroup& ultrasonic) {
    if (const auto item = ultrasonic.find("ONDE_ULTRASONIC_SETUP:RECTIFICATION"); item && item->type_class() == Hdf5Class::text) {
      if (const std::string rectification = item->text(); rectification != "FULL_WAVE") {
        warnings_.push_back(fmt::format("{}: {}: rectified A-scans make no images of echoes' phases", item->where(),
                                        printable(rectification, 40)));
      }
    }
    if (const auto item = ultrasonic.find("ONDE_ULTRASONIC_SETUP:GAIN")) {
      const std::vector<double> gains = item->numbers_or_nan();
      if (std::ranges::any_of(gains, [&](double gain) { return gain != gains.front() && !std::isnan(gain); }))
        notes_.emplace_back("A-scans have gains of their own, which are not taken off");
    }
    if (ultrasonic.find("ONDE_ULTRASONIC_SETUP:TCG_CURVE")) notes_.emplace_back("the time-corrected gain is not taken off");
  }

  std::pair<std::vector<const MfmcLaw*>, std::vector<std::size_t>> read_laws(const OndeGroup& ultrasonic, OndeLaws& laws) {
    const auto item_of = [&](const char* name) {
      Hdf5Item item = ultrasonic.require(name);
      if (item.points() != file_a_scans()) {
        throw InputError(item.where(), fmt::format("shape {}", shape_text(item.shape())),
                         fmt::format("{}, a law for each A-scan of a dataframe", file_a_scans()));
      }
      return item;
    };
    const Hdf5Item transmit_item = item_of("ONDE_ULTRASONIC_SETUP:TRANSMIT_LAW");
    const Hdf5Item receive_item = item_of("ONDE_ULTRASONIC_SETUP:RECEIVE_LAW");
    const std::vector<hobj_ref_t> transmit_references = laws.read(transmit_item);
    const std::vector<hobj_ref_t> receive_references = laws.read(receive_item);
    if (laws.count_from_one()) notes_.emplace_back("elements count from 0");
    std::vector<std::size_t> receive;
    for (const hobj_ref_t reference : receive_references) {
      const MfmcLaw& law = laws.of(reference);
      if (!is_one_element(law)) {
        throw InputError(laws.name_of(receive_item, reference),
                         law.entries.size() > 1 ? fmt::format("{} elements at work in a receive law", law.entries.size())
                                                : fmt::format("a delay of {:.6g} s in a receive law", law.entries.front().delay),
                         "one element without delay (sums over receivers are not supported)");
      }
      receive.push_back(law.entries.front().element - 1);
    }
    for (const hobj_ref_t reference : transmit_references) laws_.emplace(reference, laws.of(reference));
    std::vector<const MfmcLaw*> transmit;
    for (const hobj_ref_t reference : transmit_references) transmit.push_back(&laws_.at(reference));
    return {std::move(transmit), std::move(receive)};
  }

  void read_probe(const OndeGroup& group, const RecordingOptions& options) {
    OndeProbe found = read_onde_probe(group, options.limits.elements);
    own_ = std::move(found.probe);
    wedge_velocity_ = found.coupling_velocity;
    on_wedge_ = found.on_wedge;
    notes_.insert(notes_.end(), found.notes.begin(), found.notes.end());
  }

  static void require_above_part(const Probe& probe, const std::string& where, std::optional<std::size_t> frame) {
    const auto refuse = [&](std::size_t k, const std::string& found, const char* expected) {
      throw InputError(fmt::format("{}{}, element {}", where, frame ? fmt::format(", frame {}", *frame) : "", k + 1), found,
                       expected);
    };
    for (std::size_t k = 0; k < probe.elements.size(); ++k) {
      const Element& element = probe.elements[k];
      if (const double z = element.centre.z.value; !(z <= surface_rounding))
        refuse(k, fmt::format("z = {:.6g} m", z), "z <= 0, on or above the surface");
      if (!(element.normal.z > 0.0))
        refuse(k, fmt::format("emission towards z = {:.3g}", element.normal.z), "emission into the part (+z)");
    }
  }

  /// Reads the trajectory's coordinate frame for each data frame, and the probe's coordinate frame in it.
  void read_places(const OndeGroup& geometric, std::size_t probe, std::size_t probes) {
    OndeFrame offset;
    if (const auto item = geometric.find("ONDE_GEOMETRIC_SETUP:PROBE_COORDINATE_FRAME")) {
      if (item->points() != probes * numbers_of_frame)
        throw InputError(item->where(), fmt::format("shape {}", shape_text(item->shape())), fmt::format("{} x 7", probes));
      const std::vector<double> numbers = item->numbers();
      offset = onde_frame(std::span(numbers).subspan(probe * numbers_of_frame, numbers_of_frame), item->where());
    }
    const Hdf5Item trajectories = geometric.require("ONDE_GEOMETRIC_SETUP:ACQUISITION_TRAJECTORY");
    const std::vector<hobj_ref_t> references = trajectories.references();
    if (references.size() != probes)
      throw InputError(trajectories.where(), fmt::format("{} trajectories", references.size()),
                       fmt::format("{}, as probes", probes));
    const OndeGroup trajectory(open_reference(trajectories, references[probe]), trajectories.where());
    const auto item = trajectory.find("ONDE_SPATIAL_TRAJECTORY:TRAJECTORY");
    Pose first = pose_of(offset);
    if (item) {
      const bool one = item->points() == numbers_of_frame;
      if (!one && item->points() / numbers_of_frame != frames_) {
        throw InputError(item->where(), fmt::format("shape {}", shape_text(item->shape())),
                         fmt::format("{} x 7, a frame each", frames_));
      }
      if (item->points() % numbers_of_frame != 0)
        throw InputError(item->where(), fmt::format("shape {}", shape_text(item->shape())), "seven numbers a frame");
      const std::vector<double> numbers = item->numbers();
      bool moves = false;
      for (std::size_t k = 0; k < numbers.size() / numbers_of_frame; ++k) {
        const std::string where = fmt::format("{}, frame {}", item->where(), k);
        const OndeFrame at =
            within(onde_frame(std::span(numbers).subspan(k * numbers_of_frame, numbers_of_frame), where), offset);
        if (!(length(at.origin) <= farthest_on_way))
          throw InputError(where, fmt::format("a place {:g} m off", length(at.origin)),
                           fmt::format("at most {:g}", farthest_on_way));
        poses_.push_back(pose_of(at));
        moves = moves || poses_.back() != poses_.front();
      }
      first = poses_.front();
      if (!moves) poses_.clear();
    }
    acquisition_.probe = placed(own_, first);
    if (!poses_.empty()) {
      for (std::size_t frame = 0; frame < poses_.size(); ++frame)
        require_above_part(placed(own_, poses_[frame]), item->where(), frame);
      notes_.push_back(fmt::format("the probe takes {} places", poses_.size()));
      return;
    }
    require_above_part(acquisition_.probe, geometric.where(), {});
    const bool on_surface = std::ranges::all_of(
        acquisition_.probe.elements, [](const Element& element) { return element.centre.z.value > -surface_rounding; });
    if (on_wedge_ && on_surface) {
      warnings_.push_back(fmt::format(
          "{}: a wedge or water, and a probe that its trajectory puts on the part's surface: nothing says how far it is",
          geometric.where()));
    }
  }

  void read_velocities(const OndeGroup& geometric) {
    const auto component = geometric.follow_if_there("ONDE_GEOMETRIC_SETUP:COMPONENT");
    if (!component) return;
    const auto item = component->find("ONDE_COMPONENT:VELOCITIES");
    if (!item) return;
    item->require_shape({2});
    const std::vector<double> velocities = item->numbers_or_nan();
    const auto velocity = [&](double value) {
      if (std::isnan(value)) return MetresPerSecond(0.0);
      if (!(value >= 0.0 && value <= most_component_velocity))
        throw InputError(item->where(), fmt::format("{:g} m/s", value),
                         fmt::format("0 to {:g}, or NaN", most_component_velocity));
      return MetresPerSecond(value);
    };
    material_.longitudinal_velocity = velocity(velocities[0]);
    material_.shear_velocity = velocity(velocities[1]);
    if (component->find("ONDE_COMPONENT:COMPONENT_FRAME")) notes_.emplace_back("the component's own frame is not applied");
  }

  [[nodiscard]] PairOrder order_of(const std::vector<const MfmcLaw*>& transmit, const std::vector<std::size_t>& receive,
                                   const OndeGroup& ultrasonic, const RecordingOptions& options) {
    const std::string where = ultrasonic.where() + " TRANSMIT_LAW, RECEIVE_LAW";
    if (std::ranges::all_of(transmit, [](const MfmcLaw* law) { return is_one_element(*law); })) {
      std::vector<std::size_t> firing;
      for (const MfmcLaw* const law : transmit) firing.push_back(law->entries.front().element - 1);
      PairOrder order = order_pairs(firing, receive, own_.elements.size(), where);
      acquisition_.matrix = order.matrix;
      acquisition_.events = order.events;
      if (const auto note = order.note(); !note.empty()) notes_.push_back(note);
      return order;
    }
    EventOrder events = order_events(transmit, receive, own_.elements.size(), false, options.limits.events, where);
    acquisition_.events = events.order.events;
    // Codes and single waves are recognized by the same rules as in MFMC files.
    settle_forms(acquisition_, events.laws);
    settle_code(acquisition_, events.laws);
    return std::move(events.order);
  }

  [[nodiscard]] Amplitudes read_amplitudes(const OndeGroup& dataset) {
    Amplitudes amplitudes{.as_counts = holds_counts(*data_)};
    const auto dimension = dataset.follow_if_there("ONDE_DATASET:AMPLITUDE_DIMENSION");
    if (!dimension) return amplitudes;
    const auto number = [&](const char* name, double otherwise) {
      return dimension->find(name) ? dimension->number(name, -1e12, 1e12) : otherwise;
    };
    amplitudes.scale = number("ONDE_DIMENSION:SCALE", 1.0);
    const double offset = number("ONDE_DIMENSION:OFFSET", 0.0);
    if (!(std::abs(amplitudes.scale) > least_scale))
      throw InputError(dimension->where(), fmt::format("a SCALE of {:g}", amplitudes.scale),
                       fmt::format("a number beyond {:g}", least_scale));
    amplitudes.zero = -offset / amplitudes.scale;
    amplitudes.as_counts = amplitudes.as_counts && offset == 0.0;
    if (amplitudes.as_counts && amplitudes.scale != 1.0) notes_.push_back(fmt::format("one count is {:g}", amplitudes.scale));
    return amplitudes;
  }

  std::string file_name_;
  Hdf5Handle file_;
  std::optional<Hdf5Item> data_;
  std::optional<Hdf5Rows> rows_;
  std::size_t frames_ = 0;
  Probe own_;                // in its own coordinates
  std::vector<Pose> poses_;  // pose of each frame; empty if the probe stays
  bool on_wedge_ = false;    // whether the probe is on a wedge, or in water
  std::map<hobj_ref_t, MfmcLaw> laws_;
};

}  // namespace

constinit const RecordingFormat onde_format{
    .name = "ONDE",
    .meaning = "A-scans of version 0.9",
    .extensions = {".onde"},
    .packages = "libhdf5-dev",
    .page = "file_formats.md#onde",
    .fuzzers = {"onde_contents"},
    .open = open_by<OndeRecording>,
    .always_hdf5 = "an ONDE file (HDF5)",
    .try_reading = try_by<OndeRecording>,
    .trial_limits = mfmc_trial_limits,
    .writer = &onde_frames,
};

}  // namespace echoform::formats
