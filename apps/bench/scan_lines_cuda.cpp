// Sums along scan lines on a GPU. The array and the beams are those of the table of speeds in the thesis of 2009 on receive
// beamforming with CUDA: 128 channels, 5120 samples a beam at 40 MHz.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/device_timing.hpp"
#include "benchmarks/scan_lines_gpu.hpp"
#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/scan_lines/delay_filter_kind.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

struct ThesisCase {
  const char* kind;
  std::size_t taps;
  std::size_t lines;  ///< lines of an event
  double thesis;      ///< speed on a Tesla C870, as a multiple of real time; 0: not in the thesis
};
constexpr ThesisCase thesis_cases[] = {{"linear", 0, 1, 1.62},      {"upsampled", 11, 1, 0.27}, {"upsampled", 11, 2, 0.18},
                                       {"upsampled", 11, 4, 0.12},  {"upsampled", 11, 8, 0.07}, {"upsampled", 11, 16, 0.04},
                                       {"linear", 0, 4, 0.0},       {"nearest", 0, 1, 0.0},     {"lagrange", 3, 1, 0.0},
                                       {"windowed_sinc", 8, 1, 0.0}};
// These numbers give several blocks to every multiprocessor, however many lines share a block.
constexpr std::size_t least_lines = 512;
constexpr std::size_t least_line_events = 128;

void measure_thesis_case(const LinesCase& test, const ThesisCase& which, Outcome& outcome) {
  DelayFilterOptions filter;
  filter.kind = which.kind;
  filter.order_or_taps = which.taps;
  const LinesOnGpu figure = measure_lines_on_gpu(test, filter, which.lines);
  const std::string name = fmt::format("{}, {} of an event", echoform::name_of(filter), which.lines);
  outcome.say(fmt::format("    {:<34} {} x real time, {}{}; with uploads {} x, {} % of the copies alone", name,
                          text_of_ratio(figure.real_time), text_of(figure.lookups, tera_lookups),
                          which.thesis > 0.0 ? fmt::format(", thesis {:.2f} x", which.thesis) : "",
                          text_of_ratio(figure.uploads_real_time, 2), text_of_ratio(figure.ratio, 1, 100.0)));
  outcome.values["figures"].push_back({{"filter", echoform::name_of(filter)},
                                       {"lines", which.lines},
                                       {"events", figure.events},
                                       {"real_time", json_of(figure.real_time)},
                                       {"lookups", json_of(figure.lookups)},
                                       {"uploaded_events", figure.uploaded},
                                       {"uploads_real_time", json_of(figure.uploads_real_time)},
                                       {"copies_real_time", json_of(figure.copies)},
                                       {"ratio", json_of(figure.ratio)},
                                       {"thesis", which.thesis}});
}

// One line an event: this gives enough blocks for every multiprocessor, and no more, as some kinds take much longer than the sum.
constexpr std::size_t adaptive_events = 128;

void measure_adaptive(LinesCase test, const AdaptiveKind& kind, Outcome& outcome) {
  test.events = adaptive_events;
  for (const char* const filter_kind : {"linear", "windowed_sinc"}) {
    DelayFilterOptions filter;
    filter.kind = filter_kind;
    const AdaptiveLinesOnGpu figure = measure_adaptive_lines_on_gpu(test, filter, kind.name);
    outcome.say(fmt::format("    {:<30} {:<22} {} x real time, {} times the plain sum", kind.name, echoform::name_of(filter),
                            text_of_ratio(figure.real_time), text_of_ratio(figure.cost, 2)));
    outcome.values["adaptive"].push_back({{"kind", kind.name},
                                          {"filter", echoform::name_of(filter)},
                                          {"events", test.events},
                                          {"real_time", json_of(figure.real_time)},
                                          {"cost", json_of(figure.cost)}});
  }
}

}  // namespace

Outcome scan_lines_cuda(const Options& options, LiveLine& progress) {
  LinesCase test;
  test.rounds = options.frames.value_or(test.rounds);
  test.channels = options.elements.value_or(128);
  test.samples = options.samples.value_or(5120);
  Outcome outcome;
  outcome.say(
      fmt::format("scan lines on {}, {} channels x {} samples of int16 at {:.0f} MHz, {} ranges a line; samples on the "
                  "device, and uploaded from pinned memory",
                  device_facts().text(), test.channels, test.samples, 1e-6 * test.sample_rate, test.samples));
  for (const ThesisCase& which : thesis_cases) {
    test.events = std::max(least_line_events, least_lines / which.lines);
    progress.show(fmt::format("lines: {}, {} of an event", which.kind, which.lines));
    outcome.attempt(which.kind, [&] { measure_thesis_case(test, which, outcome); });
  }
  for (const AdaptiveKind& kind : adaptive_kinds()) {
    if (kind.sums_of == ChannelSums::none || !is_on_cuda(kind)) continue;
    progress.show(fmt::format("lines: {}", kind.name));
    outcome.attempt(std::string(kind.name), [&] { measure_adaptive(test, kind, outcome); });
  }
  return outcome;
}

}  // namespace echoform::bench
