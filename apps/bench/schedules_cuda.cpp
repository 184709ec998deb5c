// The GPU schedules of Romero-Laorden et al. 2015 on the same data and GPU as ours, next to that paper's own figures.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "apps/bench/benchmark.hpp"
#include "base/errors.hpp"
#include "benchmarks/array_case.hpp"
#include "benchmarks/device_timing.hpp"
#include "benchmarks/frame_ring.hpp"
#include "benchmarks/paper_schedules.hpp"
#include "benchmarks/tfm_gpu.hpp"
#include "methods/tfm/setup.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

/// The paper's time, for example "854 ms on a K5000", if the paper has this case.
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
  double images_per_second = 0.0;  ///< with several frames in flight; 0: not measured
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

/// Our engine, with one data path, on the same case.
class Ours {
 public:
  Ours(const PaperCase& test, double accuracy) : accuracy_(accuracy), kernels_(array_of(test, accuracy, MatrixKind::full)) {
    // The paper's instrument sums the two halves of the matrix.
    const ArrayCase summed = array_of(test, accuracy, MatrixKind::half_summed);
    ring_.emplace(make_imaging_setup(std::make_shared<const ImagingPlan>(array_plan(summed))),
                  BackendChoice{false, BackendKind::cuda});
  }
  [[nodiscard]] std::string name() const { return fmt::format("Echoform, {}", path_of(accuracy_)); }
  [[nodiscard]] std::string_view path() const { return path_of(accuracy_); }
  [[nodiscard]] OtherSchedule schedule() {
    return {name(), [this] { return kernels_.seconds(); }, [this] { return ring_->alone(); }};
  }
  [[nodiscard]] Line line(const PaperReport& report) {
    return {.schedule = name(),
            .kernel = report.kernels.spread(name()),
            .frame = report.frames.spread(name()),
            .error = kernels_.relative_error(),
            .paper = {},
            .images_per_second =
                take_turns(10, {{"images", [this] { return ring_->images_per_second(10); }}}).spread("images").median};
  }

 private:
  static ArrayCase array_of(const PaperCase& test, double accuracy, MatrixKind matrix) {
    ArrayCase array;
    array.elements = test.elements;
    array.samples = test.samples;
    array.pixels = test.pixels;
    array.accuracy = accuracy;
    array.matrix = matrix;
    return array;
  }

  double accuracy_;
  TfmOnGpu kernels_;
  std::optional<FrameRing> ring_;
};

/// Adds, for each data path, how many times faster our kernels are than the paper's best. The paper's schedules all use single
/// precision.
void add_ratios(const PaperReport& report, const std::vector<std::unique_ptr<Ours>>& ours, Outcome& outcome) {
  const auto best = std::min_element(report.schedules.begin(), report.schedules.end(), [](const auto& a, const auto& b) {
    return a.kernel_seconds.median < b.kernel_seconds.median;
  });
  json entry{{"elements", report.measured.elements},    {"samples", report.measured.samples},
             {"pixels", report.measured.pixels},        {"best", best->schedule},
             {"kernel_turns", json_of(report.kernels)}, {"frame_turns", json_of(report.frames)}};
  std::string text;
  for (const auto& own : ours) {
    const Spread kernel = report.kernels.ratio(best->schedule, own->name());
    const Spread frame = report.frames.ratio(best->schedule, own->name());
    entry["kernel_ratio"][own->path()] = json_of(kernel);
    entry["frame_ratio"][own->path()] = json_of(frame);
    text += fmt::format("{}{} {} (frame {})", text.empty() ? "" : ", ", own->path(), text_of_ratio(kernel, 2),
                        text_of_ratio(frame, 2));
  }
  outcome.say(
      fmt::format("    kernel, times as fast as {}, which is in single precision, round by round: {}", best->schedule, text));
  outcome.values["ratios"].push_back(std::move(entry));
}

void measure_case(const PaperCase& test, const Options& options, Outcome& outcome) {
  std::vector<std::unique_ptr<Ours>> ours;
  std::vector<OtherSchedule> others;
  for (const double accuracy : accuracies_of(options)) {
    const std::string name =
        fmt::format("ours, {} elements, {} x {}, {}", test.elements, test.pixels, test.pixels, path_of(accuracy));
    outcome.attempt(name, [&] {
      ours.push_back(std::make_unique<Ours>(test, accuracy));
      others.push_back(ours.back()->schedule());
    });
  }
  const PaperReport report = measure_paper_schedules(test, others);
  outcome.say(fmt::format("  {} x {}, {} x {}: {:.4g} lookups; copy {}; Hilbert (cuFFT) {}", test.elements, test.samples,
                          test.pixels, test.pixels, report.lookups, text_of(report.upload_seconds, milliseconds_unit),
                          text_of(report.hilbert_seconds, milliseconds_unit)));
  outcome.values["hilbert"].push_back({{"elements", test.elements},
                                       {"pixels", test.pixels},
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
  for (const auto& own : ours) add_line(report, own->line(report), outcome);
  add_ratios(report, ours, outcome);
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
      measure_case(test, options, outcome);
    }
  }
  json hilbert = json::object();
  for (const PaperPlatform& platform : paper_platforms) hilbert[platform.name] = platform.hilbert;
  outcome.values["paper_hilbert_seconds"] = hilbert;
  return outcome;
}

}  // namespace echoform::bench
