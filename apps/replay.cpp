// echoform replay: a recording as a live source.
#include <fmt/format.h>

#include "apps/command.hpp"
#include "apps/play.hpp"
#include "pipeline/errors.hpp"
#include "pipeline/words.hpp"

namespace echoform {

Action define_replay(CLI::App& options) {
  struct Chosen {
    std::string input;
    PlayTexts play;
    std::string encoding = "float32";
    bool loop = false;
  };
  auto chosen = std::make_shared<Chosen>();
  chosen->play.rate = "25";
  options.add_option("INPUT", chosen->input, "The recording")->required();
  add_play_options(options, chosen->play);
  options.add_option("--encoding", chosen->encoding, "How samples are sent: int16, packed12 or float32")
      ->option_text("WORD (float32)");
  options.add_flag("--loop", chosen->loop, "Begin again after the last frame, until Ctrl-C");
  return [chosen] {
    PlayOptions play = play_options(chosen->play);
    play.loop = chosen->loop;
    const auto encoding = words::sample_encoding.from(chosen->encoding);
    if (!encoding) throw InputError("--encoding", fmt::format("\"{}\"", chosen->encoding), words::sample_encoding.list());
    RecordingSource source(open_recording(chosen->input), *encoding);
    return play_and_report(source, play);
  };
}

}  // namespace echoform
