// echoform view: a subscriber that counts the images that come, and those that are missing.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/keys.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "base/histogram.hpp"
#include "formats/image_writer.hpp"
#include "offline/display_figure.hpp"
#include "transport/publish/image_message.hpp"
#include "transport/publish/subscriber.hpp"

namespace echoform {
namespace {

struct ViewOptions {
  std::string connect = "tcp://127.0.0.1:17180";
  std::optional<std::string> stream;  // nothing: the server's only stream
  std::uint64_t frames = 0;
  double seconds = 0.0;
  double timeout = 0.0;
  std::vector<std::string> snapshots;
  bool json = false;
  bool latest = false;
  KeyFiles keys;
};

/// What the images themselves state about the server.
struct Observed {
  std::map<std::string, Histogram> stages;
  std::optional<wire::Image> last;

  void take(const wire::Image& image) {
    for (const auto& stage : image.stages()) stages[stage.stage()].record(std::chrono::nanoseconds(stage.nanoseconds()));
    last = image;
  }
};

std::string drops_text(const wire::Image& image) {
  std::string text;
  for (const auto& drop : image.drops()) {
    if (drop.frames() > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one_line(drop.reason()), drop.frames());
  }
  return text.empty() ? "none" : text;
}

/// The newest image, if it has a position; otherwise null.
const wire::Image* placed(const Observed& seen) {
  return seen.last && seen.last->has_position() ? &*seen.last : nullptr;
}

std::string live_text(const SubscriberStatistics& s, const Observed& seen) {
  return fmt::format("{} images, {:.1f} images/s, sequence {}{}, latency p50 {:.1f} ms p99 {:.1f} ms, gaps {}, drops {}",
                     s.images, s.images_per_second, seen.last ? seen.last->sequence() : 0,
                     placed(seen) != nullptr ? fmt::format(", position {}", placed(seen)->position()) : "",
                     milliseconds(s.latency_p50), milliseconds(s.latency_p99), s.gaps,
                     seen.last ? drops_text(*seen.last) : "none");
}

void print_summary(const SubscriberStatistics& s, const Observed& seen) {
  print("images {} (distinct sequences {}), {:.1f} MB in {:.2f} s\n", s.images, s.sequences, 1e-6 * static_cast<double>(s.bytes),
        s.seconds);
  print("gaps {}, restarts {}, malformed {}\n", s.gaps, s.restarts, s.malformed);
  print("latency, last byte to published: p50 {:.2f} ms, p99 {:.2f} ms, maximum {:.2f} ms\n", milliseconds(s.latency_p50),
        milliseconds(s.latency_p99), milliseconds(s.latency_maximum));
  print("transport, published to here: p50 {:.2f} ms, p99 {:.2f} ms\n", milliseconds(s.transport_p50),
        milliseconds(s.transport_p99));
  for (const auto& [name, histogram] : seen.stages) {
    HistogramCounts counts;
    histogram.read(counts);
    print("stage {:<18} p50 {:.3f} ms, p99 {:.3f} ms\n", one_line(name), 1e-6 * static_cast<double>(counts.quantile(0.5)),
          1e-6 * static_cast<double>(counts.quantile(0.99)));
  }
  if (seen.last) print("drops at the server: {}\n", drops_text(*seen.last));
  if (const wire::Image* const image = placed(seen)) print("last position {}\n", image->position());
  print("received {:.1f} images/s{}\n", s.images_per_second,
        s.unchanged > 0 ? fmt::format("; {} more images were the one before again", s.unchanged) : "");
}

void print_json(const SubscriberStatistics& s, const Observed& seen) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::object();
  for (const auto& [name, histogram] : seen.stages) {
    HistogramCounts counts;
    histogram.read(counts);
    stages[name] = {{"p50_ms", 1e-6 * static_cast<double>(counts.quantile(0.5))},
                    {"p99_ms", 1e-6 * static_cast<double>(counts.quantile(0.99))}};
  }
  nlohmann::ordered_json drops = nlohmann::ordered_json::object();
  if (seen.last) {
    for (const auto& drop : seen.last->drops()) drops[drop.reason()] = drop.frames();
  }
  nlohmann::ordered_json position;  // null where there is none
  if (const wire::Image* const image = placed(seen)) position = image->position();
  const nlohmann::ordered_json summary{{"images", s.images},
                                       {"sequences", s.sequences},
                                       {"unchanged", s.unchanged},
                                       {"gaps", s.gaps},
                                       {"restarts", s.restarts},
                                       {"malformed", s.malformed},
                                       {"bytes", s.bytes},
                                       {"seconds", s.seconds},
                                       {"images_per_second", s.images_per_second},
                                       {"latency_p50_ms", milliseconds(s.latency_p50)},
                                       {"latency_p99_ms", milliseconds(s.latency_p99)},
                                       {"latency_maximum_ms", milliseconds(s.latency_maximum)},
                                       {"transport_p50_ms", milliseconds(s.transport_p50)},
                                       {"transport_p99_ms", milliseconds(s.transport_p99)},
                                       {"published", seen.last ? seen.last->published() : 0},
                                       {"sequence", seen.last ? seen.last->sequence() : 0},
                                       {"position", position},
                                       {"stages", stages},
                                       {"drops", drops}};
  // Names come from a peer: invalid UTF-8 is replaced and causes no exception.
  print("{}\n", summary.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

void write_snapshot(const wire::Image& image, const std::filesystem::path& path, const ImageWriter& writer) {
  ImageFile file;
  file.grid = grid_of(image);
  const AxisMeanings axes = meanings_of(image);
  file.x = axes.x;
  file.y = axes.y;
  file.z = axes.z;
  if (image.has_lines()) {
    const wire::LineGeometry& lines = image.lines();
    file.lines = LineGeometry{Metres(lines.apex_x()), Metres(lines.apex_z()), Metres(lines.radius()), lines.angle()};
  }
  if (!image.pixel_name().empty()) file.pixels.name = image.pixel_name();
  file.pixels.unit = image.pixel_unit();
  file.scale = scale_of(image);
  file.limit = image.pixel_limit();
  const bool numbers = shows_numbers(file.scale.kind);
  if (numbers) file.scale.end = std::max(0.0, image.reference());
  file.title = fmt::format("{}, sequence {}", image.stream(), image.sequence());
  file.view = image.view();
  file.dynamic_range_db = image.dynamic_range_db();
  std::vector<float> envelope(file.grid.pixels());
  if (image.encoding() != wire::ENVELOPE_FLOAT32) {
    show_levels(file, std::as_bytes(std::span(image.pixels())), envelope);
  } else {
    // The bytes of the message need not be aligned for numbers.
    std::memcpy(envelope.data(), image.pixels().data(), envelope.size() * sizeof(float));
    file.envelope = envelope;
    file.gain_db = image.gain_db();
    if (!numbers && image.reference() > 0.0) file.reference = image.reference();
  }
  writer.write(file);
  spdlog::info("wrote {}", path.string());
}

using Writers = std::vector<std::pair<std::filesystem::path, std::unique_ptr<ImageWriter>>>;

/// The display stream of an image whose axes do not span a plane of the part. Figures show that stream instead of the image.
class FigureStream {
 public:
  FigureStream(const ViewOptions& options, std::optional<CurveClientKeys> keys, const Writers& writers)
      : options_(options),
        keys_(std::move(keys)),
        wanted_(std::any_of(writers.begin(), writers.end(), [](const auto& to) { return to.second->draws(); })) {}

  /// Must be called for each image of the stream that is watched.
  void follow(const wire::Image& image) {
    if (!wanted_ || image.encoding() != wire::ENVELOPE_FLOAT32) return;
    const AxisMeanings axes = meanings_of(image);
    if (is_plane_of_part(axes.x, axes.z)) {
      subscriber_.reset();
      return;
    }
    if (!subscriber_) {
      subscriber_ = std::make_unique<ImageSubscriber>(SubscriberOptions{
          .endpoint = options_.connect, .stream = image.stream() + ".display", .latest_only = true, .keys = keys_});
    }
    take(std::chrono::milliseconds(0));
  }
  /// The image that figures show: the newest display image, which may belong to the frame before or after. Null where figures
  /// show the watched image itself, also where no display image comes.
  [[nodiscard]] const wire::Image* newest() {
    if (!subscriber_) return nullptr;
    take(std::chrono::milliseconds(last_ ? 0 : 2000));
    return last_ ? &*last_ : nullptr;
  }

 private:
  void take(std::chrono::milliseconds timeout) {
    if (const wire::Image* const image = subscriber_->receive(timeout)) last_ = *image;
  }

  const ViewOptions& options_;
  std::optional<CurveClientKeys> keys_;
  bool wanted_;
  std::unique_ptr<ImageSubscriber> subscriber_;
  std::optional<wire::Image> last_;
};

/// Finds the streams that a server publishes, while no image of the watched stream has come.
class StreamSearch {
 public:
  using Clock = std::chrono::steady_clock;

  StreamSearch(const ViewOptions& options, std::optional<CurveClientKeys> keys)
      : subscriber_({.endpoint = options.connect, .stream = "", .latest_only = false, .keys = std::move(keys)}) {}

  /// Reads what has come. True once all streams are known: the images of a frame come before those of the next.
  [[nodiscard]] bool complete() {
    constexpr int images_at_once = 64;
    for (int taken = 0; !complete_ && taken < images_at_once; ++taken) {
      const wire::Image* const image = subscriber_.receive(std::chrono::milliseconds(0));
      if (image == nullptr) break;
      if (!first_) first_ = Clock::now();
      auto& names = image->encoding() == wire::ENVELOPE_FLOAT32 ? envelopes_ : displays_;
      complete_ = !names.insert(image->stream()).second || names.size() == names_limit;
    }
    return complete_ || (first_ && Clock::now() - *first_ >= longest_frame);
  }
  /// Names of the envelope streams, or of the display streams where there are no others.
  [[nodiscard]] const std::set<std::string>& streams() const { return envelopes_.empty() ? displays_ : envelopes_; }
  [[nodiscard]] bool found(const std::string& stream) const { return envelopes_.contains(stream) || displays_.contains(stream); }

 private:
  static constexpr std::size_t names_limit = 64;           // a peer may make up any number
  static constexpr std::chrono::seconds longest_frame{1};  // from its first stream to its last

  ImageSubscriber subscriber_;
  std::set<std::string> envelopes_;
  std::set<std::string> displays_;
  std::optional<Clock::time_point> first_;
  bool complete_ = false;
};

/// Reports the state of the connection: once when the first image is late, and whenever it changes after that.
class ConnectionNotes {
 public:
  explicit ConnectionNotes(std::string endpoint) : endpoint_(std::move(endpoint)) {}

  void tell(ConnectionState state, bool any_image) {
    // Attempts that fail in different ways are the same problem, which is reported once.
    if (told_ && !any_image && state == ConnectionState::absent) return;
    if (told_ == state || (!told_ && any_image && state == ConnectionState::established)) return;
    switch (state) {
      case ConnectionState::absent:
        spdlog::warn("nobody answers at {}{}", endpoint_, any_image ? " any more" : ": does a server publish images there?");
        break;
      case ConnectionState::unanswered:
        spdlog::warn(
            "{} takes the connection, but does not answer as an Echoform server: does it publish images there, and do "
            "--server-key and --key fit?",
            endpoint_);
        break;
      case ConnectionState::established:
        spdlog::info("connected to {}{}", endpoint_, any_image ? " again" : ": no image has come yet");
        break;
    }
    told_ = state;
  }

 private:
  const std::string endpoint_;
  std::optional<ConnectionState> told_;
};

void write_snapshots(const Writers& writers, const wire::Image& last, FigureStream& figures) {
  for (const auto& [path, writer] : writers) {
    const wire::Image* const display = writer->draws() ? figures.newest() : nullptr;
    write_snapshot(display != nullptr ? *display : last, path, *writer);
  }
}

// A server that sends nothing is reported within 3 s.
constexpr std::chrono::milliseconds search_after{1000};
constexpr std::chrono::milliseconds tell_after{2500};

/// The stream to watch instead of the default one that the server does not have. Nothing where the user has requested a stream,
/// which may still come. Throws InputError where there are several to choose from.
std::optional<std::string> other_stream(const ViewOptions& options, const std::set<std::string>& streams) {
  if (options.stream) {
    spdlog::warn("no stream \"{}\" at {}, which has {}", one_line(*options.stream), options.connect,
                 one_line(fmt::format("{}", fmt::join(streams, ", "))));
    return std::nullopt;
  }
  if (streams.size() == 1) return *streams.begin();
  throw InputError("--stream", fmt::format("none, and {} streams at {}", streams.size(), options.connect),
                   fmt::format("one of {}", fmt::join(streams, ", ")));
}

int view(const ViewOptions& options) {
  Writers writers;
  for (const std::string& path : options.snapshots) writers.emplace_back(path, make_image_writer(path));
  const auto keys = client_keys(options.keys);
  StopSignals signals;
  std::optional<ImageSubscriber> subscriber;
  const auto subscribe = [&](const std::string& stream) {
    subscriber.emplace(
        SubscriberOptions{.endpoint = options.connect, .stream = stream, .latest_only = options.latest, .keys = keys});
    spdlog::info("subscribed to {} at {}", stream.empty() ? "every stream" : one_line(stream), options.connect);
  };
  // The default name of a server is tried first, so that usually no search is necessary.
  const std::string watched = options.stream.value_or(ServerSection{}.name);
  subscribe(watched);

  Observed seen;
  FigureStream figures(options, keys, writers);
  LiveLine live;
  const auto start = std::chrono::steady_clock::now();
  auto shown = start;
  auto heard = start;
  std::uint64_t malformed = 0;
  std::uint64_t told = 0;
  const auto over = [](std::chrono::steady_clock::duration time, double limit) {
    return limit > 0.0 && std::chrono::duration<double>(time).count() >= limit;
  };
  bool silent = false;
  ConnectionNotes notes(options.connect);
  std::optional<StreamSearch> search;
  bool searched = watched.empty();  // done, or not necessary
  while (!signals.token().stop_requested()) {
    const wire::Image* image = subscriber->receive(std::chrono::milliseconds(100));
    const auto now = std::chrono::steady_clock::now();
    if (image != nullptr) {
      seen.take(*image);
      figures.follow(*image);
      heard = now;
      search.reset();
      searched = true;
    } else if (!searched && now - start >= search_after) {
      if (!search) search.emplace(options, keys);
      if (search->complete()) {
        if (!search->found(watched)) {
          if (const auto other = other_stream(options, search->streams())) subscribe(*other);
        }
        search.reset();
        searched = true;
      }
    }
    if (seen.last || now - start >= tell_after) notes.tell(subscriber->connection(), seen.last.has_value());
    if (now - shown >= std::chrono::seconds(1)) {
      const SubscriberStatistics statistics = subscriber->statistics();
      if (statistics.messages != told || on_terminal()) live.show(live_text(statistics, seen));
      told = statistics.messages;
      if (statistics.malformed > malformed) spdlog::warn("malformed message: {}", subscriber->last_fault());
      malformed = statistics.malformed;
      shown = now;
    }
    if (options.frames > 0 && subscriber->statistics().sequences >= options.frames) break;
    if (over(now - start, options.seconds)) break;
    if (over(now - heard, options.timeout)) {
      silent = true;
      break;
    }
  }
  live.finish();
  const SubscriberStatistics statistics = subscriber->statistics();
  if (options.json) {
    print_json(statistics, seen);
  } else {
    print_summary(statistics, seen);
  }
  if (seen.last) {
    write_snapshots(writers, *seen.last, figures);
  } else if (!writers.empty()) {
    throw RuntimeFault(fmt::format("no image came from {}: no snapshot was written", options.connect));
  }
  if (silent) throw RuntimeFault(fmt::format("no image came from {} for {:g} s", options.connect, options.timeout));
  return 0;
}

}  // namespace

Action define_view(CLI::App& options) {
  auto chosen = std::make_shared<ViewOptions>();
  options.add_option("--connect", chosen->connect, "Where the server publishes images")
      ->option_text("tcp://HOST:PORT (tcp://127.0.0.1:17180)");
  options
      .add_option("--stream", chosen->stream,
                  "Name of the stream; NAME.display is the 8-bit image (default: the only stream that there is)")
      ->option_text("NAME");
  options.add_option("--frames", chosen->frames, "Ends after so many images; 0: none")
      ->check(whole_number())
      ->option_text("N (0)");
  options.add_option("--seconds", chosen->seconds, "Ends after this time; 0: never")
      ->check(CLI::Range(0.0, 1e9))
      ->option_text("S (0)");
  options.add_option("--timeout", chosen->timeout, "Fails if no image comes for so long; 0: waits for ever")
      ->check(CLI::Range(0.0, 1e9))
      ->option_text("S (0)");
  options
      .add_option("--snapshot", chosen->snapshots,
                  fmt::format("Write the last image: {}; may be repeated", fmt::join(image_writer_extensions(), ", ")))
      ->option_text("FILE")
      ->take_all();
  add_key_options(options, chosen->keys);
  options.add_flag("--json", chosen->json, "Print the summary as one JSON object");
  options.add_flag("--latest", chosen->latest, "Read only the newest image, skipping those that came meanwhile");
  return [chosen] { return view(*chosen); };
}

}  // namespace echoform
