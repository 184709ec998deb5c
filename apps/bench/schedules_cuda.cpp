// The GPU schedules of Romero-Laorden et al. 2015 on the same data and GPU as ours, beside that paper's own figures.
#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/array_case.hpp"
#include "benchmarks/device_timing.hpp"
#include "benchmarks/frame_ring.hpp"
#include "benchmarks/paper_schedules.hpp"
#include "benchmarks/tfm_gpu.hpp"
#include "pipeline/errors.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

/// "854 ms on a K5000", where the paper has this case.
struct PaperCell {
  std::string text;
  json seconds = json::object();
};

PaperCell paper_cell(const PaperReport& report, std::size_t schedule) {
  PaperCell cell;
  const PaperCase& test = report.measured;
  const bool known = (test.elements == 64 || test.elements == 128) && test.samples == 4096;
  if (!known || (test.pixels != 256 && test.pixels != 512 && test.pixels != 1024)) return cell;
  const std::size_t size = test.pixels == 256 ? 0 : test.pixels == 512 ? 1 : 2;
  for (const PaperPlatform& platform : paper_platforms) {
    const double seconds = platform.seconds[test.elements == 128 ? 1 : 0][schedule][size];
    cell.seconds[platform.name] = seconds;
    cell.text = fmt::format("paper: {:.0f} ms on a {}", 1e3 * seconds, platform.name);
  }
  return cell;
}

struct Line {
  std::string schedule;
  Spread kernel;
  Spread frame;
  double error = 0.0;
  PaperCell paper;
  double images_per_second = 0.0;  ///< with several frames in flight; 0: never so
};

void add_line(const PaperReport& report, const Line& line, Outcome& outcome) {
  const double rate = report.lookups / line.kernel.median;
  outcome.say(
      fmt::format("    {:<16} kernel {}, {:6.3f} T lookups/s; frame {}; error {:.1e}{}{}", line.schedule,
                  text_of(line.kernel, milliseconds_unit), 1e-12 * rate, text_of(line.frame, milliseconds_unit), line.error,
                  line.paper.text.empty() ? "" : "; " + line.paper.text,
                  line.images_per_second > 0.0 ? fmt::format("; {:.1f} images/s in flight", line.images_per_second) : ""));
  outcome.values["schedules"].push_back({{"schedule", line.schedule},
                                         {"elements", report.measured.elements},
                                         {"samples", report.measured.samples},
                                         {"pixels", report.measured.pixels},
                                         {"lookups", report.lookups},
                                         {"lookups_per_second", rate},
                                         {"kernel_seconds", json_of(line.kernel)},
                                         {"frame_seconds", json_of(line.frame)},
                                         {"relative_error", line.error},
                                         {"images_per_second", line.images_per_second},
                                         {"paper_seconds", line.paper.seconds}});
}

void add_ours(const PaperReport& report, double accuracy, const Options& options, Outcome& outcome) {
  ArrayCase test;
  test.elements = report.measured.elements;
  test.samples = report.measured.samples;
  test.pixels = report.measured.pixels;
  test.accuracy = accuracy;
  Line line;
  line.schedule = fmt::format("Echoform, {}", path_of(accuracy));
  const TfmGpuReport kernel = measure_tfm_gpu(test, options.frames.value_or(10));
  line.kernel = kernel.seconds;
  line.error = kernel.relative_error;
  // The paper's instrument sums the matrix.
  test.matrix = MatrixKind::half_summed;
  const auto plan = std::make_shared<const ImagingPlan>(array_plan(test));
  const RingReport ring = measure_ring(plan, {false, BackendKind::cuda}, 100);
  line.frame = ring.alone_seconds;
  line.images_per_second = ring.images_per_second.median;
  add_line(report, line, outcome);
}

}  // namespace

Outcome schedules_cuda(const Options& options, LiveLine& progress) {
  Outcome outcome;
  outcome.say(fmt::format(
      "schedules of Romero-Laorden et al. 2015 on {}: half matrix summed by the instrument, int16, 12-bit data; frame: copy from "
      "pinned memory, Hilbert, beamforming, envelope and copy back, one after the other",
      device_facts().text()));
  const std::vector<std::size_t> elements = options.elements ? std::vector{*options.elements} : std::vector<std::size_t>{128, 64};
  const std::vector<std::size_t> sizes = options.pixels ? std::vector{*options.pixels} : std::vector<std::size_t>{256, 512, 1024};
  for (const std::size_t count : elements) {
    for (const std::size_t size : sizes) {
      PaperCase test;
      test.elements = count;
      test.samples = options.samples.value_or(test.samples);
      test.pixels = size;
      test.rounds = options.frames.value_or(test.rounds);
      progress.show(fmt::format("schedules: {} elements, {} x {}", count, size, size));
      const PaperReport report = measure_paper_schedules(test);
      outcome.say(fmt::format("  {} x {}, {} x {}: {:.4g} lookups; copy {}; Hilbert (cuFFT) {}", count, test.samples, size, size,
                              report.lookups, text_of(report.upload_seconds, milliseconds_unit),
                              text_of(report.hilbert_seconds, milliseconds_unit)));
      outcome.values["hilbert"].push_back({{"elements", count},
                                           {"pixels", size},
                                           {"upload_seconds", json_of(report.upload_seconds)},
                                           {"hilbert_seconds", json_of(report.hilbert_seconds)}});
      for (std::size_t k = 0; k < report.schedules.size(); ++k) {
        const PaperFigure& figure = report.schedules[k];
        add_line(report,
                 {.schedule = figure.schedule,
                  .kernel = figure.kernel_seconds,
                  .frame = figure.frame_seconds,
                  .error = figure.relative_error,
                  .paper = paper_cell(report, k)},
                 outcome);
      }
      for (const double accuracy : accuracies_of(options)) {
        const std::string name = fmt::format("ours, {} elements, {} x {}, {}", count, size, size, path_of(accuracy));
        progress.show("schedules: " + name);
        outcome.attempt(name, [&] { add_ours(report, accuracy, options, outcome); });
      }
    }
  }
  json hilbert = json::object();
  for (const PaperPlatform& platform : paper_platforms) hilbert[platform.name] = platform.hilbert;
  outcome.values["paper_hilbert_seconds"] = hilbert;
  return outcome;
}

}  // namespace echoform::bench
