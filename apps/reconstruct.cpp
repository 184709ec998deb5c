// echoform reconstruct: the options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/processes.hpp"
#include "apps/reconstruct_job.hpp"
#include "formats/image_writer.hpp"

namespace echoform {

Action define_reconstruct(CLI::App& options) {
  auto chosen = std::make_shared<ReconstructOptions>();
  options.add_option("INPUT", chosen->input, "The recording")->required();
  options.add_option("--config", chosen->config, "TOML file: material, grid, [reconstruction] (docs/reconstruct.md)")
      ->required()
      ->option_text("FILE");
  options
      .add_option("--output", chosen->outputs,
                  fmt::format("Where to: {}; may be repeated", fmt::join(image_writer_extensions(), ", ")))
      ->required()
      ->option_text("FILE")
      ->take_all();
  options.add_option("--frame", chosen->frame, "Which frame, from 0")->option_text("K (0)");
  options.add_option("--iterations", chosen->iterations, "At most so many, those before --resume counted in")
      ->option_text("N ([reconstruction] iterations)");
  options.add_option("--checkpoint", chosen->checkpoint, "Where the state is kept, to go on from")->option_text("FILE");
  options.add_option("--every", chosen->every, "Iterations between two checkpoints; one is written at the end in any case")
      ->option_text("K (10)");
  add_backend_option(options, chosen->backend);
  options.add_flag("--resume", chosen->resume, "Go on from the checkpoint, where it is there");
  options.add_flag("--preview", chosen->preview, "Iterates on the page, [server] web, and for subscribers, [server] images");
  return [chosen] { return run_processes([&](Communicator& communicator) { reconstruct_volumes(*chosen, communicator); }); };
}

}  // namespace echoform
