// echoform image: the options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <memory>
#include <string>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/image_job.hpp"
#include "apps/processes.hpp"
#include "formats/image_writer.hpp"

namespace echoform {

Action define_image(CLI::App& options) {
  auto chosen = std::make_shared<ImageOptions>();
  options.add_option("INPUT", chosen->input, "The recording")->required();
  options.add_option("--config", chosen->config, "TOML file: material, grid, views (docs/configuration.md)")->option_text("FILE");
  options
      .add_option("--output", chosen->outputs,
                  fmt::format("Where to: {}; may be repeated", fmt::join(image_writer_extensions(), ", ")))
      ->required()
      ->option_text("FILE")
      ->take_all();
  options.add_option("--field", chosen->field, "What files of numbers hold: envelope (float32) or analytic (complex64)")
      ->option_text("WORD (envelope)");
  options.add_option("--frame", chosen->frame, "Which frame, from 0")->option_text("K (0)");
  options
      .add_option("--from", chosen->from,
                  "The first of several frames, each imaged by itself into files of its own; of a scan ([scan]) all into one")
      ->option_text("K (0)");
  options.add_option("--to", chosen->to, "The last of them")->option_text("K (the recording's last)");
  options
      .add_option(
          "--positions", chosen->positions,
          "The image of these positions of the probe alone, from 0, such as 3-7,9: of each frame that has several, or the "
          "places of a scan in the order in which frames come to them")
      ->option_text("LIST (all)");
  options.add_flag("--by-groups", chosen->by_groups,
                   "Image group by group of A-scans, also frames that [imaging] memory_limit holds");
  options.add_flag("--crop-distance", chosen->crop_distance,
                   "Also say how far the crop of live runs ([imaging] guard) would move the image");
  add_backend_option(options, chosen->backend);
  return [chosen] { return run_processes([&](Communicator& communicator) { make_images(*chosen, communicator); }); };
}

}  // namespace echoform
