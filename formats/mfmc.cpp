// Reads MFMC 2.0 (HDF5): Multi-Frame Matrix Capture. A group is identified by its attribute TYPE alone; names and hierarchy are
// free, links are object references, indices count from 1, and shapes below are in C order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/mat5_check.hpp"
#include "formats/mfmc_check.hpp"
#include "formats/mfmc_encoder.hpp"
#include "formats/mfmc_events.hpp"
#include "formats/mfmc_face_echo.hpp"
#include "formats/mfmc_parts.hpp"
#include "formats/mfmc_placement.hpp"
#include "formats/mfmc_samples.hpp"
#include "formats/pair_order.hpp"
#include "formats/pulse_repetition.hpp"
#include "formats/recording_formats.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

/// Bytes of a recording's data that are read on trial. If it is longer, the frames read are spread evenly.
constexpr std::size_t trial_bytes = std::size_t{1} << 28;
// Maximum angle in degrees between a wedge's face and its placement: numbers of a drawing are rounded.
constexpr double most_face_tilt = 1.0;
// Maximum bytes of the frame that is read to find out whether its echoes agree with the wedge or with the placement.
constexpr std::size_t most_asked_bytes = std::size_t{1} << 28;

class MfmcRecording final : public Recording {
 public:
  MfmcRecording(const InputFile& input, const RecordingOptions& options)
      : Recording(input.path(), "MFMC"), file_name_(input.name()), read_ahead_(input) {
    const Hdf5Session session;
    file_ = open_hdf5(input);
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
    counts_ = read_encoder_counts(sequence_, where_, frames_);
    if (const std::size_t replaced = settle_forms(acquisition_, event_laws_); replaced > 0) {
      notes_.push_back(fmt::format("{} transmit laws are not the waves that they are said to be: their delays count", replaced));
    }
    if (!Hdf5Item::exists(sequence_, events_attribute) && settle_code(acquisition_, event_laws_)) {
      notes_.push_back("transmit laws without delays, from which single elements can be told, are rows of a code");
    }
    event_laws_.clear();
    laws_.clear();
    Acquisition checked = acquisition_;
    // Placements that lead around the part are not judged here, but where they are used.
    const auto away = [](const Element& element) { return !(element.normal.z > 0.0); };
    if (moves_ && std::ranges::any_of(checked.probe.elements, away)) checked.probe = unplaced_probe(probe_);
    validate(checked, options.limits, file_name_);
    if (contradicted_) ask_the_echoes();
  }

  [[nodiscard]] std::size_t frames() const noexcept override { return frames_; }

  [[nodiscard]] Probe probe(std::size_t frame) const override {
    if (frame >= frames_)
      throw InputError(file_name_, fmt::format("a request for frame {}", frame), fmt::format("0 to {}", frames_ - 1));
    if (!acquisition_.positions.empty()) return acquisition_.probe;
    return place_probe(probe_, placements_[frame_placements_[frame]], where_, moves_);
  }
  [[nodiscard]] std::optional<Pose> pose(std::size_t frame) const override {
    if (!moves_ || frame >= frames_) return {};
    return pose_of(placements_[frame_placements_[frame]], where_);
  }
  [[nodiscard]] Probe probe_at(const Pose& pose) const override {
    return moves_ ? place_probe(probe_, placement_of(pose), where_, true) : acquisition_.probe;
  }
  [[nodiscard]] bool placed_by_encoder() const override { return placed_by_encoder_; }

  [[nodiscard]] FrameStamp stamp(std::size_t frame) const override {
    FrameStamp stamp = Recording::stamp(frame);
    if (frame < counts_.size() && counts_[frame] != no_position) stamp.position = counts_[frame];
    return stamp;
  }

