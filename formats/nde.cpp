// Reads Evident's .nde, version 4: HDF5 with a Setup in JSON (nde_setup.hpp), and FMC data as [positions..., stacked A-scans].
// The data is beam after beam, in each beam receiver after receiver, in each receiver sample after sample.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/hdf5_rows.hpp"
#include "formats/mat5_check.hpp"
#include "formats/mfmc_events.hpp"
#include "formats/mfmc_parts.hpp"
#include "formats/nde_setup.hpp"
#include "formats/ordered_recording.hpp"
#include "formats/recording_formats.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

constexpr std::size_t longest_setup = std::size_t{1} << 26;  // bytes
// Maximum difference, in samples, between ascanLength times the rate and the dataset: some files count intervals.
constexpr double same_stated_samples = 1.5;

class NdeRecording final : public OrderedRecording {
 public:
  NdeRecording(const InputFile& input, const RecordingOptions& options)
      : OrderedRecording(input.path(), "Evident NDE"), root_(input.name() + ": ") {
    const Hdf5Session session;
    file_ = open_hdf5(input);
    NdeCapture capture = read_setup(options);
    find_samples(capture);
    acquisition_.encoding = SampleEncoding::float32;
    acquisition_.sample_rate = Hertz(capture.sample_rate);
    acquisition_.start_time = Seconds(capture.start);
    acquisition_.probe = std::move(capture.probe);
    material_ = capture.material;
    wedge_velocity_ = capture.wedge_velocity;
    const Hdf5Item& data = *data_;
    const std::size_t a_scans = count_a_scans(capture);
    read_samples(capture, a_scans, options);
    PairOrder order = order_of(capture, options);
    acquisition_.matrix = order.matrix;
    acquisition_.events = order.events;
    if (const auto note = order.note(); !note.empty() && !waves_) notes_.push_back(note);
    validate(acquisition_, options.limits, input.name());
    const bool counts = holds_counts(data) && capture.zero == 0.0;
    rows_.emplace(data, FrameAxes::stacked, acquisition_.samples, counts);
    set_order(std::move(order), a_scans, {counts, capture.scale, capture.zero});
    step_ = capture.step;
    say(capture);
  }

