#include "instruments/micropulse/micropulse_source.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/errors.hpp"
#include "base/log_limit.hpp"
#include "instruments/micropulse/command_writer.hpp"
#include "instruments/micropulse/conversation.hpp"
#include "instruments/micropulse/frame_builder.hpp"
#include "instruments/micropulse/settings_exchange.hpp"
#include "instruments/visits.hpp"
#include "transport/acquisition/frame_sender.hpp"
#include "transport/acquisition/live_counters.hpp"

namespace echoform::micropulse {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds tick{100};

class ConnectingSource final : public VisitingSource<MicropulseSource> {
 public:
  ConnectingSource(SourceOptions options, const Clock& clock)
      : VisitingSource("micropulse", "MicroPulse", options.port, options.pauses, clock),
        options_(std::move(options)),
        settings_(options_.settings),
        acquisition_(options_.acquisition),
        exchange_(live_settings(settings_, acquisition_)) {}
  ~ConnectingSource() override { stop(); }
  ConnectingSource(const ConnectingSource&) = delete;
  ConnectingSource& operator=(const ConnectingSource&) = delete;

  [[nodiscard]] std::string describe() const override { return name_of(options_); }

  void change(const LiveSettings& wanted) override {
    InstrumentSettings settings = options_.settings;
    Acquisition acquisition = options_.acquisition;
    put_live(wanted, settings, acquisition, describe());  // throws where the settings do not fit
    // The instrument is sent the change once, and perhaps the previous settings again; opening a stream may also take time.
    exchange_.change(wanted, bell_, 4 * options_.answer_timeout);
  }

 private:
  [[nodiscard]] std::uint64_t frames() const override { return sequence_; }

  void visit(StreamHost& host) override {
    bool greeted = false;
    try {
      put_in_force(exchange_.begin());
      Conversation talk(options_, bell_, stopping_, counters_, [this](const std::string& line) { say(line); });
      talk.reset(settings_, settings_.first_channel - 1 + acquisition_.elements());
      if (stopping_) return;
      talk.tell(setup_commands(acquisition_, settings_), "the set-up");
      if (stopping_) return;
      auto intake = host.open_stream(session_, acquisition_);
      greeted = true;
      LiveSourceCounters::add(counters_.accepted);
      const Firing firing(exchange_);
      while (read_frames(talk, *intake)) intake = follow_change(talk, host);
    } catch (const std::exception&) {
      LiveSourceCounters::add(greeted ? counters_.lost : counters_.rejected);
      throw;
    }
  }

  void put_in_force(const LiveSettings& live) {
    // Other settings open another stream: frames with the previous settings leave the pipeline before one with the new settings
    // enters.
    if (live != live_settings(settings_, acquisition_)) session_ = random_session();
    put_live(live, settings_, acquisition_, describe());
  }

  /// The instrument has stopped. It is sent what has changed, and another stream is opened. If the instrument or the pipeline
  /// refuses the change, it is taken back.
  std::shared_ptr<FrameIntake> follow_change(Conversation& talk, StreamHost& host) {
    const LiveSettings before = live_settings(settings_, acquisition_);
    const LiveSettings wanted = exchange_.wanted();
    const auto take = [&](const LiveSettings& from, const LiveSettings& to) {
      put_in_force(to);
      talk.tell(change_commands(from, to), "the change");
      return host.open_stream(session_, acquisition_);
    };
    // The answer is given once this thread does not hold the exception any more, so that the thread that waits for the answer
    // holds it last.
    std::exception_ptr refused;
    try {
      auto intake = take(before, wanted);
      exchange_.answer(wanted, nullptr);
      return intake;
    } catch (const std::exception& reason) {
      if (!stopping_) say(reason);
      refused = std::current_exception();
    }
    try {
      auto intake = take(wanted, before);
      exchange_.answer(wanted, std::move(refused));
      return intake;
    } catch (...) {
      exchange_.answer(wanted, std::move(refused));
      throw;
    }
  }

  /// While an object of this class exists, changes are sent to the instrument at once.
  class Firing {
   public:
    explicit Firing(SettingsExchange& exchange) : exchange_(exchange) { exchange_.set_firing(true); }
    ~Firing() { exchange_.set_firing(false); }
    Firing(const Firing&) = delete;
    Firing& operator=(const Firing&) = delete;

   private:
    SettingsExchange& exchange_;
  };

  /// Reads frames until the source must stop; then returns false. Returns true, with the instrument halted, when a change is
  /// waiting.
  bool read_frames(Conversation& talk, FrameIntake& intake) {
    const OpenLane lane(intake, bell_, counters_);
    FrameBuilder builder(intake, lane.id(), acquisition_, settings_, options_.channel_base, counters_);
    builder.sequence = sequence_;
    // Frame numbers continue from one connection to the next.
    struct Keep {
      std::uint64_t& to;
      FrameBuilder& from;
      ~Keep() {
        from.end_frame();
        to = from.sequence;
      }
    } const keep{sequence_, builder};
    position_.reset();
    fire(talk);
    bool fired = false;  // an A-scan has come since the last command to fire
    auto expired = steady_clock::now();
    while (!stopping_) {
      while (const auto reply = talk.next()) {
        if (reply->kind == ReplyKind::cycle_end) {
          // An end of cycle that comes before any A-scan is left over from before.
          if (settings_.cycling != Cycling::single || !fired) continue;
          builder.end_frame();
          fired = false;
          fire(talk);
          continue;
        }
        fired = fired || reply->kind == ReplyKind::a_scan;
        if (!take(*reply, builder, intake)) return end_firing(talk);
      }
      warn_strays(builder.strays());
      if (exchange_.asked()) return halt(talk, builder, intake);
      const bool came = talk.take_bytes();
      const auto now = steady_clock::now();
      if (came) heard_ = now;
      if (now - expired >= tick) {
        intake.expire();
        expired = now;
      }
      if (now - heard_ >= options_.silence_timeout) {
        LiveSourceCounters::add(counters_.timed_out);
        throw RuntimeFault(fmt::format("{}: silent for {} ms", describe(), options_.silence_timeout.count()));
      }
    }
    return end_firing(talk);
  }

