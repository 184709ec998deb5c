#include "instruments/micropulse/micropulse_source.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "base/errors.hpp"
#include "base/log_limit.hpp"
#include "instruments/micropulse/command_writer.hpp"
#include "instruments/micropulse/frame_builder.hpp"
#include "instruments/micropulse/instrument_link.hpp"
#include "instruments/micropulse/reply_parser.hpp"
#include "transport/acquisition/frame_sender.hpp"
#include "transport/acquisition/live_counters.hpp"

namespace echoform::micropulse {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds tick{100};

/// The longest message that is expected, and a little: A-scans of the gate, or of a sample more, with the longer header.
std::size_t longest_message(const SourceOptions& options) {
  return 64 + (options.acquisition.samples + 1) * bytes_per_sample(options.settings.bits);
}

class MicropulseSource final : public AcquisitionSource {
 public:
  MicropulseSource(SourceOptions options, const Clock& clock)
      : options_(std::move(options)), clock_(clock), setup_(joined(setup_commands(options_.acquisition, options_.settings))) {}
  ~MicropulseSource() override { stop(); }
  MicropulseSource(const MicropulseSource&) = delete;
  MicropulseSource& operator=(const MicropulseSource&) = delete;

  [[nodiscard]] std::string_view name() const noexcept override { return "micropulse"; }
  [[nodiscard]] std::uint16_t port() const noexcept override { return options_.port; }
  [[nodiscard]] SourceCounters counters() const noexcept override { return counters_.read(); }
  [[nodiscard]] std::string last_rejection() const override { return counters_.last_rejection(); }
  [[nodiscard]] std::string describe() const override { return fmt::format("micropulse {}:{}", options_.host, options_.port); }

  void start(StreamHost& host) override {
    stopping_ = false;
    thread_ = std::thread([this, &host] {
      pthread_setname_np(pthread_self(), "micropulse");
      run(host);
    });
  }
  void stop() override {
    if (!thread_.joinable()) return;
    stopping_ = true;
    bell_.ring();
    thread_.join();
  }

 private:
  void run(StreamHost& host) {
    milliseconds pause = options_.first_pause;
    while (!stopping_) {
      const std::uint64_t before = sequence_;
      try {
        visit(host);
      } catch (const std::exception& reason) {
        if (!stopping_) say(reason.what());
      }
      if (stopping_) return;
      // One that has sent frames since is tried again as soon as the first time.
      if (sequence_ != before) pause = options_.first_pause;
      const auto until = steady_clock::now() + pause;
      while (!stopping_ && steady_clock::now() < until) {
        bell_.wait(std::chrono::ceil<milliseconds>(until - steady_clock::now()));
      }
      pause = std::min(2 * pause, options_.longest_pause);
    }
  }

  /// From connecting to the end of the connection.
  void visit(StreamHost& host) {
    bool greeted = false;
    try {
      InstrumentLink link(options_.host, options_.port, options_.connect_timeout, bell_, stopping_);
      ReplyParser parser(longest_message(options_));
      reset(link, parser);
      if (stopping_) return;
      set_up(link, parser);
      if (stopping_) return;
      const auto intake = host.open_stream(session_, options_.acquisition);
      greeted = true;
      LiveSourceCounters::add(counters_.accepted);
      read_frames(link, parser, *intake);
    } catch (const std::exception&) {
      LiveSourceCounters::add(greeted ? counters_.lost : counters_.rejected);
      throw;
    }
  }

