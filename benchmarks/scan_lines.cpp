#include "benchmarks/scan_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numbers>
#include <random>

#include "benchmarks/reference_lines.hpp"
#include "benchmarks/reference_tfm.hpp"
#include "stages/scan_lines/delay_filter_kind.hpp"
#include "stages/scan_lines/scan_lines.hpp"
#include "stages/windows/window.hpp"

namespace echoform::benchmarks {
namespace {

constexpr double velocity = 1540.0;
constexpr double widest = 45.0 * std::numbers::pi / 180.0;

/// The input of both sides, the stage and the plain loop.
struct Sector {
  std::vector<float> sine;
  std::vector<float> cosine;
  std::vector<float> place;
  std::vector<float> weight;
  std::shared_ptr<LineSet> set = std::make_shared<LineSet>();
  reference::Lines plain;
};

Sector sector_of(const LinesCase& test, std::size_t of_event) {
  Sector sector;
  LineSet& set = *sector.set;
  const double pitch = 0.5 * velocity / (test.sample_rate / 8.0);
  set.ranges = {Metres(0.0), Metres(0.5 * velocity / test.sample_rate), test.samples};
  for (std::size_t e = 0; e < test.channels; ++e) {
    const double x = pitch * (static_cast<double>(e) - 0.5 * static_cast<double>(test.channels - 1));
    sector.place.push_back(static_cast<float>(x));
    set.elements.push_back({Metres(x), Metres(0.0), Metres(0.0)});
    const double w = window_at({.kind = WindowKind::hann}, (static_cast<double>(e) + 0.5) / static_cast<double>(test.channels));
    sector.weight.push_back(static_cast<float>(w));
    // Elements at the same distance from the middle share their weights.
    if (2 * e < test.channels) set.weights.insert(set.weights.end(), test.samples, static_cast<float>(w));
  }
  const std::size_t lines = test.events * of_event;
  for (std::size_t event = 0; event < test.events; ++event) {
    LineEvent rows{event * test.channels, {}};
    for (std::uint32_t e = 0; e < test.channels; ++e) rows.receivers.push_back(e);
    set.events.push_back(std::move(rows));
  }
  for (std::size_t line = 0; line < lines; ++line) {
    const double angle = lines > 1 ? widest * (2.0 * static_cast<double>(line) / static_cast<double>(lines - 1) - 1.0) : 0.0;
    sector.sine.push_back(static_cast<float>(std::sin(angle)));
    sector.cosine.push_back(static_cast<float>(std::cos(angle)));
    set.lines.push_back({static_cast<std::uint32_t>(line / of_event), {}, {std::sin(angle), 0.0, std::cos(angle)}});
    for (std::size_t k = 0; k < test.samples; ++k) set.transmit_times.push_back(set.ranges.at(k).value / velocity);
    for (std::uint32_t e = 0; e < test.channels; ++e) {
      set.weight_tables.push_back(std::min(e, static_cast<std::uint32_t>(test.channels) - 1 - e));
    }
  }
  sector.plain = {.lines = lines,
                  .of_event = of_event,
                  .channels = test.channels,
                  .samples = test.samples,
                  .ranges = test.samples,
                  .sine = sector.sine.data(),
                  .cosine = sector.cosine.data(),
                  .place = sector.place.data(),
                  .weight = sector.weight.data(),
                  .range_spacing = static_cast<float>(set.ranges.spacing.value),
                  .velocity = static_cast<float>(velocity),
                  .sample_rate = static_cast<float>(test.sample_rate)};
  return sector;
}

ScanLinesOptions lines_options_of(const LinesCase& test, const DelayFilterOptions& filter, const Sector& sector) {
  ScanLinesOptions options;
  options.lines = sector.set;
  options.velocity = MetresPerSecond(velocity);
  options.sample_rate = Hertz(test.sample_rate);
  options.gate = {0, test.samples};
  options.filter = filter;
  return options;
}

/// Noise whose neighbours are correlated, as they are in echoes.
std::vector<std::int16_t> noise(std::size_t count) {
  std::vector<std::int16_t> data(count);
  std::minstd_rand random(5);
  double level = 0.0;
  double slope = 0.0;
  for (std::int16_t& value : data) {
    slope += 0.3 * ((static_cast<double>(random() % 2001U) - 1000.0) - level - slope);
    level += slope;
    value = static_cast<std::int16_t>(level);
  }
  return data;
}

double seconds_a_run(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  std::size_t runs = 0;
  double seconds = 0.0;
  while (seconds < 0.15) {
    work();
    ++runs;
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return seconds / static_cast<double>(runs);
}

struct LinesWay {
  DelayFilterOptions filter;
  std::size_t lines = 1;
  bool plain = false;  ///< a plain loop of this kind exists
};

double difference_of(const std::vector<float>& ours, std::size_t stride, const std::vector<float>& plain, std::size_t ranges) {
  double error = 0.0;
  double norm = 0.0;
  for (std::size_t k = 0; k < plain.size(); ++k) {
    error += std::pow(static_cast<double>(ours[k / ranges * stride + k % ranges]) - plain[k], 2);
    norm += std::pow(static_cast<double>(plain[k]), 2);
  }
  return std::sqrt(error / norm);
}

LinesFigure measure(const LinesCase& test, const LinesWay& way, const std::vector<std::int16_t>& data, std::size_t threads,
                    Turns& all) {
  const Sector sector = sector_of(test, way.lines);
  const ScanLinesOptions options = lines_options_of(test, way.filter, sector);
  const auto backend = make_cpu_backend(threads);
  const auto queue = backend->make_queue();
  const auto stage = make_scan_lines_cpu(options, threads);
  BlockSpec spec;
  spec.type = ElementType::raw;
  spec.encoding = SampleEncoding::int16;
  spec.rows = test.events * test.channels;
  spec.columns = test.samples;
  const BlockSpec output = stage->prepare(spec);
  std::vector<float> image(output.rows * output.row_stride);
  const auto run = [&] { stage->process({data.data()}, {image.data()}, *queue); };
  run();

  const DelayFilter filter = make_delay_filter(way.filter);
  std::vector<float> plain_image(sector.plain.lines * test.samples);
  std::vector<float> fine;
  std::vector<float> phases;
  if (filter.upsampling) {
    fine.resize(threads * test.channels * test.samples * 4);
    for (std::size_t phase = 1; phase < 4; ++phase) {
      phases.insert(phases.end(), filter.row(phase).begin(), filter.row(phase).end());
    }
  }
  const auto run_plain = [&] {
    const int team = static_cast<int>(threads);
    if (filter.upsampling) {
      reference::sum_upsampled_lines_loop(sector.plain, phases.data(), filter.taps, filter.left(), data.data(), fine.data(),
                                          plain_image.data(), team);
    } else {
      reference::sum_lines_loop(sector.plain, data.data(), plain_image.data(), team);
    }
  };
  const std::string name = fmt::format("{}, {} of an event", name_of(way.filter), way.lines);
  std::vector<Turn> turns{{name, [&] { return seconds_a_run(run); }}};
  if (way.plain) turns.push_back({name + ", plain loop", [&] { return seconds_a_run(run_plain); }});
  const Turns taken = take_turns(test.rounds, turns);
  LinesFigure figure{.filter = name_of(way.filter), .lines = way.lines, .frames = {}, .real_time = {}, .ratio = {}};
  std::vector<double> frames;
  std::vector<double> real_time;
  const double echoes = static_cast<double>(test.events * test.samples) / test.sample_rate;
  for (const double seconds : taken.values(name)) {
    all.add(name, seconds);
    frames.push_back(1.0 / seconds);
    real_time.push_back(echoes / seconds);
  }
  figure.frames = spread_of(frames);
  figure.real_time = spread_of(real_time);
  if (way.plain) {
    for (const double seconds : taken.values(name + ", plain loop")) all.add(name + ", plain loop", seconds);
    figure.ratio = taken.ratio(name + ", plain loop", name);
    figure.difference = difference_of(image, output.row_stride, plain_image, test.samples);
  }
  return figure;
}

}  // namespace

ScanLinesOptions lines_options(const LinesCase& test, const DelayFilterOptions& filter, std::size_t of_event) {
  return lines_options_of(test, filter, sector_of(test, of_event));
}

std::vector<std::int16_t> lines_samples(const LinesCase& test) {
  return noise(test.events * test.channels * test.samples);
}

LinesReport measure_lines(const LinesCase& test, const std::function<void(const std::string&)>& progress) {
  LinesReport report;
  report.reference_flags = reference::build_flags();
  report.threads = test.threads != 0 ? test.threads : usable_processors();
  const std::vector<std::int16_t> data = lines_samples(test);
  const auto filter = [](const char* kind, std::size_t size = 0) {
    DelayFilterOptions options;
    options.kind = kind;
    options.order_or_taps = size;
    return options;
  };
  std::vector<LinesWay> ways{{filter("linear"), 1, true},
                             {filter("nearest")},
                             {filter("lagrange", 3)},
                             {filter("windowed_sinc", 8)},
                             {filter("least_squares", 8)}};
  for (const std::size_t lines : {1, 2, 4, 8, 16}) ways.push_back({filter("upsampled", 11), lines, lines == 1 || lines == 4});
  for (const LinesWay& way : ways) {
    progress(fmt::format("{}, {} lines of an event", name_of(way.filter), way.lines));
    report.figures.push_back(measure(test, way, data, report.threads, report.turns));
  }
  return report;
}

}  // namespace echoform::benchmarks
