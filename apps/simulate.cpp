// echoform simulate: the simulated FMC source.
#include <optional>

#include "apps/command.hpp"
#include "apps/play.hpp"
#include "methods/registry.hpp"
#include "simulators/frame_cycle.hpp"
#include "simulators/simulator_section.hpp"

namespace echoform {

Action define_simulate(CLI::App& options) {
  struct Chosen {
    PlayTexts play;
    std::string config;
    std::optional<std::uint64_t> seed;
  };
  auto chosen = std::make_shared<Chosen>();
  chosen->play.rate = "25";
  add_play_options(options, chosen->play);
  options.add_option("--config", chosen->config, "TOML file whose [simulator] describes probe, sampling and part")
      ->option_text("FILE");
  options.add_option("--seed", chosen->seed, "Another seed moves a reflector and changes the noise (default: [simulator] seed)")
      ->check(whole_number())
      ->option_text("N");
  return [chosen] {
    const PlayOptions play = play_options(chosen->play);
    Configuration configuration = configuration_from(chosen->config);
    if (chosen->seed) section<SimulatorSection>(configuration).source.seed = *chosen->seed;
    FrameCycle cycle = synthesised(simulated_source(configuration));
    log_doubts(configuration);
    return play_and_report(cycle, play);
  };
}

}  // namespace echoform
