#include "instruments/micropulse/frame_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "instruments/micropulse/sample_decoder.hpp"

namespace echoform::micropulse {

FrameBuilder::FrameBuilder(FrameIntake& intake, LaneId lane, const Acquisition& acquisition, const InstrumentSettings& settings,
                           unsigned channel_base, LiveSourceCounters& counters)
    : intake_(intake),
      lane_(lane),
      layout_(acquisition),
      settings_(settings),
      channel_base_(channel_base + settings.first_channel - 1),
      counters_(counters),
      seen_(layout_.elements()) {}

std::span<const std::byte> FrameBuilder::samples_of(const Reply& a_scan) const {
  if (a_scan.format != static_cast<unsigned>(settings_.bits)) {
    throw InputError(fmt::format("A-scan of test {}", a_scan.test), fmt::format("format {}", a_scan.format),
                     fmt::format("format {}, as was set up", static_cast<unsigned>(settings_.bits)));
  }
  const std::size_t sample = bytes_per_sample(settings_.bits);
  const std::size_t wanted = layout_.samples() * sample;
  // It is not specified whether the last sample of the gate belongs to it. If it is sent, it is skipped.
  if (a_scan.samples.size() != wanted && a_scan.samples.size() != wanted + sample) {
    throw InputError(fmt::format("A-scan of test {}", a_scan.test), fmt::format("{} bytes of samples", a_scan.samples.size()),
                     fmt::format("{}, as was set up", wanted));
  }
  return a_scan.samples.first(wanted);
}

void FrameBuilder::end_shot() {
  if (missing_ > 0 && shot_.verdict == ShotVerdict::accepted) intake_.abandon_shot(lane_, shot_.ticket);
  missing_ = 0;
}

void FrameBuilder::end_frame() {
  end_shot();
  if (in_frame_) {
    ++sequence;
    behind_whole_ = whole_shots_ >= layout_.expected_shots();
  }
  in_frame_ = false;
  event_.reset();
}

void FrameBuilder::cycle_mark() {
  if (!in_frame_) {
    marks_part_ = marks_part_ || behind_whole_;
  } else if (marks_part_) {
    end_frame();
  }
}

FrameBuilder::Outcome FrameBuilder::begin_shot(std::uint32_t event) {
  const std::size_t bytes = layout_.shot_bytes(event).count;
  const ShotHeader header{.sequence = sequence, .transmit = event, .acquisition_time = time_, .position = position_};
  shot_ = intake_.begin_shot(lane_, header, bytes);
  if (shot_.verdict == ShotVerdict::wait) return Outcome::wait;
  if (shot_.verdict == ShotVerdict::invalid) return Outcome::closed;
  LiveSourceCounters::add(counters_.shots);
  if (shot_.verdict == ShotVerdict::discarded) LiveSourceCounters::add(counters_.discarded);
  event_ = event;
  missing_ = layout_.shot(event).count;
  std::fill(seen_.begin(), seen_.end(), false);
  return Outcome::taken;
}

FrameBuilder::Outcome FrameBuilder::take(const Reply& a_scan, WallTime now, std::optional<EncoderCount> position) {
  const auto samples = samples_of(a_scan);
  const std::uint32_t event = a_scan.test - first_test;  // wraps round below the first
  const std::uint32_t receiver = a_scan.channel - channel_base_;
  const bool known = event < layout_.events() && receiver < layout_.elements();
  const auto row = known ? layout_.row_of(event, receiver) : std::nullopt;
  if (!row) {
    ++strays_;
    return Outcome::taken;
  }
  const std::size_t place = *row - layout_.shot(event).first;
  if (event_ && (event < *event_ || (event == *event_ && seen_[place]))) end_frame();
  if (!in_frame_) {
    in_frame_ = true;
    whole_shots_ = 0;
    time_ = now;
    position_ = position;
  }
  if (event_ != event) {
    end_shot();
    const Outcome outcome = begin_shot(event);
    if (outcome != Outcome::taken) return outcome;
  }
  seen_[place] = true;
  if (shot_.verdict == ShotVerdict::accepted) {
    const std::size_t bytes = layout_.bytes_per_row();
    decode_samples(samples, settings_.bits, settings_.justified, shot_.place.subspan(place * bytes, bytes));
  }
  if (--missing_ == 0) {
    if (shot_.verdict == ShotVerdict::accepted) intake_.finish_shot(lane_, shot_.ticket);
    if (layout_.expected(event)) ++whole_shots_;
    // The last event ends its frame, so that the frame need not wait for the first A-scan of the next one.
    if (event + 1 == layout_.events()) end_frame();
  }
  return Outcome::taken;
}

}  // namespace echoform::micropulse
