#include "instruments/us_lab4a/us_lab4a_source.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "acquisition/firings.hpp"
#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "base/host_port.hpp"
#include "instruments/instrument_link.hpp"
#include "instruments/us_lab4a/array_protocol.hpp"
#include "instruments/visits.hpp"
#include "transport/acquisition/frame_sender.hpp"
#include "transport/acquisition/live_counters.hpp"

namespace echoform::us_lab4a {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds tick{100};

/// Thrown when the source must stop; this is not a fault.
struct Stopped {};

/// A connection that carries one request and its answer at a time.
class Questions {
 public:
  Questions(const SourceOptions& options, const WakeBell& bell, const std::atomic<bool>& stopping, LiveSourceCounters& counters,
            std::string name)
      : options_(options),
        stopping_(stopping),
        counters_(counters),
        name_(std::move(name)),
        link_(options.host, options.port, options.connect_timeout, bell, stopping),
        parser_(std::make_unique<AnswerParser>(0)) {}

  /// Sets the longest answer that is accepted from now on.
  void expect(std::size_t longest) { parser_ = std::make_unique<AnswerParser>(longest); }

  /// Sends a request and returns its answer, of the type `wanted`. Throws InputError with the instrument's words where it
  /// refuses, or for an answer of another type; RuntimeFault where no answer comes; Stopped once the source must stop.
  Answer ask(Request request, MessageType wanted) {
    link_.send(request.bytes(), options_.answer_timeout);
    const auto until = steady_clock::now() + options_.answer_timeout;
    while (!stopping_) {
      if (const auto answer = parser_->next()) {
        if (answer->type == wanted) return *answer;
        if (answer->type == MessageType::error) {
          throw InputError(fmt::format("{}: the instrument refuses {}: {}", name_, name_of(request.type()), text_in(*answer)));
        }
        throw InputError(name_, fmt::format("the answer {} to {}", name_of(answer->type), name_of(request.type())),
                         name_of(wanted));
      }
      take_bytes();
      if (steady_clock::now() >= until) {
        LiveSourceCounters::add(counters_.timed_out);
        throw RuntimeFault(
            fmt::format("{}: {} is not answered within {} ms", name_, name_of(request.type()), options_.answer_timeout.count()));
      }
    }
    throw Stopped{};
  }
  void tell(Request request) { static_cast<void>(ask(std::move(request), MessageType::ok)); }
  /// Disconnects; the instrument does not answer this request.
  void disconnect() { link_.send(Request(MessageType::disconnect_request).bytes(), tick); }

 private:
  void take_bytes() {
    if (!parser_->broken().empty()) {
      counters_.add(DecodeReason::bad_type);
      throw InputError(fmt::format("{}: {}", name_, parser_->broken()));
    }
    const auto room = parser_->room();
    try {
      if (const auto bytes = link_.receive(room)) {
        parser_->commit(*bytes);
        LiveSourceCounters::add(counters_.bytes, *bytes);
        return;
      }
    } catch (const RuntimeFault&) {
      if (parser_->within_message()) counters_.add(DecodeReason::truncated);
      throw;
    }
    link_.wait(tick);
  }

  const SourceOptions& options_;
  const std::atomic<bool>& stopping_;
  LiveSourceCounters& counters_;
  const std::string name_;
  InstrumentLink link_;
  std::unique_ptr<AnswerParser> parser_;
};

class PollingSource final : public VisitingSource<AcquisitionSource> {
 public:
  PollingSource(SourceOptions options, const Clock& clock)
      : VisitingSource("us_lab4a", "us_lab4a", options.port, options.pauses, clock), options_(std::move(options)) {}
  ~PollingSource() override { stop(); }
  PollingSource(const PollingSource&) = delete;
  PollingSource& operator=(const PollingSource&) = delete;

  [[nodiscard]] std::string describe() const override { return "us_lab4a " + host_port_text(options_.host, options_.port); }

 private:
  [[nodiscard]] std::uint64_t frames() const override { return whole_frames_; }

  void visit(StreamHost& host) override {
    bool greeted = false;
    try {
      Questions instrument(options_, bell_, stopping_, counters_, describe());
      try {
        const Acquisition acquisition = set_up(instrument);
        const auto intake = host.open_stream(session_, acquisition);
        greeted = true;
        LiveSourceCounters::add(counters_.accepted);
        instrument.expect(16 + 2 * acquisition.elements() * acquisition.samples);
        poll(instrument, *intake);
      } catch (const Stopped&) {
        instrument.disconnect();
      }
    } catch (const std::exception&) {
      LiveSourceCounters::add(greeted ? counters_.lost : counters_.rejected);
      throw;
    }
  }

  [[nodiscard]] std::string mask(std::optional<std::size_t> alone) const {
    std::string elements(options_.acquisition.elements(), alone ? '0' : '1');
    if (alone) elements[*alone] = '1';
    return elements;
  }