  [[nodiscard]] std::size_t frames() const noexcept override { return rows_->frames(); }
  /// Positions along one line are counts of its step.
  [[nodiscard]] FrameStamp stamp(std::size_t frame) const override {
    FrameStamp stamp = Recording::stamp(frame);
    if (step_ != 0.0 && frames() > 1) stamp.position = static_cast<EncoderCount>(frame);
    return stamp;
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
  [[nodiscard]] NdeCapture read_setup(const RecordingOptions& options) const {
    const auto setup = find_at_path(file_, "/Public/Setup", root_);
    if (!setup) {
      const bool older = find_at_path(file_, "/Domain/Setup", root_).has_value();
      throw InputError(path_.string(), older ? "/Domain/Setup, of version 3" : "no /Public/Setup", "version 4 of the format");
    }
    return read_nde_setup(setup->text(longest_setup), setup->where(), options.sequence,
                          {.elements = options.limits.elements, .events = options.limits.events});
  }

  void find_samples(const NdeCapture& capture) {
    auto data = find_at_path(file_, capture.path, root_);
    if (!data) {
      throw InputError(path_.string(), fmt::format("no {}", printable(capture.path)),
                       fmt::format("the dataset of {}", capture.where));
    }
    if (data->is_attribute() || data->type_class() != Hdf5Class::number)
      throw InputError(data->where(), "something else than numbers", "A-scans");
    const std::vector<std::size_t>& shape = data->shape();
    if (shape.empty() || shape.size() > 3 || shape.back() == 0 ||
        (capture.dimensions != 0 && shape.size() != capture.dimensions)) {
      throw InputError(data->where(), fmt::format("shape {}", shape_text(shape)),
                       capture.dimensions == 0 ? "positions x stacked A-scans"
                                               : fmt::format("{} axes, as its dimensions say", capture.dimensions));
    }
    data_ = std::move(data);
  }

  [[nodiscard]] static std::size_t count_a_scans(const NdeCapture& capture) {
    std::size_t a_scans = 0;
    for (const NdeBeam& beam : capture.beams) a_scans += beam.receivers.size();
    return a_scans;
  }

  /// The dataset determines the number of samples, since files state different quantities for it.
  void read_samples(const NdeCapture& capture, std::size_t a_scans, const RecordingOptions& options) {
    const std::size_t stacked = data_->shape().back();
    if (stacked > options.limits.frame_bytes / sizeof(float)) {
      throw InputError(data_->where(), fmt::format("shape {}", shape_text(data_->shape())),
                       fmt::format("at most {} bytes a frame", options.limits.frame_bytes));
    }
    const double stated = capture.length * capture.sample_rate;
    acquisition_.samples = stacked / a_scans;
    if (stacked % a_scans != 0 || std::abs(static_cast<double>(acquisition_.samples) - stated) > same_stated_samples) {
      throw InputError(data_->where(), fmt::format("{} samples of {} A-scans", stacked, a_scans),
                       fmt::format("some {:.0f} each, as their ascanLength says", stated));
    }
  }

  [[nodiscard]] PairOrder order_of(const NdeCapture& capture, const RecordingOptions& options) {
    const std::string where = path_.string() + ", beams";
    std::vector<std::size_t> transmit;
    std::vector<std::size_t> receive;
    for (const NdeBeam& beam : capture.beams) {
      waves_ = waves_ || beam.pulsers.size() > 1 || std::abs(beam.pulsers.front().delay) > no_delay;
      for (const std::size_t receiver : beam.receivers) {
        transmit.push_back(beam.pulsers.front().element);
        receive.push_back(receiver);
      }
    }
    if (!waves_) return order_pairs(transmit, receive, acquisition_.elements(), where);
    std::vector<MfmcLaw> laws;
    for (const NdeBeam& beam : capture.beams) {
      MfmcLaw& law = laws.emplace_back();
      for (const NdeBeam::Pulser& pulser : beam.pulsers) law.entries.push_back({0, pulser.element + 1, pulser.delay, 1.0});
    }
    std::vector<const MfmcLaw*> law_of;
    for (std::size_t k = 0; k < capture.beams.size(); ++k)
      law_of.insert(law_of.end(), capture.beams[k].receivers.size(), &laws[k]);
    return order_events(law_of, receive, acquisition_.elements(), false, options.limits.events, where).order;
  }

  void say(const NdeCapture& capture) {
    notes_.insert(notes_.end(), capture.notes.begin(), capture.notes.end());
    warnings_.insert(warnings_.end(), capture.warnings.begin(), capture.warnings.end());
    if (capture.captures > 1) notes_.push_back(fmt::format("{} captures, this is {}", capture.captures, printable(capture.path)));
    if (!capture.unit.empty())
      notes_.push_back(fmt::format("amplitudes are {}", capture.unit == "Percent" ? "percent" : printable(capture.unit, 40)));
    if (step_ != 0.0 && frames() > 1) notes_.push_back(fmt::format("positions count steps of {:g} mm along u", 1e3 * step_));
    if (!as_counts() && holds_counts(*data_)) notes_.emplace_back("0 is no count of the samples, which become 32-bit floats");
  }

  std::string root_;  // for messages
  Hdf5Handle file_;
  std::optional<Hdf5Item> data_;
  std::optional<Hdf5Rows> rows_;
  bool waves_ = false;  // several elements fire at once, or with delays
  double step_ = 0.0;   // metres
};

}  // namespace

constinit const RecordingFormat nde_format{
    .name = "Evident NDE",
    .meaning = "FMC data of version 4",
    .extensions = {".nde"},
    .packages = "libhdf5-dev nlohmann-json3-dev",
    .page = "file_formats.md#evident-nde",
    .fuzzers = {"nde"},
    .open = open_by<NdeRecording>,
    .always_hdf5 = "an NDE file (HDF5)",
    .try_reading = try_by<NdeRecording>,
    .trial_limits = mfmc_trial_limits,
};

}  // namespace echoform::formats
