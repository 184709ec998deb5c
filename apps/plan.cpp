// echoform plan: what a set-up will give, before anything is imaged.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/recorded_frame.hpp"
#include "apps/setup_report.hpp"
#include "base/errors.hpp"
#include "benchmarks/frame.hpp"
#include "config/memory_text.hpp"
#include "formats/atomic_file.hpp"
#include "formats/recording.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/scene.hpp"
#include "methods/tfm/setup.hpp"
#include "methods/tfm/simulated_scene.hpp"
#include "pipeline/words.hpp"

namespace echoform {
namespace {

struct PlanOptions {
  std::string config;
  std::string recording;
  std::string json_file;
  std::string backend;
  std::vector<double> links{1.0, 10.0};  // Gbit/s
  bool no_measure = false;
};

constexpr std::chrono::milliseconds measured_for{500};

struct Measurement {
  double images_per_second = 0.0;
  std::size_t images = 0;
  std::string engine;
};

/// Images one frame of noise again and again. The first is not counted: it makes what later ones find.
Measurement measure(const std::shared_ptr<const ImagingPlan>& plan, const BackendChoice& choice) {
  using Clock = std::chrono::steady_clock;
  const auto engine = make_engine(make_imaging_setup(plan), choice, {});
  FrameSlot slot;
  engine->equip(slot);
  const std::vector<std::byte> noise = benchmarks::noise_frame(plan->acquisition);
  std::memcpy(slot.samples.data(), noise.data(), std::min(noise.size(), slot.samples.size()));
  const auto image_one = [&] {
    if (!image_now(*engine, slot)) throw RuntimeFault("the backend could not image a frame");
  };
  image_one();
  Measurement found{.engine = engine->describe()};
  const auto begin = Clock::now();
  std::chrono::duration<double> taken{};
  do {
    image_one();
    ++found.images;
    taken = Clock::now() - begin;
  } while (taken < measured_for);
  found.images_per_second = static_cast<double>(found.images) / taken.count();
  return found;
}

int plan_command(const PlanOptions& options) {
  if (!options.json_file.empty()) check_output_place(options.json_file);
  Configuration configuration = configuration_from(options.config);
  apply_backend_option(options.backend, configuration);

  Acquisition acquisition;
  Material stated;
  if (options.recording.empty()) {
    const SimulatorConfiguration simulated = simulator_configuration(configuration);
    acquisition = acquisition_of(simulated);
    stated = simulated.material;
  } else {
    const auto recording = open_recording(options.recording);
    acquisition = recorded_acquisition(*recording, 0);
    stated = recording->material();
    log_warnings(*recording);
    adopt_wedge_velocity(configuration, recording->wedge_velocity());
  }
  settle_backend(configuration);
  const std::size_t slots = configuration.input.slots;
  const auto plan = build_plan(configuration, acquisition, stated, slots, PlanUse::description);

  SetupReport report = report_setup(*plan, make_scene(configuration, plan->acquisition.probe));
  const double needed = memory_needed(*plan, slots, imaged_by(configuration.imaging));
  report.row("memory", fmt::format("{} with {} frames in flight ([input] slots), of {}", memory_text(needed), slots,
                                   memory_text(configuration.imaging.memory_limit.value_or(default_memory_limit()))));
  report.values["memory"] = {{"bytes", needed}, {"frames_in_flight", slots}};
  for (const double link : options.links) {
    const double rate = frames_per_second_of_link(1e9 * link, plan->acquisition.frame_bytes());
    report.row("link", fmt::format("{:g} Gbit/s carry {:.4g} frames/s at most", link, rate));
    report.values["links"].push_back({{"bits_per_second", 1e9 * link}, {"frames_per_second", rate}});
  }
  if (!options.no_measure) {
    const Measurement found = measure(plan, backend_choice(configuration.imaging));
    report.row("images", fmt::format("{:.4g} images/s here, from memory, one after the other ({} in {} ms; {})",
                                     found.images_per_second, found.images, measured_for.count(), found.engine));
    report.values["images_per_second"] = found.images_per_second;
    report.values["engine"] = found.engine;
  }
  for (const auto& [name, text] : report.rows) fmt::print("{:<11} {}\n", name, text);
  for (const std::string& text : report.warnings) fmt::print("warning: {}\n", text);
  if (!options.json_file.empty()) {
    report.values["warnings"] = report.warnings;
    const std::string text = report.values.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
    write_file(options.json_file, std::as_bytes(std::span(text)));
  }
  return 0;
}

}  // namespace

Action define_plan(CLI::App& options) {
  auto chosen = std::make_shared<PlanOptions>();
  options.add_option("--config", chosen->config, "TOML file: the set-up (docs/configuration.md)")
      ->required()
      ->option_text("FILE");
  options.add_option("--recording", chosen->recording, "Probe and sampling of this recording instead of [simulator]'s")
      ->option_text("FILE");
  options.add_option("--json", chosen->json_file, "Also write every figure as JSON, in SI units")->option_text("FILE");
  options.add_option("--link", chosen->links, "Rate of a link that frames shall come by, in Gbit/s; may be repeated")
      ->check(CLI::Range(1e-6, 1e6))
      ->option_text("RATE (1, 10)");
  options.add_flag("--no-measure", chosen->no_measure, "Leave out the images a second that this machine makes");
  add_backend_option(options, chosen->backend);
  return [chosen] { return plan_command(*chosen); };
}

}  // namespace echoform