  /// Whatever it was doing ends, and what it had sent is read before it is asked anything.
  void reset(InstrumentLink& link, ReplyParser& parser) {
    link.send(joined({std::string(stop_command)}), options_.connect_timeout);
    std::vector<std::byte> scratch(std::size_t{1} << 16);
    const auto patience = steady_clock::now() + 4 * options_.settle;
    auto quiet = steady_clock::now() + options_.settle;
    while (!stopping_ && steady_clock::now() < std::min(quiet, patience)) {
      link.wait(std::max(options_.settle / 4, milliseconds(1)));
      while (const auto bytes = link.receive(scratch)) {
        note(*bytes);
        quiet = steady_clock::now() + options_.settle;
        if (steady_clock::now() >= patience) break;
      }
    }
    link.send(joined({reset_command(options_.settings)}), options_.connect_timeout);
    const auto answer = await(link, parser, ReplyKind::reset_done, "the reset");
    if (!answer) return;
    const std::string type = type_name(answer->type);
    if (answer->sample_rate_mhz != options_.settings.sample_rate_mhz) {
      throw InputError(describe(), fmt::format("{} that samples at {} MHz after its reset", type, answer->sample_rate_mhz),
                       fmt::format("{} MHz", options_.settings.sample_rate_mhz));
    }
    const std::size_t channels = options_.settings.first_channel - 1 + options_.acquisition.elements();
    if (answer->array_channels < channels) {
      throw InputError(describe(), fmt::format("{} with {} channels for arrays", type, answer->array_channels),
                       fmt::format("{}: elements follow each other from [input.micropulse] first_channel on", channels));
    }
    spdlog::info("{}: {} with {} channels for arrays, {} MHz", describe(), type, answer->array_channels, answer->sample_rate_mhz);
    const auto until = steady_clock::now() + options_.reset_wait;
    while (!stopping_ && steady_clock::now() < until) bell_.wait(std::chrono::ceil<milliseconds>(until - steady_clock::now()));
  }

  /// Throws InputError with the instrument's words for a set-up that it refuses.
  void set_up(InstrumentLink& link, ReplyParser& parser) {
    link.send(setup_, options_.answer_timeout);
    link.send(joined({std::string(state_command)}), options_.answer_timeout);
    refusals_.clear();
    await(link, parser, ReplyKind::state, "the set-up");
    if (!refusals_.empty()) throw InputError(fmt::format("{}: the instrument refuses the set-up: {}", describe(), refusals_));
  }

  /// Reads until such a reply comes; none once it is to stop. Errors that come before are kept in refusals_.
  std::optional<Reply> await(InstrumentLink& link, ReplyParser& parser, ReplyKind kind, std::string_view what) {
    const auto until = steady_clock::now() + options_.answer_timeout;
    while (!stopping_) {
      while (auto reply = parser.next()) {
        if (reply->kind == kind) return reply;
        if (reply->kind == ReplyKind::error) {
          if (refusals_.size() < 200) refusals_ += fmt::format("{}{}", refusals_.empty() ? "" : "; ", reply->text);
          if (kind != ReplyKind::state) say(fmt::format("{}: the instrument says: {}", describe(), reply->text));
        }
      }
      take_bytes(link, parser);
      if (steady_clock::now() >= until) {
        LiveSourceCounters::add(counters_.timed_out);
        throw RuntimeFault(fmt::format("{}: {} is not answered within {} ms", describe(), what, options_.answer_timeout.count()));
      }
    }
    return std::nullopt;
  }

  /// Waits a little for bytes if there are none. Throws InputError where the framing is broken.
  bool take_bytes(InstrumentLink& link, ReplyParser& parser) {
    if (!parser.broken().empty()) {
      counters_.add(DecodeReason::bad_type);
      throw InputError(fmt::format("{}: {}", describe(), parser.broken()));
    }
    const auto room = parser.room();
    std::optional<std::size_t> bytes;
    try {
      bytes = link.receive(room);
    } catch (const RuntimeFault&) {
      if (parser.within_message()) counters_.add(DecodeReason::truncated);
      throw;
    }
    if (bytes) {
      parser.commit(*bytes);
      note(*bytes);
      return true;
    }
    link.wait(tick);
    return false;
  }

  /// Open while it lives.
  class Lane {
   public:
    Lane(FrameIntake& intake, const WakeBell& bell, LiveSourceCounters& counters)
        : intake_(intake), counters_(counters), id_(intake.open_lane([&bell] { bell.ring(); })) {
      counters_.open = 1;
    }
    ~Lane() {
      intake_.close_lane(id_);
      counters_.open = 0;
    }
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    [[nodiscard]] LaneId id() const { return id_; }

   private:
    FrameIntake& intake_;
    LiveSourceCounters& counters_;
    LaneId id_;
  };

