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

Outcome views_cpu(const Options& options, LiveLine& progress) {
  Outcome outcome;
  const std::size_t threads = threads_of(options);
  outcome.say(fmt::format("views through surfaces from memory, int16 FULL, every stage, {} threads", threads));
  for (const ViewCase& test : view_cases()) {
    outcome.attempt(test.name, [&] {
      progress.show("views: rays of " + test.name);
      const auto begin = std::chrono::steady_clock::now();
      const auto plan = plan_of(test, 1e-4);
      const double set_up = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      progress.show("views: imaging " + test.name);
      const FrameReport frames = measure_frame(make_imaging_setup(plan), threads, options.frames.value_or(test.frames_of(20)));
      const LookupRate lookups = lookup_rate(*plan, frames, threads);
      json more{{"set_up_seconds", set_up}, {"positions", test.positions}, {"lookups", json_of(lookups)}};
      std::string note = text_of(lookups);
      if (test.published_cpu > 0.0) {
        const double published = 1.0 / test.published_cpu;
        note += fmt::format("; paper 000, 12 cores: {:.2f}/s, this is {:.0f} times that", published,
                            frames.images_per_second.median / published);
        more["published_per_second"] = published;
        TfmCase loop;
        loop.plan = plan;
        loop.threads = threads;
        loop.scaling = false;
        loop.weighted = false;
        const TfmReport against = measure_tfm(loop, [&](const std::string& what) { progress.show("views: " + what); });
        note += fmt::format("; beamformer {} times the frozen loop, {} times the frozen pair-major loop, images differ by {:.1e}",
                            text_of_ratio(against.ratio), text_of_ratio(against.padded_ratio), against.relative_difference);
        more["ratio"] = json_of(against.ratio);
        more["padded_ratio"] = json_of(against.padded_ratio);
        more["relative_difference"] = against.relative_difference;
      }
      outcome.add("views", {.name = test.name,
                            .value = frames.images_per_second,
                            .unit = {plan->laws.size() > 1 ? "sets/s" : "images/s", 1.0, 1},
                            .note = note,
                            .more = more});
    });
  }
  return outcome;
}

}  // namespace echoform::bench
