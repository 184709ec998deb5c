// Tomography on the GPU: back-projection onto whole volumes, and live images and volumes from pinned memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/device_timing.hpp"
#include "benchmarks/frame_ring.hpp"
#include "benchmarks/tomography_devices.hpp"
#include "benchmarks/tomography_gpu.hpp"
#include "gpu/device_probe.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

struct VolumeCase {
  std::size_t rings = 64;
  std::size_t views = 90;
  double goal = 0.0;   ///< goal, s
  double paper = 0.0;  ///< time of Wang and others (2013), on their GPUs, s
};
constexpr std::array volume_cases{VolumeCase{32, 45, 0.02, 6.0}, VolumeCase{64, 45, 0.04, 12.0}, VolumeCase{64, 90, 0.08, 23.0},
                                  VolumeCase{128, 90, 0.15, 46.0}};

// Goals, in frames a second.
constexpr double live_volumes_goal = 1500.0;
constexpr double live_images_goal = 5000.0;

bool wanted(const Options& options, std::string_view part) {
  return options.part == "all" || options.part == part;
}

void measure_volume(const Options& options, const VolumeCase& which, TomographyAlgorithm algorithm, Outcome& outcome) {
  ProjectionCase test;
  test.rings = which.rings;
  test.views = which.views;
  test.samples = options.samples.value_or(test.samples);
  test.across = options.pixels.value_or(test.across);
  test.planes = ProjectionCase::all_planes;
  test.rounds = options.frames.value_or(test.rounds);
  const ProjectionOnGpu figure = measure_projection_on_gpu(test, algorithm);
  const bool filtered = algorithm == TomographyAlgorithm::fbp;
  const auto name = words::tomography_algorithm.of(algorithm);
  outcome.say(fmt::format("    {:<4} {:>3} x {:<3} {}, {}{}; {:.1e} from double precision", name, test.rings, test.views,
                          text_of(figure.seconds, milliseconds_unit), text_of(figure.rate, {"T pairs/s", 1e12, 3}),
                          filtered ? fmt::format("; goal {:.0f} ms, paper {:.0f} s", 1e3 * which.goal, which.paper) : "",
                          figure.difference));
  outcome.values["volumes"].push_back({{"algorithm", name},
                                       {"rings", test.rings},
                                       {"views", test.views},
                                       {"samples", test.samples},
                                       {"across", test.across},
                                       {"planes", test.planes},
                                       {"pairs", figure.pairs},
                                       {"seconds", json_of(figure.seconds)},
                                       {"pairs_per_second", json_of(figure.rate)},
                                       {"goal_seconds", filtered ? which.goal : 0.0},
                                       {"difference", figure.difference}});
}

void measure_live(const std::string& name, const std::string& what, const std::shared_ptr<const ImagingSetup>& setup,
                  double pairs, double goal, std::size_t frames, Outcome& outcome) {
  const BackendChoice cuda{false, BackendKind::cuda};
  const RingReport report = measure_ring(setup, cuda, std::max<std::size_t>(10, frames));
  const std::vector<StageFigure> eager = eager_stages(setup, cuda, 20);
  outcome.say(fmt::format("  {}: {}, goal {:.0f}; {:.2f} T pairs/s; one frame alone {}", what,
                          text_of(report.images_per_second, images), goal, 1e-12 * pairs * report.images_per_second.median,
                          text_of(report.alone_seconds, milliseconds_unit)));
  json stages = json::array();
  std::string text;
  for (const StageFigure& figure : eager) {
    text += fmt::format("{}{} {:.3f}", text.empty() ? "" : ", ", figure.stage, 1e3 * figure.seconds.median);
    stages.push_back({{"stage", figure.stage}, {"seconds", json_of(figure.seconds)}});
  }
  outcome.say(fmt::format("    stage by stage, ms: {}", text));
  outcome.values[name] = {
      {"images_per_second", json_of(report.images_per_second)}, {"goal", goal},           {"pairs", pairs},
      {"alone_seconds", json_of(report.alone_seconds)},         {"eager_stages", stages}, {"engine_bytes", report.engine_bytes}};
}

void measure_live_volume(const Options& options, Outcome& outcome) {
  LiveVolumeCase test;
  test.voxels = options.pixels.value_or(test.voxels);
  test.samples = options.samples.value_or(test.samples);
  const double voxels = static_cast<double>(test.voxels * test.voxels * test.voxels);
  for (const TomographyAlgorithm algorithm : {TomographyAlgorithm::ubp, TomographyAlgorithm::fbp}) {
    const std::string name(words::tomography_algorithm.of(algorithm));
    measure_live("live_" + name,
                 fmt::format("live volumes, {}, {} detectors x {} samples of int16 onto {}^3, display out", name,
                             test.detectors(), test.samples, test.voxels),
                 live_volume_setup(test, algorithm), voxels * static_cast<double>(test.detectors()), live_volumes_goal,
                 options.frames.value_or(2000), outcome);
  }
}

