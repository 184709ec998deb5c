#include "offline/recorded_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "acquisition/pose.hpp"
#include "base/directions.hpp"
#include "base/errors.hpp"
#include "methods/overrides.hpp"
#include "methods/scan_settings.hpp"

namespace echoform {
namespace {

/// Rounding, in metres, of the numbers that place a probe. It must not become part of every element's place.
constexpr double rounding = 1e-12;
/// The unit of counts that are derived from places alone: nanometres.
constexpr Metres exact_count(1e-9);

using Counts = std::vector<std::optional<EncoderCount>>;

/// Frames of another recording with a probe that does not move, and with counts that state where it was.
class ScanOfPlaces final : public Recording {
 public:
  ScanOfPlaces(std::unique_ptr<Recording> frames, Probe probe, Counts counts, const std::string& warning)
      : Recording({}, {}), frames_(std::move(frames)), counts_(std::move(counts)) {
    acquisition_ = frames_->acquisition();
    acquisition_.probe = std::move(probe);
    material_ = frames_->material();
    wedge_velocity_ = frames_->wedge_velocity();
    warnings_ = frames_->warnings();
    if (!warning.empty()) warnings_.push_back(warning);
  }

  [[nodiscard]] std::size_t frames() const noexcept override { return frames_->frames(); }
  void read_frame(std::size_t frame, std::span<float> samples) override { frames_->read_frame(frame, samples); }
  [[nodiscard]] Acquisition stored() const override {
    Acquisition stored = frames_->stored();
    stored.probe = acquisition_.probe;
    return stored;
  }
  void read_stored(std::size_t frame, std::span<std::byte> bytes) override { frames_->read_stored(frame, bytes); }
  void read_rows(std::size_t frame, std::span<const RowRange> rows, std::span<std::byte> bytes) override {
    frames_->read_rows(frame, rows, bytes);
  }
  void expect_rows(std::size_t frame, std::span<const RowRange> rows) override { frames_->expect_rows(frame, rows); }
  [[nodiscard]] std::size_t reading_bytes() const override { return frames_->reading_bytes(); }
  [[nodiscard]] std::size_t frame_reading_bytes() const override { return frames_->frame_reading_bytes(); }
  [[nodiscard]] FrameStamp stamp(std::size_t frame) const override {
    FrameStamp stamp = frames_->stamp(frame);
    stamp.position = frame < counts_.size() ? counts_[frame] : std::nullopt;
    return stamp;
  }
  [[nodiscard]] std::string describe() const override { return frames_->describe(); }
  [[nodiscard]] std::string name() const override { return frames_->name(); }

 private:
  std::unique_ptr<Recording> frames_;
  Counts counts_;
};

/// Places of the probe along the path, as the file states them.
class FramePlaces {
 public:
  FramePlaces(const Recording& recording, const Configuration& configuration)
      : recording_(recording), scan_(section<ScanSection>(configuration)) {
    for (std::size_t frame = 0; frame < recording.frames(); ++frame) {
      stated_.push_back(recording.stamp(frame).position);
      const bool known = !recording.placed_by_encoder() || stated_.back();
      ways_.push_back(known ? std::optional(way_of(scan_, *recording.pose(frame))) : std::nullopt);
      if (known && !home_) home_ = at_rest(*recording.pose(frame), *ways_.back());
    }
    if (!home_) home_.emplace();  // no place is known
    probe_ = recording.probe_at(*home_);
    Acquisition placed = recording.acquisition();
    placed.probe = probe_;
    Material material = recording.material();
    std::vector<std::string> notes;
    apply_overrides(configuration, placed, material, notes);
    length_ = length_of_way(configuration, placed.probe);
    for (std::size_t frame = 0; frame < recording.frames(); ++frame) require_on_path(frame);
  }

  [[nodiscard]] const Probe& probe() const { return probe_; }
  [[nodiscard]] const Counts& stated() const { return stated_; }
  [[nodiscard]] std::optional<Metres> s(std::size_t frame) const {
    return ways_[frame] ? std::optional(*ways_[frame] * length_) : std::nullopt;
  }
  [[nodiscard]] bool any_stated() const {
    return std::any_of(stated_.begin(), stated_.end(), [](const auto& count) { return count.has_value(); });
  }

  /// The distance of two places; on a circle, it is along the shorter arc.
  [[nodiscard]] double apart(Metres a, Metres b) const {
    const double way = (a - b).value;
    return std::abs(scan_.path == ScanPath::circle ? std::remainder(way, 2.0 * std::numbers::pi * length_.value) : way);
  }
  /// The first frame whose count leads to another place, or that has a place and no count. Nothing if the counts explain all
  /// places.
  [[nodiscard]] std::optional<std::size_t> contradicted(const EncoderScale& scale) const {
    for (std::size_t frame = 0; frame < stated_.size(); ++frame) {
      if (!ways_[frame]) continue;
      if (!stated_[frame] || !(apart(scale.position(*stated_[frame]), *s(frame)) <= scan_.tolerance.value)) return frame;
    }
    return {};
  }

 private:
  /// The pose moved back by `way` along the path.
  [[nodiscard]] Pose at_rest(const Pose& pose, double way) const {
    const Pose home = moved(pose, motion_by(scan_, -way));
    const Pose own;
    const auto near = [](const Direction& a, const Direction& b) {
      return length(Direction{a.x - b.x, a.y - b.y, a.z - b.z}) < rounding;
    };
    const bool there = length(between(own.origin, home.origin)) < rounding && near(home.x, own.x) && near(home.y, own.y);
    return there ? own : home;
  }

