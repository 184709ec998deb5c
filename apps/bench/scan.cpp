// Polar scan conversion: against the plain loops, by instruction set, and on the GPU against the time that its bytes take.
#include "benchmarks/scan.hpp"

#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"

namespace echoform::bench {
namespace {

using namespace benchmarks;

void add_cpu(const ScanFigure& figure, json& entries, Outcome& outcome) {
  // The times are in milliseconds already.
  const Unit unit{"ms", 1.0, 3};
  outcome.say(fmt::format("    {:<18} {:<9} {:2} threads {}{}", figure.name, figure.interpolation, figure.threads,
                          text_of(figure.milliseconds, unit),
                          figure.ratio.median > 0.0 ? fmt::format("  {} x the plain loop, {} x the plain loop with tables",
                                                                  text_of_ratio(figure.ratio), text_of_ratio(figure.tabled_ratio))
                                                    : ""));
  entries.push_back({{"name", figure.name},
                     {"interpolation", figure.interpolation},
                     {"threads", figure.threads},
                     {"milliseconds", json_of(figure.milliseconds)},
                     {"ratio", json_of(figure.ratio)},
                     {"tabled_ratio", json_of(figure.tabled_ratio)}});
}

void add_gpu(const ScanOnGpu& figure, json& entries, Outcome& outcome) {
  const Unit microseconds{"us", 1e-3, 2};
  outcome.say(
      fmt::format("    {:<18} {:<9}            {}  {} % of the copy of its {:.2f} MB, {:.2f} us; not in the cache {}, {} % of "
                  "the copy there, "
                  "{:.2f} us; launched one by one {:.2f} us",
                  "cuda", figure.interpolation, text_of(figure.kernel, microseconds), text_of_ratio(figure.ratio, 1, 100.0),
                  1e-6 * static_cast<double>(figure.bytes), 1e3 * figure.limit.median, text_of(figure.cold, microseconds),
                  text_of_ratio(figure.cold_ratio, 1, 100.0), 1e3 * figure.limit_large.median, 1e3 * figure.launched));
  entries.push_back({{"interpolation", figure.interpolation},
                     {"milliseconds", json_of(figure.kernel)},
                     {"cold", json_of(figure.cold)},
                     {"launched", figure.launched},
                     {"limit", json_of(figure.limit)},
                     {"limit_name", "copy of as many bytes"},
                     {"limit_large", json_of(figure.limit_large)},
                     {"ratio", json_of(figure.ratio)},
                     {"cold_ratio", json_of(figure.cold_ratio)},
                     {"turns", json_of(figure.turns)},
                     {"bytes", figure.bytes}});
}

Outcome scan(const Options& options, bool cuda, LiveLine& progress) {
  ScanCase test;
  test.rounds = options.frames.value_or(test.rounds);
  test.threads = options.threads;
  test.cuda = cuda;
  const ScanReport report = measure_scan(test, [&](const std::string& what) { progress.show("scan: " + what); });
  Outcome outcome;
  outcome.say(
      fmt::format("polar scan conversion, {} beams x {} samples, 8 bits; plain loops by {}: one works the "
                  "geometry out for every image, one reads tables of it, as ours does",
                  test.beams, test.samples, report.reference_flags));
  for (const ScanSize& size : report.sizes) {
    outcome.say(fmt::format(
        "  to {} x {}, {:.0f} % within the sector; differs from the plain loop by at most {} on {:.1e} of the "
        "pixels; paper of 2013: {:.3f} ms on a GTX 560 Ti, {:.1f} ms on an Athlon II",
        size.rows, size.columns, 100.0 * size.inside, size.largest_difference, size.differing, size.paper_gpu, size.paper_cpu));
    json reference = json::array();
    json tabled = json::array();
    json cpu = json::array();
    json limit = json::array();
    json gpu = json::array();
    for (const ScanFigure& figure : size.reference) add_cpu(figure, reference, outcome);
    for (const ScanFigure& figure : size.tabled) add_cpu(figure, tabled, outcome);
    for (const ScanFigure& figure : size.cpu) add_cpu(figure, cpu, outcome);
    for (const ScanFigure& figure : size.limit) add_cpu(figure, limit, outcome);
    for (const ScanOnGpu& figure : size.gpu) add_gpu(figure, gpu, outcome);
    outcome.values["sizes"].push_back({{"rows", size.rows},
                                       {"columns", size.columns},
                                       {"inside", size.inside},
                                       {"reference", reference},
                                       {"tabled", tabled},
                                       {"cpu", cpu},
                                       {"limit", limit},
                                       {"gpu", gpu},
                                       {"largest_difference", size.largest_difference},
                                       {"differing", size.differing},
                                       {"paper_cpu", size.paper_cpu},
                                       {"paper_gpu", size.paper_gpu}});
  }
  if (cuda && !report.why_no_gpu.empty()) outcome.say("  no figures of a GPU: " + report.why_no_gpu);
  outcome.values["reference_flags"] = report.reference_flags;
  outcome.values["gpu_copy_bandwidth"] = report.gpu_copy_bandwidth;
  return outcome;
}

}  // namespace

Outcome scan_cpu(const Options& options, LiveLine& progress) {
  return scan(options, false, progress);
}

Outcome scan_cuda(const Options& options, LiveLine& progress) {
  return scan(options, true, progress);
}

}  // namespace echoform::bench