  /// Reads what the instrument has sent: closing with unread bytes resets the connection, and the command may then be lost.
  bool end_firing(Conversation& talk) {
    talk.send({std::string(stop_command)}, tick);
    talk.drain(options_.settle);
    return false;
  }

  /// Stops the instrument. A-scans that it made before it received the command still belong to frames. It reports that it has
  /// stopped, or falls silent.
  bool halt(Conversation& talk, FrameBuilder& builder, FrameIntake& intake) {
    talk.send({std::string(stop_command)}, options_.answer_timeout);
    const auto until = steady_clock::now() + options_.answer_timeout;
    auto quiet = steady_clock::now() + std::max(options_.settle, tick);
    while (!stopping_ && steady_clock::now() < until) {
      while (const auto reply = talk.next()) {
        if (reply->kind == ReplyKind::stopped) return true;
        if (!take(*reply, builder, intake)) return end_firing(talk);
      }
      if (talk.take_bytes()) {
        quiet = steady_clock::now() + std::max(options_.settle, tick);
      } else if (steady_clock::now() >= quiet) {
        return true;
      }
    }
    return stopping_ ? end_firing(talk) : true;
  }

  void fire(Conversation& talk) {
    std::vector<std::string> lines;
    if (settings_.cycling == Cycling::single && options_.encoder_axis != 0) lines.emplace_back(state_command);
    lines.emplace_back(start_command(settings_.cycling));
    talk.send(lines, options_.answer_timeout);
    heard_ = steady_clock::now();
  }

  /// False once the source must stop.
  bool take(const Reply& reply, FrameBuilder& builder, FrameIntake& intake) {
    if (reply.kind == ReplyKind::a_scan) return hand_on(reply, builder, intake);
    // A buffered cycle reports the encoders once.
    if (reply.kind == ReplyKind::state && settings_.cycling == Cycling::buffered) builder.cycle_mark();
    hear(reply);
    return true;
  }

  /// Waits while the pipeline has no place; the instrument is not read meanwhile. False once the source must stop.
  bool hand_on(const Reply& a_scan, FrameBuilder& builder, FrameIntake& intake) {
    for (;;) {
      switch (builder.take(a_scan, clock_.wall(), position_)) {
        case FrameBuilder::Outcome::taken:
          return true;
        case FrameBuilder::Outcome::closed:
          throw RuntimeFault(fmt::format("{}: the stream is closed", describe()));
        case FrameBuilder::Outcome::wait:
          break;
      }
      bell_.wait(tick);
      heard_ = steady_clock::now();
      if (stopping_) return false;
      intake.expire();
    }
  }

  void hear(const Reply& reply) {
    switch (reply.kind) {
      case ReplyKind::state:
        if (options_.encoder_axis != 0) position_ = reply.axes[options_.encoder_axis - 1];
        break;
      case ReplyKind::error:
        say(fmt::format("{}: the instrument says: {}", describe(), reply.text));
        break;
      case ReplyKind::peaks:
      case ReplyKind::place:
      case ReplyKind::notice:
        if (const auto left_out = notices_.admit(clock_.steady())) {
          spdlog::info("{}: passes over {}{}", describe(), reply.text, left_out_text(*left_out));
        }
        break;
      default:
        break;
    }
  }

  void warn_strays(std::uint64_t count) {
    if (count == strays_warned_) return;
    strays_warned_ = count;
    if (const auto left_out = stray_lines_.admit(clock_.steady())) {
      spdlog::warn("{}: {} A-scans of tests or channels that were not set up are passed over{}", describe(), count,
                   left_out_text(*left_out));
    }
  }

  const SourceOptions options_;
  // The settings that the instrument has; used by the thread only.
  InstrumentSettings settings_;
  Acquisition acquisition_;
  std::uint64_t session_ = random_session();
  SettingsExchange exchange_;
  LogLimit notices_, stray_lines_;
  // Used by the thread only.
  std::optional<EncoderCount> position_;
  std::uint64_t sequence_ = 0;
  std::uint64_t strays_warned_ = 0;
  // Time of the last received byte, of the last command to fire, or of the last wait in which the instrument was not read.
  steady_clock::time_point heard_{};
};

}  // namespace

std::unique_ptr<MicropulseSource> make_micropulse_source(SourceOptions options, const Clock& clock) {
  if (options.encoder_axis > 4) {
    throw InputError("MicroPulse encoder_axis", fmt::format("{}", options.encoder_axis), "0 to 4");
  }
  if (options.encoder_axis != 0 && options.settings.cycling == Cycling::unbuffered) {
    throw InputError("MicroPulse encoder_axis", fmt::format("{} with cycling = \"unbuffered\"", options.encoder_axis),
                     "\"buffered\" or \"single\", with which the instrument states encoders");
  }
  return std::make_unique<ConnectingSource>(std::move(options), clock);
}

}  // namespace echoform::micropulse
