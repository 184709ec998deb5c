#include "offline/recorded_positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "acquisition/sample_encodings.hpp"
#include "base/errors.hpp"
#include "config/probe_positions.hpp"

namespace echoform {
namespace {

/// A recording whose frames have only some of their events.
class RecordingAtPositions final : public Recording {
 public:
  RecordingAtPositions(std::unique_ptr<Recording> whole, const std::vector<std::size_t>& chosen)
      : Recording({}, {}), whole_(std::move(whole)) {
    const Acquisition& all = whole_->acquisition();
    const FrameLayout layout(all);
    for (const std::size_t position : chosen) positions_.push_back(all.positions[position]);
    for (std::size_t event = 0; event < all.events.size(); ++event) {
      const auto at = std::ranges::find(chosen, all.events[event].position);
      if (at == chosen.end()) continue;
      events_.push_back(all.events[event]);
      events_.back().position = static_cast<std::uint32_t>(at - chosen.begin());
      const RowRange rows = layout.shot(event);
      for (std::size_t row = rows.first; row < rows.first + rows.count; ++row) rows_.push_back(row);
    }
    acquisition_ = part_of(all);
    material_ = whole_->material();
    wedge_velocity_ = whole_->wedge_velocity();
    warnings_ = whole_->warnings();
  }

  [[nodiscard]] std::size_t frames() const noexcept override { return whole_->frames(); }
  [[nodiscard]] Probe probe(std::size_t frame) const override { return whole_->probe(frame); }
  void read_frame(std::size_t frame, std::span<float> samples) override {
    check_request(frame, samples.size());
    if (!facts_of(whole_->stored().encoding).counts()) {
      read_stored(frame, std::as_writable_bytes(samples));
      return;
    }
    std::vector<float> all(whole_->acquisition().a_scans() * acquisition_.samples);
    whole_->read_frame(frame, all);
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      std::ranges::copy(std::span(all).subspan(rows_[k] * acquisition_.samples, acquisition_.samples),
                        samples.begin() + static_cast<std::ptrdiff_t>(k * acquisition_.samples));
    }
  }
  [[nodiscard]] Acquisition stored() const override { return part_of(whole_->stored()); }
  void read_stored(std::size_t frame, std::span<std::byte> bytes) override {
    const std::vector<RowRange> all{{0, rows_.size()}};
    read_rows(frame, all, bytes);
  }
  void read_rows(std::size_t frame, std::span<const RowRange> rows, std::span<std::byte> bytes) override {
    check_rows(frame, rows, bytes.size());
    whole_->read_rows(frame, in_whole(rows), bytes);
  }
  void expect_rows(std::size_t frame, std::span<const RowRange> rows) override { whole_->expect_rows(frame, in_whole(rows)); }
  [[nodiscard]] std::size_t reading_bytes() const override { return whole_->reading_bytes(); }
  [[nodiscard]] FrameStamp stamp(std::size_t frame) const override { return whole_->stamp(frame); }
  [[nodiscard]] std::string describe() const override {
    return fmt::format("{}; {} of {} positions", whole_->describe(), positions_.size(), whole_->acquisition().positions.size());
  }
  [[nodiscard]] std::string name() const override { return whole_->name(); }

 private:
  [[nodiscard]] Acquisition part_of(Acquisition all) const {
    all.positions = positions_;
    all.events = events_;
    return all;
  }
  /// The rows in the whole frame; rows that do not exist are left out.
  [[nodiscard]] std::vector<RowRange> in_whole(std::span<const RowRange> rows) const {
    std::vector<RowRange> ranges;
    for (const RowRange& range : rows) {
      for (std::size_t row = range.first; row < std::min(range.first + range.count, rows_.size()); ++row) {
        if (!ranges.empty() && ranges.back().first + ranges.back().count == rows_[row]) {
          ++ranges.back().count;
        } else {
          ranges.push_back({rows_[row], 1});
        }
      }
    }
    return ranges;
  }

