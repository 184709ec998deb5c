// Compounding of plane waves: a batch of frames of a simulated rotating disk, with one, eight and 32 waves in a frame.
#include "benchmarks/compounding.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/tfm_gpu.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

void measure_waves(const CompoundingCase& test, const std::optional<Spread>& loads, LiveLine& progress, Outcome& outcome) {
  const std::string_view path = test.backend == BackendKind::cpu ? "float" : path_of(test.accuracy);
  const std::string name = fmt::format("{} plane wave{}, {}", test.waves, test.waves == 1 ? "" : "s", path);
  const CompoundingReport report =
      measure_compounding(test, [&](const std::string& what) { progress.show(fmt::format("compounding: {}: {}", name, what)); });
  Figure figure;
  figure.name = name;
  figure.value = report.points_per_second;
  figure.unit = {"T points/s", 1e12, 3};
  if (loads) figure.limit = fixed_limit("one shared load a point,", report.points_per_second, loads->median);
  figure.note = fmt::format(
      "{}; from samples to envelopes {}; disk {:.1f} dB above what is around it, axial velocities {:.3f} of its own, "
      "{:.1f} % of Nyquist rms",
      text_of(report.beamforming.seconds, milliseconds_unit), text_of(report.images_per_second, images), report.contrast_db,
      report.velocity_slope, 100.0 * report.velocity_error);
  figure.more = {{"waves", test.waves},
                 {"batch", test.batch},
                 {"path", path},
                 {"points", report.points},
                 {"seconds", json_of(report.beamforming.seconds)},
                 {"images_per_second", json_of(report.images_per_second)},
                 {"contrast_db", report.contrast_db},
                 {"velocity_slope", report.velocity_slope},
                 {"velocity_error", report.velocity_error},
                 {"turns", json_of(report.beamforming.turns)},
                 {"stage_bytes", report.stage_bytes}};
  outcome.add("figures", figure);
}

struct DataPath {
  double accuracy = 1e-3;         ///< ImagingPlan::accuracy
  std::optional<Spread> loads{};  ///< loads in a second, of one lookup each, where they were measured
};

Outcome measure_all(const Options& options, CompoundingCase test, const std::vector<DataPath>& paths, LiveLine& progress) {
  test.elements = options.elements.value_or(test.elements);
  test.samples = options.samples.value_or(test.samples);
  test.pixels = options.pixels.value_or(test.pixels);
  test.rounds = options.frames.value_or(test.rounds);
  test.threads = options.threads;
  Outcome outcome;
  outcome.say(
      fmt::format("plane waves of a simulated disk that turns, {} elements x {} samples of int16, {} x {} pixels, {} frames a "
                  "batch; a point is a pixel of an A-scan of a wave of a frame: delay, linear interpolation, addition",
                  test.elements, test.samples, test.pixels, test.pixels, test.batch));
  for (const DataPath& path : paths) {
    test.accuracy = path.accuracy;
    for (const std::size_t waves : {std::size_t{1}, std::size_t{8}, std::size_t{32}}) {
      test.waves = waves;
      outcome.attempt(fmt::format("{} waves", waves), [&] { measure_waves(test, path.loads, progress, outcome); });
    }
  }
  outcome.values.update({{"elements", test.elements}, {"samples", test.samples}, {"pixels", test.pixels}, {"batch", test.batch}});
  return outcome;
}

}  // namespace

Outcome compounding_cpu(const Options& options, LiveLine& progress) {
  CompoundingCase test;
  test.batch = 4;
  test.pixels = 256;
  test.rounds = 3;
  return measure_all(options, test, {DataPath{.accuracy = 1e-4}}, progress);
}

#ifdef ECHOFORM_WITH_CUDA
Outcome compounding_cuda(const Options& options, LiveLine& progress) {
  progress.show("compounding: ceilings");
  const DeviceCeilings ceilings = measure_ceilings();
  CompoundingCase test;
  test.backend = BackendKind::cuda;
  std::vector<DataPath> paths;
  for (const double accuracy : accuracies_of(options)) {
    paths.push_back({accuracy, path_of(accuracy) == "half" ? ceilings.loads_8 : ceilings.loads_16});
  }
  Outcome outcome = measure_all(options, test, paths, progress);
  outcome.values["device"] = ceilings.device;
  return outcome;
}
#endif

}  // namespace echoform::bench
