// echoform plan: reports what a set-up will achieve, before anything is imaged.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "apps/command.hpp"
#include "apps/common.hpp"
#include "apps/slow_work.hpp"
#include "apps/text_output.hpp"
#include "base/errors.hpp"
#include "benchmarks/frame.hpp"
#include "config/memory_limit.hpp"
#include "config/memory_text.hpp"
#include "formats/atomic_file.hpp"
#include "formats/recording.hpp"
#include "methods/host_memory.hpp"
#include "methods/registry.hpp"
#include "offline/recorded_frame.hpp"
#include "offline/recorded_scan.hpp"
#include "pipeline/scan.hpp"
#include "pipeline/setup_memory.hpp"

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

/// An encoder count whose cell has not contributed yet: the scan is cleared, and the probe alternates between two cells.
EncoderCount new_count(const Scan& scan, std::size_t turn) {
  scan.record->clear();
  const EncoderScale& encoder = scan.encoder;
  const Metres s = scan.model_position + (turn % 2 == 0 ? 1.01 : 0.0) * encoder.step;
  return std::llround((s - encoder.origin) / encoder.per_count);
}

/// Images one frame of noise repeatedly; for a scan, each time at a position that is new. The first image is not counted, because
/// it creates what later ones reuse.
Measurement measure(const std::shared_ptr<const ImagingSetup>& setup, const BackendChoice& choice) {
  using Clock = std::chrono::steady_clock;
  const auto engine = make_engine(setup, choice, {});
  FrameSlot slot;
  engine->equip(slot);
  const std::vector<std::byte> noise = benchmarks::noise_frame(setup->acquisition);
  std::memcpy(slot.samples.data(), noise.data(), std::min(noise.size(), slot.samples.size()));
  std::size_t turn = 0;
  const auto image_one = [&] {
    if (setup->scan != nullptr) slot.position = new_count(*setup->scan, ++turn);
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

/// Adds the scan to the report, whose other figures are for one position.
void report_scan(const Scan& scan, SetupReport& report) {
  const auto text = [](const Grid& grid) { return text_of(GridPixels(grid.x.count, grid.y.count, grid.z.count)); };
  const Grid& covered = scan.model->recipe.outputs.front().description.grid;
  const EncoderScale& encoder = scan.encoder;
  report.row("scan", fmt::format("the above is of one position, which covers {} of the scan's {} pixels; cells of {:.4g} mm, "
                                 "{:.4g} mm a count",
                                 text(covered), text(scan.grid), 1e3 * encoder.step.value, 1e3 * encoder.per_count.value));
  report.values["scan"] = {{"cell", encoder.step.value},
                           {"per_count", encoder.per_count.value},
                           {"pixels", scan.grid.pixels()},
                           {"pixels_of_a_position", covered.pixels()}};
}

int plan_command(const PlanOptions& options) {
  if (!options.json_file.empty()) {
    check_output_place(options.json_file);
    require_other_file(options.json_file, options.recording, "--json");
    require_other_file(options.json_file, options.config, "--json");
  }
  Configuration configuration = configuration_from(options.config);
  apply_backend_option(options.backend, configuration);

  const Method& method = method_of(configuration);
  Acquisition acquisition;
  StatedByData stated;
  if (options.recording.empty()) {
    const SimulatorConfiguration simulated = simulated_source(configuration);
    acquisition = acquisition_of(simulated);
    stated.material = simulated.material;
  } else {
    auto recording = open_recording(options.recording);
    follow_path(recording, configuration, PlacedCounts::exact);
    acquisition = recorded_acquisition(*recording, 0);
    stated = {recording->material(), recording->wedge_velocity()};
    log_warnings(*recording);
  }
  settle_backend(configuration);
  std::optional<SlowWork> work(std::in_place, "finding rays and delays");
  const std::size_t slots = configuration.input.slots;
  const auto setup = resolve_imaging({configuration, acquisition, stated, slots, ImagingUse::description});
  for (const std::string& line : setup->notes) spdlog::info("{}", line);

  work->begin("finding what the image resolves");
  SetupReport report = method.report(*setup);
  report.warnings.insert(report.warnings.end(), setup->warnings.begin(), setup->warnings.end());
  if (setup->scan != nullptr) report_scan(*setup->scan, report);
  const auto needed = static_cast<double>(host_memory(*setup, slots, imaging_site(configuration)));
  report.row("memory", fmt::format("{} with {} frames in flight ([input] slots), of {}", memory_text(needed), slots,
                                   memory_text(memory_limit(configuration))));
  report.values["memory"] = {{"bytes", needed}, {"frames_in_flight", slots}};
  for (const double link : options.links) {
    const double rate = 1e9 * link / (8.0 * static_cast<double>(setup->acquisition.frame_bytes()));
    report.row("link", fmt::format("{:g} Gbit/s carry {:.4g} frames/s at most", link, rate));
    report.values["links"].push_back({{"bits_per_second", 1e9 * link}, {"frames_per_second", rate}});
  }
  if (!options.no_measure) {
    work->begin("measuring the image rate (--no-measure leaves that out)");
    const Measurement found = measure(setup, backend_choice(configuration.imaging));
    const std::string_view what = setup->scan == nullptr ? "images/s here" : "new positions/s here, with their delay tables";
    report.row("images", fmt::format("{:.4g} {}, from memory, one after the other ({} in {} ms; {})", found.images_per_second,
                                     what, found.images, measured_for.count(), found.engine));
    report.values["images_per_second"] = found.images_per_second;
    report.values["engine"] = found.engine;
  }
  work.reset();
  for (const auto& [name, text] : report.rows) print_result("{:<11} {}\n", name, text);
  for (const std::string& text : report.warnings) print_result("warning: {}\n", text);
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
