// The beamformer on the CPU against the frozen plain loops, with weights and without, over instruction sets and threads.
#include <fmt/format.h>

#include <algorithm>

#include "apps/bench/benchmark.hpp"
#include "base/errors.hpp"
#include "benchmarks/tfm.hpp"
#include "config/memory_limit.hpp"

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
  // Memory of the delays of the two plain loops, of weights and of kernel tables. At most three tables exist, plus the table for
  // runs from the cache; then those with weights, then one more. The data are held three times.
  const auto places = static_cast<double>((test.pixels + 3) / 4 * 4) * static_cast<double>((test.pixels + 3) / 4 * 4);
  const auto pairs = static_cast<double>(std::max(test.elements * (test.elements + 1) / 2, test.waves * test.elements));
  const double needed = static_cast<double>(test.elements) * places * (3.0 * 4.0 + 5.0 * 5.0 + 2.0 * 9.0) +
                        24.0 * pairs * static_cast<double>(test.samples + 80);
  if (needed > default_memory_limit()) {
    throw InputError("bench tfm",
                     fmt::format("{} elements, {} samples and {} x {} pixels, which need {:.2f} GB", test.elements, test.samples,
                                 test.pixels, test.pixels, 1e-9 * needed),
                     fmt::format("a case that fits into {:.2f} GB", 1e-9 * default_memory_limit()));
  }
  const TfmReport report = measure_tfm(test, [&](const std::string& what) { progress.show("tfm: " + what); });
  Outcome outcome;
  json volume_values;
  outcome.say(fmt::format("beamforming {} elements x {} samples, {} x {} pixels: {:.4g} lookups an image, delay tables {:.1f} MB",
                          test.elements, test.samples, test.pixels, test.pixels, report.lookups,
                          1e-6 * static_cast<double>(report.table_bytes)));
  const auto line = [&](const std::string& name, const TfmFigure& figure) {
    const double rate = figure.lookups_per_second.median;
    outcome.say(fmt::format("  {:<22} {:2} threads {}  {:5.1f} x frozen loop, {:5.1f} x pair-major loop", name, figure.threads,
                            giga(figure.lookups_per_second), rate / report.reference.lookups_per_second.median,
                            rate / report.padded_reference.lookups_per_second.median));
  };
  line("frozen loop", report.reference);
  line("pair-major loop", report.padded_reference);
  outcome.say(
      fmt::format("    built by {}; both frozen. The first goes pixel by pixel over rows of {} bytes; the second reads a "
                  "padded row once for many pixels",
                  report.reference_flags, 8 * test.samples));
  for (const TfmFigure& figure : report.beamformer) line(figure.name, figure);
  line("limit: all in cache", report.limit);
  outcome.say(
      fmt::format("  {}, round by round: {} x the frozen loop, {} x the pair-major loop, {} % of the limit; images differ "
                  "by {:.1e} and {:.1e}",
                  report.beamformer.front().name, text_of_ratio(report.ratio), text_of_ratio(report.padded_ratio),
                  text_of_ratio(report.of_limit, 0, 100.0), report.relative_difference, report.padded_difference));
  if (report.weighted) {
    const TfmWeighted& weighted = *report.weighted;
    outcome.say(fmt::format("  weights by element and pixel (Hann window, directivity)"));
    line("pair-major loop", weighted.reference);
    line(report.beamformer.front().name, weighted.beamformer);
    line("limit: all in cache", weighted.limit);
    outcome.say(
        fmt::format("    round by round: {} x the pair-major loop with weights, {} % of the limit, {} of the rate without "
                    "weights; images differ by {:.1e}",
                    text_of_ratio(weighted.ratio), text_of_ratio(weighted.of_limit, 0, 100.0),
                    text_of_ratio(weighted.of_unweighted, 2), weighted.relative_difference));
  }
  if (report.waves) {
    const TfmWaves& waves = *report.waves;
    line(fmt::format("{} plane waves", waves.waves), waves.beamformer);
    outcome.say(
        fmt::format("    {:.4g} lookups an image; round by round: {} x the frozen loop, {} of the rate of single elements",
                    waves.lookups, text_of_ratio(waves.ratio), text_of_ratio(waves.of_elements, 2)));
  }
  for (const TfmFigure& figure : report.scaling) line("scaling, " + figure.name, figure);
  if (!(options.elements || options.samples || options.pixels)) {
    const TfmVolumeCase volume;
    const TfmReport of_volume = measure_tfm_volume(volume, test.rounds, test.threads,
                                                   [&](const std::string& what) { progress.show("tfm, volume: " + what); });
    outcome.say(fmt::format("  volume: {0} x {0} elements x {1} samples, {2} planes of {3} x {3} x {3} voxels: {4:.4g} lookups",
                            volume.elements, volume.samples, volume.planes, volume.pixels, of_volume.lookups));
    outcome.say(fmt::format("    {:<22} {:2} threads {}", of_volume.beamformer.front().name, of_volume.beamformer.front().threads,
                            giga(of_volume.beamformer.front().lookups_per_second)));
    outcome.say(
        fmt::format("    round by round: {} x the frozen loop, {} x the pair-major loop, {} % of the limit; images differ "
                    "by {:.1e} and {:.1e}",
                    text_of_ratio(of_volume.ratio), text_of_ratio(of_volume.padded_ratio),
                    text_of_ratio(of_volume.of_limit, 0, 100.0), of_volume.relative_difference, of_volume.padded_difference));
    volume_values = {{"elements", volume.elements * volume.elements},
                     {"samples", volume.samples},
                     {"pixels", volume.pixels},
                     {"planes", volume.planes},
                     {"lookups", of_volume.lookups},
                     {"lookups_per_second", json_of(of_volume.beamformer.front().lookups_per_second)},
                     {"ratio", json_of(of_volume.ratio)},
                     {"padded_ratio", json_of(of_volume.padded_ratio)},
                     {"of_limit", json_of(of_volume.of_limit)},
                     {"relative_difference", of_volume.relative_difference}};
  }
  const auto figure_json = [](const TfmFigure& figure) {
    return json{{"name", figure.name}, {"threads", figure.threads}, {"lookups_per_second", json_of(figure.lookups_per_second)}};
  };
  outcome.values = {{"elements", test.elements},
                    {"samples", test.samples},
                    {"pixels", test.pixels},
                    {"lookups", report.lookups},
                    {"reference", figure_json(report.reference)},
                    {"padded_reference", figure_json(report.padded_reference)},
                    {"reference_flags", report.reference_flags},
                    {"limit", figure_json(report.limit)},
                    {"ratio", json_of(report.ratio)},
                    {"padded_ratio", json_of(report.padded_ratio)},
                    {"of_limit", json_of(report.of_limit)},
                    {"relative_difference", report.relative_difference},
                    {"padded_difference", report.padded_difference},
                    {"table_bytes", report.table_bytes},
                    {"turns", json_of(report.turns)},
                    {"beamformer", json::array()},
                    {"scaling", json::array()}};
  if (!volume_values.is_null()) outcome.values["volume"] = volume_values;
  if (report.waves) {
    outcome.values["plane_waves"] = {{"waves", report.waves->waves},
                                     {"lookups", report.waves->lookups},
                                     {"beamformer", figure_json(report.waves->beamformer)},
                                     {"ratio", json_of(report.waves->ratio)},
                                     {"of_elements", json_of(report.waves->of_elements)}};
  }
  if (report.weighted) {
    const TfmWeighted& weighted = *report.weighted;
    outcome.values["weighted"] = {{"beamformer", figure_json(weighted.beamformer)},
                                  {"reference", figure_json(weighted.reference)},
                                  {"limit", figure_json(weighted.limit)},
                                  {"ratio", json_of(weighted.ratio)},
                                  {"of_unweighted", json_of(weighted.of_unweighted)},
                                  {"of_limit", json_of(weighted.of_limit)},
                                  {"relative_difference", weighted.relative_difference}};
  }
  for (const TfmFigure& figure : report.beamformer) outcome.values["beamformer"].push_back(figure_json(figure));
  for (const TfmFigure& figure : report.scaling) outcome.values["scaling"].push_back(figure_json(figure));
  return outcome;
}

}  // namespace echoform::bench
