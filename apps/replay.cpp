// echoform replay: plays a recording as a live source.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "acquisition/words.hpp"
#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/play.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "formats/capture_file.hpp"
#include "methods/registry.hpp"
#include "offline/recorded_frame.hpp"
#include "offline/recorded_scan.hpp"
#include "recording/capture_replay.hpp"

namespace echoform {
namespace {

/// Selects the sample encoding of the file itself.
constexpr std::string_view stored_word = "stored";

int replay_bytes(const std::string& input, const PlayTexts& texts) {
  const HostPort place = parse_host_port(texts.connect, "--connect");
  StopSignals signals;
  spdlog::info("{}: a capture, as it came, to {}:{}", input, place.host, place.port);
  LiveLine live;
  const CaptureReplayReport report = replay_capture(
      {.input = input, .host = place.host, .port = place.port}, signals.token(), [&](const CaptureReplayReport& now) {
        live.show(fmt::format("{:.1f} MB sent on {} connections, at most {:.1f} ms late", 1e-6 * static_cast<double>(now.bytes),
                              now.connections, milliseconds(now.latest)));
      });
  live.finish();
  for (const std::string& ending : report.endings) spdlog::warn("{}", ending);
  print("sent {} bytes on {} connections in {:.3f} s, at most {:.3f} ms late\n", report.bytes, report.connections,
        1e-3 * milliseconds(report.elapsed), milliseconds(report.latest));
  return 0;
}

}  // namespace

Action define_replay(CLI::App& options) {
  struct Chosen {
    std::string input;
    PlayTexts play;
    std::string encoding{stored_word};
    std::string config;
    bool loop = false;
  };
  auto chosen = std::make_shared<Chosen>();
  options.add_option("INPUT", chosen->input, "The recording")->required();
  add_play_options(options, chosen->play);
  options.get_option("--rate")->description(
      "Frames per second (25), or max for as fast as the server takes them; none: a capture as it came");
  options.add_option("--encoding", chosen->encoding, "How samples are sent: int16, packed12, float32, or stored: as in the file")
      ->option_text("WORD (stored)");
  options
      .add_option("--config", chosen->config,
                  "TOML file whose [scan] says which counts of the encoder the file's placements of the probe are")
      ->option_text("FILE");
  options.add_flag("--loop", chosen->loop, "Begin again after the last frame, until Ctrl-C");
  return [chosen, &options] {
    if (chosen->play.rate.empty() && std::filesystem::path(chosen->input).extension() == capture_extension) {
      for (const char* const name :
           {"--zeromq", "--encoding", "--loop", "--connections", "--frames", "--token-file", "--skip-late", "--config"}) {
        if (options.count(name) > 0)
          throw InputError(name, "it beside a capture that is sent as it came",
                           "--rate FPS|max beside it, which sends its frames");
      }
      return replay_bytes(chosen->input, chosen->play);
    }
    if (chosen->play.rate.empty()) chosen->play.rate = "25";
    PlayOptions play = play_options(chosen->play);
    play.loop = chosen->loop;
    std::optional<SampleEncoding> encoding;
    if (chosen->encoding != stored_word) {
      encoding = words::sample_encoding.from(chosen->encoding);
      if (!encoding) {
        throw InputError("--encoding", fmt::format("\"{}\"", chosen->encoding),
                         fmt::format("{}, {}", words::sample_encoding.list(), stored_word));
      }
    }
    auto recording = open_recording(chosen->input);
    Configuration configuration = configuration_from(chosen->config);
    log_doubts(configuration);
    follow_path(recording, configuration, PlacedCounts::as_configured);
    log_doubts_about_data(configuration, recorded_acquisition(*recording, 0),
                          {recording->material(), recording->wedge_velocity()});
    if (recording->pose(0) && !recording->placed_by_encoder()) {
      spdlog::warn(
          "{}: the probe moves from frame to frame, which is sent as if it stayed where the first frame has it: expected "
          "--config FILE with [scan]",
          chosen->input);
    }
    RecordingSource source(std::move(recording), encoding);
    return play_and_report(source, play);
  };
}

}  // namespace echoform