  void read_frame(std::size_t frame, std::span<float> samples) override {
    check_request(frame, samples.size());
    const std::size_t count = acquisition_.samples;
    if (as_counts_) {
      std::vector<std::int16_t> counts(samples.size());
      read_stored(frame, std::as_writable_bytes(std::span(counts)));
      const auto amplitude = [this](std::int16_t value) { return static_cast<float>(value) * sample_scale_; };
      std::transform(counts.begin(), counts.end(), samples.begin(), amplitude);
      return;
    }
    read_whole(frame, std::as_writable_bytes(samples));
    for (std::size_t a = 0; a < order_.source.size(); ++a) {
      if (order_.source[a] != PairOrder::none) scale_amplitudes(frame, order_.source[a], samples.subspan(a * count, count));
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
    check_request(frame, bytes.size() / sizeof(std::int16_t));
    read_whole(frame, bytes);
  }

  void read_rows(std::size_t frame, std::span<const RowRange> rows, std::span<std::byte> bytes) override {
    check_rows(frame, rows, bytes.size());
    const std::size_t row_bytes = samples_->row_bytes();
    for_each_run(rows, [&](std::size_t source, std::size_t count) {
      read_file_rows(frame, source, count, bytes.first(count * row_bytes));
      bytes = bytes.subspan(count * row_bytes);
    });
  }

  void expect_rows(std::size_t frame, std::span<const RowRange> rows) override {
    for_each_run(rows, [&](std::size_t source, std::size_t count) {
      if (source != PairOrder::none) samples_->expect(frame, source, count, read_ahead_);
    });
  }
  [[nodiscard]] std::size_t reading_bytes() const override { return samples_->reading_bytes(); }
  [[nodiscard]] std::size_t frame_reading_bytes() const override {
    return samples_->reading_bytes() + (in_order_ ? 0 : file_a_scans_ * samples_->row_bytes());
  }

  void try_frame(std::size_t frame) { samples_->try_frame(frame); }

 private:
  /// Calls use(source, count) for rows that are contiguous in the file too, from A-scan `source` of the file on. PairOrder::none
  /// stands for one A-scan that the file does not have.
  template <class Use>
  void for_each_run(std::span<const RowRange> rows, const Use& use) const {
    for (const RowRange& range : rows) {
      for (std::size_t a = range.first; a < range.first + range.count;) {
        const std::size_t source = order_.source[a];
        std::size_t count = 1;
        while (a + count < range.first + range.count && source != PairOrder::none && order_.source[a + count] == source + count)
          ++count;
        use(source, count);
        a += count;
      }
    }
  }

  /// Reads all rows of a frame as the file's numbers. It reads in the file's order, which may differ from the frame's.
  void read_whole(std::size_t frame, std::span<std::byte> bytes) {
    if (in_order_) return samples_->read(frame, 0, file_a_scans_, bytes);
    const std::size_t row_bytes = samples_->row_bytes();
    std::vector<std::byte> in_file(file_a_scans_ * row_bytes);
    samples_->read(frame, 0, file_a_scans_, in_file);
    for (std::size_t a = 0; a < order_.source.size(); ++a) {
      const auto target = bytes.subspan(a * row_bytes, row_bytes);
      if (order_.source[a] == PairOrder::none) {
        std::fill(target.begin(), target.end(), std::byte{0});
      } else {
        std::ranges::copy(std::span(in_file).subspan(order_.source[a] * row_bytes, row_bytes), target.begin());
      }
    }
  }

  /// Reads `count` A-scans of the file from `source` on, in the encoding of stored(). PairOrder::none gives zeros.
  void read_file_rows(std::size_t frame, std::size_t source, std::size_t count, std::span<std::byte> to) {
    if (source == PairOrder::none) {
      std::fill(to.begin(), to.end(), std::byte{0});
      return;
    }
    samples_->read(frame, source, count, to);
    for (std::size_t k = 0; k < count && !as_counts_; ++k) {
      const auto row = to.subspan(k * samples_->row_bytes(), samples_->row_bytes());
      scale_amplitudes(frame, source + k, {reinterpret_cast<float*>(row.data()), acquisition_.samples});
    }
  }

  /// Converts the numbers of A-scan `source` of the file to amplitudes. Throws InputError for one that is not finite.
  void scale_amplitudes(std::size_t frame, std::size_t source, std::span<float> samples) const {
    for (std::size_t n = 0; n < samples.size(); ++n) {
      if (!std::isfinite(samples[n])) {
        throw InputError(fmt::format("{}, frame {}, A-scan {}, sample {}", data_->where(), frame, source + 1, n + 1),
                         fmt::format("{}", samples[n]), "finite samples");
      }
      samples[n] *= sample_scale_;
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
    // Samples that fit in 16 bits with a sign are kept as counts.
    as_counts_ = whole && (bytes == 1 || (bytes == 2 && H5Tget_sign(type.id()) != H5T_SGN_NONE));
    samples_.emplace(*data_, as_counts_);
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
    if (Hdf5Item::find(sequence_, pulse_repetition_attribute, where_))
      take_pulse_repetition(number(pulse_repetition_attribute), fmt::format("{}/{}", where_, pulse_repetition_attribute),
                            acquisition_, warnings_);
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

  /// Reads both laws of every A-scan. Returns the index in PROBE_LIST of the only probe in use.
  std::size_t read_laws(const RecordingOptions& options) {
    const Hdf5Item probe_list = Hdf5Item::require(sequence_, "PROBE_LIST", where_);
    const auto probes = probe_list.references();
    if (probe_list.shape().size() > 1 || probes.empty())
      throw InputError(probe_list.where(), fmt::format("shape {}", shape_text(probe_list.shape())), "a list of probes");
    probes_used_ = probes.size();
    for (const auto reference : probes) require_mfmc_type(open_reference(probe_list, reference), "PROBE", probe_list, file_name_);

    std::optional<hobj_ref_t> used;
    const auto require_laws = [&](const char* name) {
      Hdf5Item item = Hdf5Item::require(sequence_, name, where_);
      item.require_shape({file_a_scans_});
      return item;
    };
    const auto laws_of = [&](const Hdf5Item& item, const std::vector<hobj_ref_t>& references) {
      std::vector<const MfmcLaw*> laws;
      laws.reserve(file_a_scans_);
      for (const auto reference : references) {
        auto found = laws_.find(reference);
        if (found == laws_.end()) {
          const Hdf5Handle group = open_reference(item, reference);
          require_mfmc_type(group, "LAW", item, file_name_);
          found = laws_.emplace(reference, read_mfmc_law(group, file_name_)).first;
          for (const MfmcLaw::Entry& entry : found->second.entries) {
            if (used.value_or(entry.probe) != entry.probe) {
              throw InputError(fmt::format("{}: {}", file_name_, hdf5_name(group)), "a second probe",
                               "one probe that transmits and receives (pitch-catch is not supported yet)");
            }
            used = entry.probe;
          }
        }
        laws.push_back(&found->second);
      }
      return laws;
    };
    const Hdf5Item transmit_item = require_laws("TRANSMIT_LAW");
    const auto transmit = laws_of(transmit_item, transmit_item.references());
    const Hdf5Item receive_item = require_laws("RECEIVE_LAW");
    const auto receive_references = receive_item.references();
    std::vector<std::size_t> receive;
    receive.reserve(file_a_scans_);
    for (const MfmcLaw* const law : laws_of(receive_item, receive_references)) {
      if (!is_one_element(*law)) {
        const Hdf5Handle group = open_reference(receive_item, receive_references[receive.size()]);
        throw InputError(fmt::format("{}: {}", file_name_, hdf5_name(group)),
                         law->entries.size() != 1
                             ? fmt::format("{} elements at work in a receive law", law->entries.size())
                             : fmt::format("a delay of {:.6g} s in a receive law", law->entries.front().delay),
                         "one element without delay (sums over receivers are not supported)");
      }
      receive.push_back(law->entries.front().element - 1);
    }

    const auto place = std::find(probes.begin(), probes.end(), *used);
    if (place == probes.end()) throw InputError(where_, "laws for a probe that is not in PROBE_LIST", "laws for its probes");
    probe_ = read_mfmc_probe(open_reference(probe_list, *used), file_name_);
    if (probe_.elements.size() > options.limits.elements) {
      throw InputError(fmt::format("{}: {}", file_name_, probe_.name), fmt::format("{} elements", probe_.elements.size()),
                       fmt::format("at most {}", options.limits.elements));
    }
    order_a_scans(transmit, receive, options);
    return static_cast<std::size_t>(place - probes.begin());
  }

  /// PROBE_PLACEMENT_INDEX of the first frame; empty if one placement serves the whole frame.
  [[nodiscard]] std::vector<std::size_t> first_placements() const {
    const Hdf5Item index = Hdf5Item::require(sequence_, "PROBE_PLACEMENT_INDEX", where_);
    // The shape is checked where all of the item is read.
    if (index.shape().size() != 2 || index.shape()[0] == 0 || index.shape()[1] != file_a_scans_) return {};
    const Hdf5Item position = Hdf5Item::require(sequence_, "PROBE_POSITION", where_);
    if (position.shape().empty()) return {};
    std::vector<std::size_t> first;
    index.for_indices(1, position.shape()[0], 1, [&](std::size_t, std::span<const std::size_t> indices) {
      const auto of_frame = indices.first(file_a_scans_);
      if (std::ranges::any_of(of_frame, [&](std::size_t placement) { return placement != of_frame.front(); })) {
        first.assign(of_frame.begin(), of_frame.end());
      }
    });
    return first;
  }

  /// Orders the A-scans. Elements that fire one after the other are a matrix or sparse firings, unless the file states that they
  /// are events.
  void order_a_scans(const std::vector<const MfmcLaw*>& transmit, const std::vector<std::size_t>& receive,
                     const RecordingOptions& options) {
    const std::size_t elements = probe_.elements.size();
    const std::string where = where_ + " TRANSMIT_LAW, RECEIVE_LAW";
    const bool by_law = Hdf5Item::exists(sequence_, events_attribute);
    // Positions of the probe within a frame, in the order of the file's placements. So a user who names a position by its number
    // finds the one that was written with that number, whichever was fired first.
    first_placements_ = first_placements();
    for (const std::size_t placement : first_placements_) {
      const auto place = std::ranges::lower_bound(position_placements_, placement);
      if (place != position_placements_.end() && *place == placement) continue;
      position_placements_.insert(place, placement);
      if (position_placements_.size() > options.limits.positions) {
        throw InputError(where_ + " PROBE_PLACEMENT_INDEX", "more positions of the probe within a frame than that",
                         fmt::format("at most {}", options.limits.positions));
      }
    }
    std::vector<std::uint32_t> positions;
    positions.reserve(first_placements_.size());
    for (const std::size_t placement : first_placements_) {
      const auto place = std::ranges::lower_bound(position_placements_, placement);
      positions.push_back(static_cast<std::uint32_t>(place - position_placements_.begin()));
    }
    if (positions.empty() && !by_law && std::ranges::all_of(transmit, [](const MfmcLaw* law) { return is_one_element(*law); })) {
      std::vector<std::size_t> firing;
      firing.reserve(transmit.size());
      for (const MfmcLaw* const law : transmit) firing.push_back(law->entries.front().element - 1);
      order_ = order_pairs(firing, receive, elements, where);
    } else {
      EventOrder events = order_events(transmit, receive, elements, by_law, options.limits.events, where, positions);
      order_ = std::move(events.order);
      event_laws_ = std::move(events.laws);
    }
    in_order_ = order_.source.size() == file_a_scans_;
    for (std::size_t a = 0; a < order_.source.size() && in_order_; ++a) in_order_ = order_.source[a] == a;
    acquisition_.matrix = order_.matrix;
    acquisition_.events = order_.events;
    if (const auto note = order_.note(); event_laws_.empty() && !note.empty()) notes_.push_back(note);
    count_dead(transmit, receive);
  }

  /// Counts the dead elements. Their A-scans are passed on as they are: imaging leaves them out, unless the user states that an
  /// element lives.
  void count_dead(const std::vector<const MfmcLaw*>& transmit, const std::vector<std::size_t>& receive) {
    std::size_t dead = 0;
    for (const auto source : order_.source) {
      if (source == PairOrder::none) continue;
      const auto& fire = transmit[source]->entries;
      const bool silent =
          std::ranges::all_of(fire, [this](const MfmcLaw::Entry& entry) { return probe_.elements[entry.element - 1].dead; });
      dead += silent || probe_.elements[receive[source]].dead ? 1 : 0;
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
    placed_by_encoder_ = Hdf5Item::exists(sequence_, placed_by_encoder_attribute);
    const auto vectors = [&](const char* name) {
      const Hdf5Item item = Hdf5Item::require(sequence_, name, where_);
      // A writer that places each frame adds the directions before the position.
      const bool longer = is_unfinished(file_) && item.shape().size() == 3 && item.shape()[0] > shape[0];
      item.require_shape({longer ? item.shape()[0] : shape[0], shape[1], shape[2]});
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

    std::vector<bool> used(placements_.size(), false);
    std::vector<std::size_t> in_use;  // in the order of their first frames
    bool backwards_asked = false;
    double tilt = 0.0;  // the maximum
    bool lacking = false;
    const auto check_placement = [&](std::size_t b) {
      const std::string name = fmt::format("{}, placement {}", where_, b + 1);
      // One choice serves all placements: if they contradict each other, place_probe() refuses one.
      if (!std::exchange(backwards_asked, true) && emission_is_backwards(probe_, placements_[b], name)) {
        turn_emission(probe_);
        notes_.emplace_back(
            "ELEMENT_MAJOR x ELEMENT_MINOR points along -z of the probe: its elements are taken to emit along +z");
      }
      static_cast<void>(place_probe(probe_, placements_[b], name, moves_));
      if (!lacks_direction(placements_[b])) {
        tilt = std::max(tilt, face_tilt(probe_, placements_[b], name));
      } else if (!std::exchange(lacking, true)) {
        notes_.emplace_back("PROBE_X_DIRECTION or PROBE_Y_DIRECTION is zero: the probe's z is taken to point into the part");
      }
    };
    const auto use = [&](std::size_t b) {
      if (!used[b]) in_use.push_back(b);
      used[b] = true;
    };
    const Hdf5Item index = Hdf5Item::require(sequence_, "PROBE_PLACEMENT_INDEX", where_);
    // A writer places a frame before it adds the samples.
    const bool longer = is_unfinished(file_) && index.shape().size() == 2 && index.shape()[0] > frames_;
    index.require_shape({longer ? index.shape()[0] : frames_, file_a_scans_});
    // The item grows with the recording, by every A-scan; only one value a frame is kept.
    index.for_indices(1, placements_.size(), frames_, [&](std::size_t frame, std::span<const std::size_t> indices) {
      for (; !indices.empty(); indices = indices.subspan(file_a_scans_), ++frame) {
        const std::size_t first = indices.front();
        const auto of_frame = indices.first(file_a_scans_);
        if (!first_placements_.empty()) {
          if (std::ranges::equal(of_frame, first_placements_)) continue;
          throw InputError(fmt::format("{}, frame {}", index.where(), frame),
                           "other positions of the probe than in the first frame",
                           "the same in all frames, or one placement a frame");
        }
        if (std::any_of(of_frame.begin(), of_frame.end(), [&](std::size_t placement) { return placement != first; })) {
          throw InputError(fmt::format("{}, frame {}", index.where(), frame), "a probe that moves within the frame",
                           "one placement a frame");
        }
        frame_placements_.push_back(first);
        use(first);
      }
    });
    moves_ = in_use.size() > 1 || (placed_by_encoder_ && !in_use.empty());
    for (const std::size_t placement : in_use) check_placement(placement);
    for (const std::size_t placement : position_placements_) {
      if (probe_.wedge_face) {
        throw InputError(fmt::format("{}, {}", where_, probe_.name), "a wedge, and several positions of the probe within a frame",
                         "one placement a frame");
      }
      check_placement(placement);
      use(placement);
      acquisition_.positions.push_back(pose_of(placements_[placement], fmt::format("{}, placement {}", where_, placement + 1)));
    }
    acquisition_.probe = position_placements_.empty() ? probe(0) : unplaced_probe(probe_);
    if (tilt > most_face_tilt) {
      warnings_.push_back(
          fmt::format("{}, {}: PROBE_X_DIRECTION and PROBE_Y_DIRECTION put the wedge's face {:.3g} degrees off the "
                      "part's surface, WEDGE_SURFACE_NORMAL says that this face lies on it: the wedge counts",
                      where_, probe_.name, tilt));
      contradicted_ = true;
    }
    if (probe_.wedge_face) {
      const Point& first = acquisition_.probe.elements.front().centre;
      const Point& last = acquisition_.probe.elements.back().centre;
      notes_.push_back(
          fmt::format("the wedge's face puts the aperture's middle {:.4g} mm above the part, turned by {:.3g} degrees",
                      -500.0 * (first.z + last.z).value,
                      std::atan2((last.z - first.z).value, (last.x - first.x).value) * 180.0 / std::numbers::pi));
    }
    if (!position_placements_.empty()) {
      notes_.push_back(fmt::format("{} positions of the probe in each frame", position_placements_.size()));
    } else if (in_use.size() > 1) {
      notes_.push_back(fmt::format("the probe takes {} places", in_use.size()));
    }
  }

  /// Adds a warning that states whether the echoes of frame 0 agree with the wedge or with the placement.
  void ask_the_echoes() {
    if (!(wedge_velocity_.value > 0.0) || acquisition_.frame_bytes() > most_asked_bytes) return;
    MfmcProbe off_the_wedge = probe_;
    off_the_wedge.wedge_face.reset();
    try {
      std::vector<float> samples(acquisition_.a_scans() * acquisition_.samples);
      read_frame(0, samples);
      const Probe stated = place_probe(off_the_wedge, placements_[frame_placements_[0]], where_, true);
      const auto by_wedge = face_semblance(acquisition_, acquisition_.probe, wedge_velocity_, samples);
      const auto by_placement = face_semblance(acquisition_, stated, wedge_velocity_, samples);
      warnings_.push_back(
          fmt::format("{}, {}: {}", where_, probe_.name, face_proposal(by_wedge, by_placement, acquisition_.probe, stated)));
    } catch (const InputError&) {  // damage is reported when the data is asked for
    }
  }

  std::string file_name_;
  Hdf5Handle file_;
  Hdf5Handle sequence_;
  std::string where_;  // name of file and sequence
  std::optional<Hdf5Item> data_;
  std::optional<MfmcSamples> samples_;
  ReadAhead read_ahead_;
  double scale_ = 1.0;         // amplitude of one count
  float sample_scale_ = 1.0F;  // the same in single precision
  bool as_counts_ = false;     // int16 holds the stored samples
  std::size_t frames_ = 0;
  std::size_t file_a_scans_ = 0;
  std::size_t probes_used_ = 0;
  MfmcProbe probe_;
  std::vector<MfmcPlacement> placements_;
  std::vector<std::size_t> frame_placements_;
  bool contradicted_ = false;                     // the placement contradicts the wedge's face
  bool moves_ = false;                            // frames have places of their own
  bool placed_by_encoder_ = false;                // the file states it
  std::vector<std::size_t> first_placements_;     // of the first frame's A-scans; empty if the probe stays within frames
  std::vector<std::size_t> position_placements_;  // index: position within a frame
  std::vector<EncoderCount> counts_;              // encoder count of each frame; may end before the last frame
  std::map<hobj_ref_t, MfmcLaw> laws_;            // filled only while the file is opened
  std::vector<const MfmcLaw*> event_laws_;        // filled likewise; empty unless events are read from laws
  PairOrder order_;
  bool in_order_ = false;  // A-scans of a frame lie in the file as they do in memory
};

}  // namespace

constinit const RecordingFormat mfmc_format{
    .name = "MFMC",
    .meaning = "Multi-Frame Matrix Capture 2.0",
    .extensions = {mfmc_extension},
    .packages = "libhdf5-dev libeigen3-dev",
    .page = "command-line.md#record-capture-inspect-convert",
    .fuzzers = {"mfmc_file", "mfmc_contents"},
    .open = open_by<MfmcRecording>,
    .always_hdf5 = "an MFMC file (HDF5)",
    .mark = Hdf5Mark{"TYPE", 2, [](const Hdf5Handle& file) { return Hdf5Item::exists(file, "TYPE"); }},
    .try_reading =
        [](const InputFile& file, const RecordingOptions& options) {
          MfmcRecording recording(file, options);
          const std::size_t budget = trial_bytes / recording.stored().frame_bytes();
          const std::size_t step = recording.frames() / std::max<std::size_t>(budget, 2) + 1;
          for (std::size_t frame = 0; frame < recording.frames(); frame += step) recording.try_frame(frame);
        },
    .trial_limits = mfmc_trial_limits,
    .writer = &mfmc_frames,
};

}  // namespace echoform::formats