  void read_frames(InstrumentLink& link, ReplyParser& parser, FrameIntake& intake) {
    const Lane lane(intake, bell_, counters_);
    FrameBuilder builder(intake, lane.id(), options_.acquisition, options_.settings, options_.channel_base, counters_);
    builder.sequence = sequence_;
    // Numbers of frames go on from one connection to the next.
    struct Keep {
      std::uint64_t& to;
      FrameBuilder& from;
      ~Keep() {
        from.end_frame();
        to = from.sequence;
      }
    } const keep{sequence_, builder};
    position_.reset();
    fire(link);
    bool fired = false;  // since it was asked to
    auto expired = steady_clock::now();
    while (!stopping_) {
      while (const auto reply = parser.next()) {
        if (reply->kind == ReplyKind::a_scan) {
          fired = true;
          if (!hand_on(*reply, builder, intake)) return end_firing(link);
        } else if (reply->kind == ReplyKind::cycle_end) {
          // One that came before any A-scan is left over from before.
          if (options_.settings.cycling != Cycling::single || !fired) continue;
          builder.end_frame();
          fired = false;
          fire(link);
        } else {
          // A buffered cycle states encoders once.
          if (reply->kind == ReplyKind::state && options_.settings.cycling == Cycling::buffered) builder.cycle_mark();
          hear(*reply);
        }
      }
      warn_strays(builder.strays());
      const bool came = take_bytes(link, parser);
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
    end_firing(link);
  }

  /// What the instrument had sent is read: to close with bytes unread resets the connection, by which the command may be lost.
  void end_firing(InstrumentLink& link) {
    link.send(joined({std::string(stop_command)}), tick);
    std::vector<std::byte> scratch(std::size_t{1} << 16);
    const auto until = steady_clock::now() + options_.settle;
    while (steady_clock::now() < until) {
      if (!link.receive(scratch)) link.wait(milliseconds(5));
    }
  }

  void fire(InstrumentLink& link) {
    std::vector<std::string> lines;
    if (options_.settings.cycling == Cycling::single && options_.encoder_axis != 0) lines.emplace_back(state_command);
    lines.emplace_back(start_command(options_.settings.cycling));
    link.send(joined(lines), options_.answer_timeout);
    heard_ = steady_clock::now();
  }

  /// Waits as long as the pipeline has no place; the instrument is not read meanwhile. False once it is to stop.
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

  /// Into the log and telemetry.
  void say(const std::string& line) {
    counters_.note_rejection(line);
    if (const auto left_out = lines_.admit(clock_.steady())) spdlog::warn("{}{}", line, left_out_text(*left_out));
  }

  void note(std::size_t bytes) { LiveSourceCounters::add(counters_.bytes, bytes); }

  const SourceOptions options_;
  const Clock& clock_;
  const std::string setup_;
  const std::uint64_t session_ = random_session();
  const WakeBell bell_{"MicroPulse"};
  LiveSourceCounters counters_;
  LogLimit lines_, notices_, stray_lines_;
  std::atomic<bool> stopping_{false};
  // Of the thread.
  std::string refusals_;
  std::optional<EncoderCount> position_;
  std::uint64_t sequence_ = 0;
  std::uint64_t strays_warned_ = 0;
  steady_clock::time_point heard_{};  // a byte, or it was asked for one, or not read
  std::thread thread_;
};

}  // namespace

std::unique_ptr<AcquisitionSource> make_micropulse_source(SourceOptions options, const Clock& clock) {
  if (options.encoder_axis > 4) {
    throw InputError("MicroPulse encoder_axis", fmt::format("{}", options.encoder_axis), "0 to 4");
  }
  if (options.encoder_axis != 0 && options.settings.cycling == Cycling::unbuffered) {
    throw InputError("MicroPulse encoder_axis", fmt::format("{} with cycling = \"unbuffered\"", options.encoder_axis),
                     "\"buffered\" or \"single\", with which the instrument states encoders");
  }
  return std::make_unique<MicropulseSource>(std::move(options), clock);
}

}  // namespace echoform::micropulse