  void require_on_path(std::size_t frame) const {
    if (!ways_[frame]) return;
    const Probe expected = moved(probe_, motion_by(scan_, *ways_[frame]));
    const Probe found = recording_.probe(frame);
    double beside = 0.0;
    double turned = 0.0;
    for (std::size_t k = 0; k < found.elements.size(); ++k) {
      beside = std::max(beside, length(between(expected.elements[k].centre, found.elements[k].centre)));
      const double sine = length(cross(expected.elements[k].normal, found.elements[k].normal));
      turned = std::max(turned, std::atan2(sine, dot(expected.elements[k].normal, found.elements[k].normal)));
    }
    const std::string where = fmt::format("{}: frame {}", recording_.name(), frame);
    if (!(beside <= scan_.tolerance.value)) {
      throw InputError(where, fmt::format("a placement {:.4g} mm beside the path of [scan]", 1e3 * beside),
                       fmt::format("at most {:.4g} mm ([scan] tolerance), with the probe as the first frame has it",
                                   1e3 * scan_.tolerance.value));
    }
    const double degrees = turned * 180.0 / std::numbers::pi;
    if (degrees > most_place_turn) {
      throw InputError(where, fmt::format("a probe turned {:.3g} degrees from where the path of [scan] has it", degrees),
                       fmt::format("at most {:.3g}", most_place_turn));
    }
  }

  const Recording& recording_;
  const ScanSection scan_;
  Counts stated_;
  std::vector<std::optional<double>> ways_;  // nothing where unknown
  std::optional<Pose> home_;
  Probe probe_;
  Metres length_;
};

Counts counts_of(const FramePlaces& places, const Configuration& configuration, PlacedCounts wish, const std::string& name) {
  const EncoderScale scale = encoder_scale(configuration);
  const Metres tolerance = section<ScanSection>(configuration).tolerance;
  Counts counts(places.stated().size());
  for (std::size_t frame = 0; frame < counts.size(); ++frame) {
    const auto s = places.s(frame);
    if (!s) continue;
    counts[frame] = std::llround((*s - scale.origin) / scale.per_count);
    const double off = places.apart(scale.position(*counts[frame]), *s);
    if (wish == PlacedCounts::exact || off <= tolerance.value) continue;
    throw InputError(configuration.place("[scan] encoder_step"),
                     fmt::format("{:g} m, of which no count is where {} has frame {}: {:.4g} mm off", scale.per_count.value, name,
                                 frame, 1e3 * off),
                     fmt::format("a step that comes within {:.4g} mm ([scan] tolerance)", 1e3 * tolerance.value));
  }
  return counts;
}

/// Text about the first frame whose encoder count leads to another place than its placement; empty where there is none.
std::string disagreement(const Recording& recording, const FramePlaces& places, const EncoderScale& scale) {
  const auto frame = places.contradicted(scale);
  if (!frame || !places.any_stated()) return {};
  const auto& count = places.stated()[*frame];
  return fmt::format(
      "{}: frame {}: {}", recording.name(), *frame,
      count ? fmt::format("the encoder's count {} is {:.4g} mm along the path of [scan] from where the file places the probe",
                          *count, 1e3 * places.apart(scale.position(*count), *places.s(*frame)))
            : std::string("others have a count of the encoder, and this one has none"));
}

/// Uses the counts where placements were made of them, perhaps by another day's path: the counts are the measured values.
std::unique_ptr<Recording> by_counts(std::unique_ptr<Recording> recording, const Configuration& configuration) {
  std::string warning;
  try {
    warning = disagreement(*recording, FramePlaces(*recording, configuration), encoder_scale(configuration));
  } catch (const InputError& error) {
    warning = error.what();
  }
  if (!warning.empty()) warning += ": the counts count, of which its placements were made";
  Counts counts(recording->frames());
  for (std::size_t frame = 0; frame < counts.size(); ++frame) counts[frame] = recording->stamp(frame).position;
  Probe probe = recording->probe_at(Pose{});
  return std::make_unique<ScanOfPlaces>(std::move(recording), std::move(probe), std::move(counts), warning);
}

}  // namespace

void follow_path(std::unique_ptr<Recording>& recording, Configuration& configuration, PlacedCounts wish) {
  if (!scans(configuration) || !recording->pose(0)) return;
  check_scan_path(configuration);
  if (recording->placed_by_encoder()) {
    recording = by_counts(std::move(recording), configuration);
    return;
  }
  const FramePlaces places(*recording, configuration);
  const EncoderScale scale = encoder_scale(configuration);
  Counts counts = places.stated();
  std::string warning;
  if (places.contradicted(scale)) {
    warning = disagreement(*recording, places, scale);
    if (!warning.empty()) warning += ": the placements count for all frames";
    if (wish == PlacedCounts::exact) {
      ScanSection& scan = section<ScanSection>(configuration);
      scan.step = scan.step.value_or(scan.encoder_step);
      scan.origin = Metres(0.0);
      scan.sign = 1.0;
      scan.encoder_step = exact_count;
    }
    counts = counts_of(places, configuration, wish, recording->name());
  }
  recording = std::make_unique<ScanOfPlaces>(std::move(recording), places.probe(), std::move(counts), warning);
}

}  // namespace echoform