void measure_ring_images(const Options& options, Outcome& outcome) {
  LiveRingCase test;
  test.pixels = options.pixels.value_or(400);
  test.detectors = options.elements.value_or(test.detectors);
  test.samples = options.samples.value_or(test.samples);
  measure_live("ring",
               fmt::format("live images of a ring, ubp, {} detectors x {} samples of int16 onto {} x {}, band of 0.2 to 8 MHz",
                           test.detectors, test.samples, test.pixels, test.pixels),
               live_ring_setup(test), static_cast<double>(test.pixels * test.pixels * test.detectors), live_images_goal,
               options.frames.value_or(5000), outcome);
}

/// Measures several GPUs and compares them with one.
void measure_devices(const std::string& name, const std::vector<std::size_t>& counts,
                     const std::function<Spread(std::size_t devices)>& measure, Outcome& outcome) {
  double alone = 0.0;
  json figures = json::array();
  for (const std::size_t devices : counts) {
    const Spread seconds = measure(devices);
    if (devices == 1) alone = seconds.median;
    const double times = alone / seconds.median;
    outcome.say(fmt::format("    {}, {} GPU{}: {}{}", name, devices, devices == 1 ? "" : "s", text_of(seconds, milliseconds_unit),
                            devices == 1 ? "" : fmt::format(", {:.2f} times as fast", times)));
    figures.push_back({{"devices", devices}, {"seconds", json_of(seconds)}, {"times", times}});
  }
  outcome.values["devices"].push_back({{"what", name}, {"figures", figures}});
}

void measure_several(const Options& options, Outcome& outcome, LiveLine& progress) {
  std::vector<std::size_t> counts;
  for (std::size_t count = 1; count <= probe_devices().devices.size(); count *= 2) counts.push_back(count);
  ProjectionCase test;
  test.samples = options.samples.value_or(test.samples);
  test.across = options.pixels.value_or(test.across);
  test.planes = ProjectionCase::all_planes;
  test.rounds = options.frames.value_or(test.rounds);
  const auto attempt = [&](const std::string& name, const std::function<Spread(std::size_t)>& measure) {
    progress.show("tomography: several GPUs, " + name);
    outcome.attempt(name, [&] { measure_devices(name, counts, measure, outcome); });
  };
  ProjectionCase most = test;
  most.rings = 128;
  attempt("fbp 128 x 90", [&](std::size_t devices) { return projections_on_devices(most, TomographyAlgorithm::fbp, devices); });
  attempt("spherical model 64 x 90",
          [&](std::size_t devices) { return models_on_devices(test, ModelOnDevices::spherical, devices); });
  attempt("interpolated model 64 x 90",
          [&](std::size_t devices) { return models_on_devices(test, ModelOnDevices::interpolated, devices); });
}

}  // namespace

Outcome tomography_cuda(const Options& options, LiveLine& progress) {
  Outcome outcome;
  outcome.say(fmt::format("tomography on {}", device_facts().text()));
  if (wanted(options, "volumes")) {
    outcome.say(fmt::format("  back-projection onto {0} x {0} x {1} voxels, from terms in device memory",
                            options.pixels.value_or(ProjectionCase{}.across), ProjectionCase::all_planes));
    for (const TomographyAlgorithm algorithm : {TomographyAlgorithm::fbp, TomographyAlgorithm::ubp}) {
      for (const VolumeCase& which : volume_cases) {
        const std::string name = fmt::format("{} {} x {}", words::tomography_algorithm.of(algorithm), which.rings, which.views);
        progress.show("tomography: " + name);
        outcome.attempt(name, [&] { measure_volume(options, which, algorithm, outcome); });
      }
    }
  }
  if (wanted(options, "live")) {
    progress.show("tomography: live volumes");
    outcome.attempt("live volumes", [&] { measure_live_volume(options, outcome); });
  }
  if (wanted(options, "ring")) {
    progress.show("tomography: a ring");
    outcome.attempt("ring", [&] { measure_ring_images(options, outcome); });
  }
  // These run only on request: models hold a GPU's memory and take the time of many frames.
  if (options.part == "devices") {
    outcome.say("  several GPUs, from all beginning to all having done; models: apply and adjoint, images from and to the host");
    measure_several(options, outcome, progress);
  }
  return outcome;
}

}  // namespace echoform::bench
