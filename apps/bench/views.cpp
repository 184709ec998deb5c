// Views through surfaces on the CPU: the beamformer against the frozen plain loops, and sets of images a second from memory.
#include <fmt/format.h>

#include <chrono>

#include "apps/bench/lookup_rate.hpp"
#include "apps/bench/view_cases.hpp"
#include "benchmarks/frame.hpp"
#include "benchmarks/tfm.hpp"
#include "methods/tfm/setup.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

/// `against_loops`: cases with a published time also compare the beamformer with the frozen loops.
Outcome measure(const std::string& name, const std::vector<ViewCase>& cases, bool against_loops, const Options& options,
                LiveLine& progress) {
  Outcome outcome;
  const std::size_t threads = threads_of(options);
  outcome.say(fmt::format("{} through surfaces from memory, int16 FULL, every stage, {} threads", name, threads));
  for (const ViewCase& test : cases) {
    outcome.attempt(test.name, [&] {
      progress.show(fmt::format("{}: rays of {}", name, test.name));
      const auto begin = std::chrono::steady_clock::now();
      const auto plan = plan_of(test, 1e-4);
      const double set_up = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      progress.show(fmt::format("{}: imaging {}", name, test.name));
      const FrameReport frames = measure_frame(make_imaging_setup(plan), threads, options.frames.value_or(test.frames_of(20)));
      const LookupRate lookups = lookup_rate(*plan, frames, threads);
      json more{{"set_up_seconds", set_up}, {"positions", test.positions}, {"lookups", json_of(lookups)}};
      std::string note = text_of(lookups);
      if (test.positions > 1) {
        note += fmt::format("; {:.2f} positions/s", frames.images_per_second.median * static_cast<double>(test.positions));
      }
      if (test.published_cpu > 0.0) {
        const double published = 1.0 / test.published_cpu;
        note += fmt::format("; paper 000, 12 cores: {:.2f}/s, this is {:.0f} times that", published,
                            frames.images_per_second.median / published);
        more["published_per_second"] = published;
      }
      if (test.published_cpu > 0.0 && against_loops) {
        TfmCase loop;
        loop.plan = plan;
        loop.threads = threads;
        loop.scaling = false;
        loop.weighted = false;
        const TfmReport against =
            measure_tfm(loop, [&](const std::string& what) { progress.show(fmt::format("{}: {}", name, what)); });
        note += fmt::format("; beamformer {} times the frozen loop, {} times the frozen pair-major loop, images differ by {:.1e}",
                            text_of_ratio(against.ratio), text_of_ratio(against.padded_ratio), against.relative_difference);
        more["ratio"] = json_of(against.ratio);
        more["padded_ratio"] = json_of(against.padded_ratio);
        more["relative_difference"] = against.relative_difference;
      }
      outcome.add(name, {.name = test.name,
                         .value = frames.images_per_second,
                         .unit = {plan->laws.size() > 1 ? "sets/s" : "images/s", 1.0, 1},
                         .note = note,
                         .more = more});
    });
  }
  return outcome;
}

}  // namespace

Outcome views_cpu(const Options& options, LiveLine& progress) {
  return measure("views", view_cases(), true, options, progress);
}

Outcome positions_cpu(const Options& options, LiveLine& progress) {
  return measure("positions", position_cases(), false, options, progress);
}

}  // namespace echoform::bench
