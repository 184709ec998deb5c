// Tables of delays through surfaces: how long they take to build, against the general solver.
#include "benchmarks/delays.hpp"

#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

void tell(const DelaysCase& test, const DelaysReport& report, Outcome& outcome) {
  for (const DelaysSurface& surface : report.surfaces) {
    outcome.say(
        fmt::format("  {}, {} nodes, {:.0f} % of the rays exist; general solver: {:.0f} ns a ray and thread ({:.0f} .. {:.0f})",
                    surface.name, surface.nodes, 100.0 * surface.reached, 1e9 * surface.general.median,
                    1e9 * surface.general.least, 1e9 * surface.general.most));
    json figures = json::array();
    for (const DelaysFigure& figure : surface.figures) {
      const double per_ray = figure.seconds.median * static_cast<double>(report.threads) / static_cast<double>(report.rays);
      outcome.say(fmt::format(
          "    {:<40} {}  {:.1f} ns a ray and thread, {:.0f} x the general solver ({:.0f} .. {:.0f}), "
          "off by {:.1e} s at most{}",
          to_string(figure.level), text_of(figure.seconds, milliseconds_unit), 1e9 * per_ray, figure.ratio.median,
          figure.ratio.least, figure.ratio.most, figure.largest_difference,
          figure.disagreements == 0
              ? ""
              : fmt::format(", {} rays of {} found by one of both alone", figure.disagreements, surface.general_rays)));
      figures.push_back({{"simd", to_string(figure.level)},
                         {"seconds", json_of(figure.seconds)},
                         {"seconds_per_ray_and_thread", per_ray},
                         {"ratio", json_of(figure.ratio)},
                         {"largest_difference", figure.largest_difference},
                         {"disagreements", figure.disagreements}});
    }
    if (test.volume()) {
      outcome.values["volumes"].push_back({{"name", surface.name},
                                           {"field", surface.field},
                                           {"rays", report.rays},
                                           {"reached", surface.reached},
                                           {"general_seconds_per_ray_and_thread", json_of(surface.general)},
                                           {"general_rays", surface.general_rays},
                                           {"tables", figures}});
      continue;
    }
    const DelaysInterpolated& between = surface.interpolated;
    outcome.say(fmt::format(
        "    {:<40} {}  {:.1f} x the {} field ({:.1f} .. {:.1f}), {} rays (1 in {:.1f}), off by {:.1e} s at most{}",
        "interpolated", text_of(between.seconds, milliseconds_unit), between.ratio.median, surface.field, between.ratio.least,
        between.ratio.most, between.found,
        surface.reached * static_cast<double>(report.rays) / static_cast<double>(between.found), between.largest_difference,
        between.disagreements == 0 ? "" : fmt::format(", {} entries in one of both alone", between.disagreements)));
    outcome.values["surfaces"].push_back({{"name", surface.name},
                                          {"field", surface.field},
                                          {"interpolated",
                                           {{"exact_seconds", json_of(between.exact)},
                                            {"seconds", json_of(between.seconds)},
                                            {"ratio", json_of(between.ratio)},
                                            {"tolerance", report.tolerance},
                                            {"rays", between.found},
                                            {"largest_difference", between.largest_difference},
                                            {"disagreements", between.disagreements}}},
                                          {"nodes", surface.nodes},
                                          {"reached", surface.reached},
                                          {"general_seconds_per_ray_and_thread", json_of(surface.general)},
                                          {"general_rays", surface.general_rays},
                                          {"tables", figures}});
  }
}

}  // namespace

Outcome delays(const Options& options, LiveLine& progress) {
  DelaysCase test;
  test.elements = options.elements.value_or(test.elements);
  test.pixels = options.pixels.value_or(test.pixels);
  test.rounds = options.frames.value_or(test.rounds);
  test.threads = options.threads;
  const auto show = [&](const std::string& what) { progress.show("delays: " + what); };
  const DelaysReport report = measure_delays(test, show);
  Outcome outcome;
  outcome.say(fmt::format("tables of one leg from {} elements through a surface to {} x {} pixels, {} rays, {} threads",
                          test.elements, test.pixels, test.pixels, report.rays, report.threads));
  tell(test, report, outcome);
  outcome.values.update(
      {{"elements", test.elements}, {"pixels", test.pixels}, {"rays", report.rays}, {"threads", report.threads}});
  if (options.elements || options.pixels) return outcome;
  test.elements = test.rows = 11;
  test.pixels = 64;
  const DelaysReport volume = measure_delays(test, show);
  outcome.say(
      fmt::format("from {0} x {0} elements to {1} x {1} x {1} voxels, {2} rays", test.elements, test.pixels, volume.rays));
  tell(test, volume, outcome);
  return outcome;
}

}  // namespace echoform::bench