  /// Configures the instrument and returns the description of its frames.
  [[nodiscard]] Acquisition set_up(Questions& instrument) const {
    instrument.tell(Request(MessageType::connect_request).add(protocol_version));
    instrument.tell(Request(MessageType::pre_configuration));
    instrument.tell(Request(MessageType::set_sampling_frequency).add(static_cast<float>(options_.sample_rate)));
    instrument.tell(Request(MessageType::set_centre_frequency)
                        .add(static_cast<float>(options_.acquisition.probe.centre_frequency.value))
                        .add(options_.pulses));
    instrument.tell(Request(MessageType::set_active_receive_elements).add(mask({})));
    instrument.tell(Request(MessageType::set_gain).add(static_cast<float>(options_.gain)));
    instrument.tell(Request(MessageType::set_acquisition_time).add(static_cast<float>(options_.acquisition_time)));
    instrument.tell(Request(MessageType::post_configuration));
    instrument.tell(Request(MessageType::set_base_element).add(options_.base_element));

    Acquisition acquisition = options_.acquisition;
    const double rate = real_in(instrument.ask(Request(MessageType::get_sampling_frequency), MessageType::sampling_frequency));
    // Rates are transmitted in single precision.
    if (!(std::abs(rate - options_.sample_rate) <= 1e-6 * options_.sample_rate)) {
      throw InputError(describe(), fmt::format("an instrument that samples at {} Hz", rate),
                       fmt::format("{} Hz, as it was set", options_.sample_rate));
    }
    acquisition.sample_rate = Hertz(options_.sample_rate);
    acquisition.samples = number_in(instrument.ask(Request(MessageType::get_signal_length), MessageType::signal_length));
    const int largest = sample_in(instrument.ask(Request(MessageType::get_largest_sample), MessageType::largest_sample));
    const int smallest = sample_in(instrument.ask(Request(MessageType::get_smallest_sample), MessageType::smallest_sample));
    if (largest <= 0 || smallest >= 0) {
      throw InputError(describe(), fmt::format("samples from {} to {}", smallest, largest), "of both signs");
    }
    // Samples are scaled so that full scale is 1.
    acquisition.sample_scale = 1.0 / std::max(-smallest, largest + 1);
    validate(acquisition, AcquisitionLimits{}, describe());
    instrument.tell(Request(MessageType::pre_loop_configuration));
    spdlog::info("{}: {} samples of {} to {} at {:.4g} MHz", describe(), acquisition.samples, smallest, largest, 1e-6 * rate);
    return acquisition;
  }

  void poll(Questions& instrument, FrameIntake& intake) {
    const OpenLane lane(intake, bell_, counters_);
    const FrameLayout layout(intake.acquisition());
    for (;; ++whole_frames_) {
      // A frame that breaks off keeps its number for good: the pipeline would discard shots of a frame that it has closed.
      const std::uint64_t sequence = sequence_++;
      const WallTime time = clock_.wall();
      for (std::uint32_t event = 0; event < layout.events(); ++event) {
        if (!layout.expected(event)) continue;
        poll_shot(instrument, intake, lane.id(), {.sequence = sequence, .transmit = event, .acquisition_time = time}, layout);
      }
      intake.expire();
    }
  }

  void poll_shot(Questions& instrument, FrameIntake& intake, LaneId lane, const ShotHeader& header, const FrameLayout& layout) {
    const std::size_t bytes = layout.shot_bytes(header.transmit).count;
    ShotPlace shot = intake.begin_shot(lane, header, bytes);
    while (shot.verdict == ShotVerdict::wait) {
      bell_.wait(tick);
      if (stopping_) throw Stopped{};
      intake.expire();
      shot = intake.begin_shot(lane, header, bytes);
    }
    if (shot.verdict == ShotVerdict::invalid) throw RuntimeFault(fmt::format("{}: the stream is closed", describe()));
    LiveSourceCounters::add(counters_.shots);
    if (shot.verdict == ShotVerdict::discarded) LiveSourceCounters::add(counters_.discarded);
    try {
      const std::size_t element = firings_of(intake.acquisition(), header.transmit).front().element;
      instrument.tell(Request(MessageType::set_active_transmit_elements).add(mask(element)));
      const Answer answer = instrument.ask(Request(MessageType::get_signal), MessageType::signal);
      const auto samples = samples_in(answer, layout.elements() * layout.samples());
      if (shot.verdict == ShotVerdict::accepted) swap_samples(samples, shot.place);
    } catch (...) {
      if (shot.verdict == ShotVerdict::accepted) intake.abandon_shot(lane, shot.ticket);
      throw;
    }
    if (shot.verdict == ShotVerdict::accepted) intake.finish_shot(lane, shot.ticket);
  }

  const SourceOptions options_;
  const std::uint64_t session_ = random_session();
  // Used by the thread only.
  std::uint64_t sequence_ = 0;  // number of the next frame
  std::uint64_t whole_frames_ = 0;
};

}  // namespace

std::unique_ptr<AcquisitionSource> make_us_lab4a_source(SourceOptions options, const Clock& clock, std::string_view where) {
  Acquisition& acquisition = options.acquisition;
  acquisition.encoding = SampleEncoding::int16;
  acquisition.sample_rate = Hertz(options.sample_rate);
  acquisition.samples = std::max<std::size_t>(acquisition.samples, 2);  // preliminary: the instrument reports the number later
  validate(acquisition, AcquisitionLimits{}, where);
  const FrameLayout layout(acquisition);
  for (std::uint32_t event = 0; event < layout.events(); ++event) {
    const auto firings = firings_of(acquisition, event);
    const bool alone = firings.size() == 1 && firings.front().delay == 0.0 && firings.front().weight == 1.0;
    if (alone && layout.shot(event).count == acquisition.elements()) continue;
    throw InputError(where, pairs_text(acquisition), "elements that fire one by one and are recorded by all");
  }
  return std::make_unique<PollingSource>(std::move(options), clock);
}

}  // namespace echoform::us_lab4a
