// Views through surfaces on the GPU: sets of images a second from pinned memory, transfers included, against the copy alone.
#include <fmt/format.h>

#include "apps/bench/view_cases.hpp"
#include "benchmarks/copy_bound.hpp"
#include "benchmarks/device_timing.hpp"
#include "benchmarks/frame_ring.hpp"
#include "methods/tfm/setup.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

void measure(const std::string& name, const ViewCase& test, double accuracy, std::size_t frames, Outcome& outcome) {
  const auto plan = plan_of(test, accuracy);
  CopyBound bound(*plan);
  const BackendChoice cuda{false, BackendKind::cuda};
  const RingReport report =
      measure_ring(make_imaging_setup(plan), cuda, frames, {{"copies", [&] { return bound.copies_per_second(); }}});
  std::string note;
  json more{{"path", path_of(accuracy)},
            {"case", test.name},
            {"positions", test.positions},
            {"engine_bytes", report.engine_bytes},
            {"alone_seconds", json_of(report.alone_seconds)},
            {"turns", json_of(report.turns)}};
  if (test.positions > 1) {
    note = fmt::format("; {:.1f} positions/s", report.images_per_second.median * static_cast<double>(test.positions));
  }
  if (test.published_cuda > 0.0) {
    const double published = 1.0 / test.published_cuda;
    note = fmt::format("; paper 000, GTX 580: {:.2f}/s, this is {:.0f} times that", published,
                       report.images_per_second.median / published);
    more["published_per_second"] = published;
  }
  outcome.add(name, {.name = fmt::format("{}, {}", test.name, path_of(accuracy)),
                     .value = report.images_per_second,
                     .unit = {plan->laws.size() > 1 ? "sets/s" : "images/s", 1.0, 1},
                     .limit = limit_of("copies/s,", report.turns, "images", "copies"),
                     .note = note,
                     .more = more});
}

Outcome measure_all(const std::string& name, const std::vector<ViewCase>& cases, const Options& options, LiveLine& progress) {
  Outcome outcome;
  outcome.say(
      fmt::format("{} through surfaces from pinned memory on {}, int16 FULL, transfers included, 4 frames in flight; "
                  "limit: copies of the samples alone, in turn with the windows of frames",
                  name, device_facts().text()));
  for (const double accuracy : accuracies_of(options)) {
    for (const ViewCase& test : cases) {
      progress.show(fmt::format("{}: {}", name, test.name));
      outcome.attempt(test.name, [&] { measure(name, test, accuracy, options.frames.value_or(test.frames_of(1000)), outcome); });
    }
  }
  return outcome;
}

}  // namespace

Outcome views_cuda(const Options& options, LiveLine& progress) {
  return measure_all("views", view_cases(), options, progress);
}

Outcome positions_cuda(const Options& options, LiveLine& progress) {
  return measure_all("positions", position_cases(), options, progress);
}

}  // namespace echoform::bench
