// The beamformer on the CPU: against the frozen plain loop, over instruction sets and threads.
#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/tfm.hpp"
#include "config/plan.hpp"
#include "pipeline/errors.hpp"

namespace echoform::bench {
namespace {

using namespace benchmarks;

std::string giga(const Spread& spread) {
  return fmt::format("{:7.3f} G lookups/s  ({:.3f} .. {:.3f})", 1e-9 * spread.median, 1e-9 * spread.least, 1e-9 * spread.most);
}

}  // namespace

Outcome tfm_cpu(const Options& options, LiveLine& progress) {
  TfmCase test;
  test.elements = options.elements.value_or(test.elements);
  test.samples = options.samples.value_or(test.samples);
  test.pixels = options.pixels.value_or(test.pixels);
  test.rounds = options.frames.value_or(test.rounds);
  test.threads = options.threads;
  // The plain loop's delays, and tables of the kernels: at most three of them and the one for runs from the cache, then one more.
  const auto places = static_cast<double>((test.pixels + 3) / 4 * 4) * static_cast<double>((test.pixels + 3) / 4 * 4);
  const auto pairs = static_cast<double>(test.elements * (test.elements + 1) / 2);
  const double needed =
      static_cast<double>(test.elements) * places * (4.0 + 5.0 * 5.0) + 16.0 * pairs * static_cast<double>(test.samples + 80);
  if (needed > default_memory_limit()) {
    throw InputError("bench tfm",
                     fmt::format("{} elements, {} samples and {} x {} pixels, which need {:.2f} GB", test.elements, test.samples,
                                 test.pixels, test.pixels, 1e-9 * needed),
                     fmt::format("a case that fits into {:.2f} GB", 1e-9 * default_memory_limit()));
  }
  const TfmReport report = measure_tfm(test, [&](const std::string& what) { progress.show("tfm: " + what); });
  Outcome outcome;
  outcome.lines.push_back(fmt::format(
      "beamforming {} elements x {} samples, {} x {} pixels: {:.4g} lookups an image, delay tables {:.1f} MB", test.elements,
      test.samples, test.pixels, test.pixels, report.lookups, 1e-6 * static_cast<double>(report.table_bytes)));
  const auto line = [&](const std::string& name, const TfmFigure& figure) {
    outcome.lines.push_back(fmt::format("  {:<22} {:2} threads {}  {:5.1f} x reference", name, figure.threads,
                                        giga(figure.lookups_per_second),
                                        figure.lookups_per_second.median / report.reference.lookups_per_second.median));
  };
  line("reference loop", report.reference);
  outcome.lines.push_back(fmt::format("    built by {}", report.reference_flags));
  for (const TfmFigure& figure : report.beamformer) line(figure.name, figure);
  for (const TfmFigure& figure : report.scaling) line("scaling, " + figure.name, figure);
  line("limit: all in cache", report.limit);
  outcome.lines.push_back(
      fmt::format("  {} : reference = {:.1f} ({:.1f} .. {:.1f}), round by round; {:.0f} % of the limit; images differ by {:.1e}",
                  report.beamformer.front().name, report.ratio.median, report.ratio.least, report.ratio.most,
                  100.0 * report.beamformer.front().lookups_per_second.median / report.limit.lookups_per_second.median,
                  report.relative_difference));
  const auto figure_json = [](const TfmFigure& figure) {
    return json{{"name", figure.name}, {"threads", figure.threads}, {"lookups_per_second", json_of(figure.lookups_per_second)}};
  };
  outcome.values = {{"elements", test.elements},
                    {"samples", test.samples},
                    {"pixels", test.pixels},
                    {"lookups", report.lookups},
                    {"reference", figure_json(report.reference)},
                    {"reference_flags", report.reference_flags},
                    {"limit", figure_json(report.limit)},
                    {"ratio", json_of(report.ratio)},
                    {"relative_difference", report.relative_difference},
                    {"table_bytes", report.table_bytes},
                    {"beamformer", json::array()},
                    {"scaling", json::array()}};
  for (const TfmFigure& figure : report.beamformer) outcome.values["beamformer"].push_back(figure_json(figure));
  for (const TfmFigure& figure : report.scaling) outcome.values["scaling"].push_back(figure_json(figure));
  return outcome;
}

}  // namespace echoform::bench