  std::unique_ptr<Recording> whole_;
  std::vector<Pose> positions_;
  std::vector<TransmitEvent> events_;
  std::vector<std::size_t> rows_;  // rows in the whole frame
};

std::vector<double> numbers_of(const Pose& pose) {
  return {
      pose.origin.x.value, pose.origin.y.value, pose.origin.z.value, pose.x.x, pose.x.y, pose.x.z, pose.y.x, pose.y.y, pose.y.z};
}

void check_there(const std::vector<std::size_t>& chosen, std::size_t count, std::string_view option, std::string_view of_what) {
  if (chosen.back() < count) return;
  throw InputError(
      std::string(option), fmt::format("{}", chosen.back()),
      count == 1 ? fmt::format("0, the only one of the {}", of_what) : fmt::format("0 to {}: {} {}", count - 1, count, of_what));
}

}  // namespace

std::vector<std::size_t> parse_positions(std::string_view text, std::string_view option) {
  const auto refuse = [&](const std::string& found, const std::string& expected) {
    throw InputError(std::string(option), found, expected);
  };
  const auto unclear = [&] { refuse(fmt::format("\"{}\"", text), "numbers and ranges from 0, such as 3-7,9"); };
  std::vector<std::size_t> chosen;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&] {
    std::size_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error == std::errc::result_out_of_range || (error == std::errc{} && value > most_position))
      refuse(fmt::format("\"{}\"", text), fmt::format("numbers up to {}", most_position));
    if (error != std::errc{}) unclear();
    at = next;
    return value;
  };
  do {
    const std::size_t first = number();
    std::size_t last = first;
    if (at != end && *at == '-') {
      ++at;
      last = number();
      if (last < first) refuse(fmt::format("{}-{}", first, last), fmt::format("a range that rises, as {}-{}", last, first));
    }
    for (std::size_t position = first; position <= last; ++position) chosen.push_back(position);
    if (chosen.size() > most_position + 1) refuse("more numbers than there are", "each position once");
    if (at == end) break;
    if (*at != ',') unclear();
    ++at;
  } while (true);
  std::ranges::sort(chosen);
  if (const auto twice = std::ranges::adjacent_find(chosen); twice != chosen.end())
    refuse(fmt::format("{} twice", *twice), "each position once");
  return chosen;
}

void keep_positions(std::unique_ptr<Recording>& recording, Configuration& configuration, const std::vector<std::size_t>& chosen,
                    std::string_view option) {
  const std::size_t count = recording->acquisition().positions.size();
  if (count == 0) {
    throw InputError(std::string(option), fmt::format("{}, whose frames state no positions", recording->name()),
                     "a recording of frames of several positions of the probe, or a scan ([scan] path)");
  }
  check_there(chosen, count, option, fmt::format("positions of each frame of {}", recording->name()));
  if (std::vector<Pose> stated = stated_positions(configuration); stated.size() == count) {
    std::vector<std::vector<double>> rows;
    for (const std::size_t position : chosen) rows.push_back(numbers_of(stated[position]));
    configuration.acquisition.positions = std::move(rows);
    configuration.acquisition.position_count.reset();
    configuration.acquisition.position_step.reset();
  }
  recording = std::make_unique<RecordingAtPositions>(std::move(recording), chosen);
}

std::vector<bool> frames_at(const Recording& recording, const std::vector<std::size_t>& chosen, std::string_view option) {
  std::map<EncoderCount, std::size_t> places;
  std::vector<std::optional<std::size_t>> place_of;
  for (std::size_t frame = 0; frame < recording.frames(); ++frame) {
    const auto count = recording.stamp(frame).position;
    place_of.emplace_back();
    if (count) place_of.back() = places.emplace(*count, places.size()).first->second;
  }
  if (places.empty()) {
    throw InputError(std::string(option), fmt::format("{}, whose frames state no count of the encoder", recording.name()),
                     "a recording whose frames say where the probe was");
  }
  check_there(chosen, places.size(), option, fmt::format("places that the frames of {} were taken at", recording.name()));
  std::vector<bool> taken;
  for (const auto& place : place_of) taken.push_back(place && std::ranges::binary_search(chosen, *place));
  return taken;
}

}  // namespace echoform
