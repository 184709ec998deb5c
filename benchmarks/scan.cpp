#include "benchmarks/scan.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numbers>
#include <random>

#include "benchmarks/reference_scan.hpp"
#include "benchmarks/reference_scan_tables.hpp"
#include "benchmarks/reference_tfm.hpp"
#include "benchmarks/scan_gpu.hpp"
#include "gpu/cuda_backend.hpp"
#include "stages/polar_scan_conversion/polar_scan_conversion.hpp"
#include "stages/scan_conversion/scan_conversion_words.hpp"

namespace echoform::benchmarks {
namespace {

/// Milliseconds that `work` takes: the mean of as many runs as fill a tenth of a second, after one run that is not counted.
double milliseconds_of(const std::function<void()>& work) {
  work();
  const auto begin = std::chrono::steady_clock::now();
  double milliseconds = 0.0;
  std::size_t runs = 0;
  while (milliseconds < 100.0) {
    work();
    ++runs;
    milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }
  return milliseconds / static_cast<double>(runs);
}

PolarScanConversionOptions options_of(const ScanCase& test, std::size_t rows, std::size_t columns) {
  constexpr double half_angle = 35.0 * std::numbers::pi / 180.0;
  constexpr double radius = 60e-3;
  constexpr double depth = 160e-3;
  PolarScanConversionOptions options;
  options.beams = test.beams;
  options.angle_pitch = 2.0 * half_angle / static_cast<double>(test.beams - 1);
  options.samples = test.samples;
  options.sample_spacing = Metres(depth / static_cast<double>(test.samples - 1));
  options.probe_radius = Metres(radius);
  const double half_width = (radius + depth) * std::sin(half_angle);
  options.display.x = {Metres(-half_width), Metres(half_width), columns};
  options.display.z = {Metres(radius * std::cos(half_angle) - radius), Metres(depth), rows};
  return options;
}

reference::PolarScan plain_scan_of(const PolarScanConversionOptions& options) {
  reference::PolarScan scan;
  scan.beams = options.beams;
  scan.samples = options.samples;
  scan.angle_pitch = static_cast<float>(options.angle_pitch);
  scan.first_angle = static_cast<float>(-0.5 * static_cast<double>(options.beams - 1) * options.angle_pitch);
  scan.probe_radius = static_cast<float>(options.probe_radius.value);
  scan.start_depth = static_cast<float>(options.start_depth.value);
  scan.sample_spacing = static_cast<float>(options.sample_spacing.value);
  scan.rows = options.display.z.count;
  scan.columns = options.display.x.count;
  scan.first_x = static_cast<float>(options.display.x.first.value);
  scan.x_spacing = static_cast<float>(options.display.x.spacing().value);
  scan.first_z = static_cast<float>(options.display.z.first.value);
  scan.z_spacing = static_cast<float>(options.display.z.spacing().value);
  scan.alpha = static_cast<float>(options.cubic_alpha);
  return scan;
}

/// Smoothed noise that resembles speckle: the levels of neighbours are correlated.
std::vector<std::uint8_t> speckle(const ScanCase& test) {
  std::vector<std::uint8_t> data(test.beams * test.samples);
  std::minstd_rand random(3);
  double level = 128.0;
  for (std::uint8_t& value : data) {
    level += 0.2 * (static_cast<double>(random() % 256U) - level);
    value = static_cast<std::uint8_t>(level);
  }
  return data;
}

/// One prepared variant of the conversion.
struct ScanRunner {
  ScanInterpolation how;
  SimdLevel level;
  std::size_t threads;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<ExecutionQueue> queue;
  std::unique_ptr<Stage> stage;
  std::vector<std::uint8_t> image;

  ScanRunner(PolarScanConversionOptions options, ScanInterpolation interpolation, SimdLevel simd, std::size_t members)
      : how(interpolation),
        level(simd),
        threads(members),
        backend(make_cpu_backend(members)),
        queue(backend->make_queue()),
        image(options.display.pixels()) {
    options.interpolation = interpolation;
    stage = make_polar_scan_conversion_cpu(options, simd);
    BlockSpec spec;
    spec.type = ElementType::uint8;
    spec.rows = options.beams;
    spec.columns = options.samples;
    static_cast<void>(stage->prepare(spec));
  }
  /// Milliseconds of one conversion.
  [[nodiscard]] double run(const std::vector<std::uint8_t>& data) {
    return milliseconds_of([&] { stage->process({data.data()}, {image.data()}, *queue); });
  }
  [[nodiscard]] std::string name() const {
    return std::string(to_string(level)) + ' ' + std::string(words::scan_interpolation.of(how));
  }
  [[nodiscard]] ScanFigure figure(const Turns& turns) const {
    ScanFigure figure{
        std::string(to_string(level)), std::string(words::scan_interpolation.of(how)), threads, turns.spread(name()), {}, {}};
    if (how == ScanInterpolation::cubic) {
      figure.ratio = turns.ratio("plain loop", name());
      figure.tabled_ratio = turns.ratio("plain loop, tables", name());
    }
    return figure;
  }
};

void copy(const Buffer& from, const Buffer& to, ThreadTeam& team) {
  team.for_each(from.size(), std::size_t{1} << 16, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
    std::memcpy(to.bytes_begin() + first, from.bytes_begin() + first, last - first);
  });
}

void compare(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b, ScanSize& size) {
  std::size_t differing = 0;
  std::size_t inside = 0;
  for (std::size_t p = 0; p < a.size(); ++p) {
    const int difference = std::abs(static_cast<int>(a[p]) - static_cast<int>(b[p]));
    // The plain loop computes angles in single precision, which puts some pixels of the edge outside.
    if (a[p] != 0 && b[p] != 0) size.largest_difference = std::max(size.largest_difference, difference);
    differing += difference != 0 ? 1 : 0;
    inside += a[p] != 0 ? 1 : 0;
  }
  size.differing = static_cast<double>(differing) / static_cast<double>(a.size());
  size.inside = static_cast<double>(inside) / static_cast<double>(a.size());
}

void measure_on_cpu(const ScanCase& test, const PolarScanConversionOptions& options, const std::vector<std::uint8_t>& data,
                    ScanSize& size) {
  const std::size_t all = test.threads != 0 ? test.threads : usable_processors();
  std::vector<std::size_t> teams{1};
  if (all > 1) teams.push_back(all);
  const reference::PolarScan plain = plain_scan_of(options);
  const std::vector<reference::PolarScanEntry> tables = reference::polar_scan_tables(plain);
  std::vector<std::uint8_t> plain_image(options.display.pixels());
  std::vector<std::uint8_t> tabled_image(options.display.pixels());
  for (const std::size_t threads : teams) {
    std::vector<ScanRunner> runners;
    for (const SimdLevel level : {SimdLevel::avx2, SimdLevel::portable}) {
      if (level <= simd_level()) runners.emplace_back(options, ScanInterpolation::cubic, level, threads);
    }
    const SimdLevel best = runners.front().level;
    runners.emplace_back(options, ScanInterpolation::bilinear, best, threads);
    runners.emplace_back(options, ScanInterpolation::nearest, best, threads);
    const std::size_t bytes = runners.front().stage->bytes() + data.size() + plain_image.size();
    const Buffer from = runners.front().backend->allocate(bytes / 2, MemoryUse::working);
    const Buffer to = runners.front().backend->allocate(bytes / 2, MemoryUse::working);
    const int team = static_cast<int>(threads);
    std::vector<Turn> turns;
    turns.push_back({"plain loop", [&] {
                       return milliseconds_of([&] { reference::polar_scan_loop(plain, data.data(), plain_image.data(), team); });
                     }});
    turns.push_back({"plain loop, tables", [&] {
                       return milliseconds_of([&] {
                         reference::polar_scan_tables_loop(plain, tables.data(), data.data(), tabled_image.data(), team);
                       });
                     }});
    for (ScanRunner& runner : runners) turns.push_back({runner.name(), [&] { return runner.run(data); }});
    turns.push_back({"copy", [&] { return milliseconds_of([&] { copy(from, to, team_of(*runners.front().queue)); }); }});
    const Turns taken = take_turns(test.rounds, turns);
    size.reference.push_back({"plain loop",
                              "cubic",
                              threads,
                              taken.spread("plain loop"),
                              {1.0, 1.0, 1.0},
                              taken.ratio("plain loop, tables", "plain loop")});
    size.tabled.push_back({"plain loop, tables",
                           "cubic",
                           threads,
                           taken.spread("plain loop, tables"),
                           taken.ratio("plain loop", "plain loop, tables"),
                           {1.0, 1.0, 1.0}});
    for (const ScanRunner& runner : runners) size.cpu.push_back(runner.figure(taken));
    size.limit.push_back({"copy", "", threads, taken.spread("copy"), {}, {}});
    compare(runners.front().image, plain_image, size);
  }
}

struct PaperRow {
  std::size_t rows;
  std::size_t columns;
  double cpu;
  double gpu;
};
/// X. He and X. Zhang, J. Chongqing Normal University 30(3), 94, 2013, table 2; milliseconds.
constexpr PaperRow paper[] = {{789, 540, 54.42, 0.119}, {1249, 618, 108.11, 0.231}, {3121, 936, 426.37, 0.642}};

}  // namespace

ScanReport measure_scan(const ScanCase& test, const std::function<void(const std::string&)>& progress) {
  ScanReport report;
  report.reference_flags = reference::build_flags();
  report.why_no_gpu = test.cuda ? why_no_cuda() : "not asked for";
  [[maybe_unused]] const bool on_gpu = report.why_no_gpu.empty();
#ifdef ECHOFORM_WITH_CUDA
  const std::unique_ptr<LargeGpuCopy> large_copy = on_gpu ? std::make_unique<LargeGpuCopy>() : nullptr;
  std::vector<double> large_rates;
#endif
  const std::vector<std::uint8_t> data = speckle(test);
  for (const PaperRow& row : paper) {
    const std::string name = std::to_string(row.rows) + " x " + std::to_string(row.columns);
    ScanSize size;
    size.rows = row.rows;
    size.columns = row.columns;
    size.paper_cpu = row.cpu;
    size.paper_gpu = row.gpu;
    const PolarScanConversionOptions options = options_of(test, row.rows, row.columns);
    progress(name + " on the CPU");
    measure_on_cpu(test, options, data, size);
#ifdef ECHOFORM_WITH_CUDA
    if (on_gpu) {
      progress(name + " on the GPU");
      size.gpu = measure_scan_on_gpu(options, data, test.rounds, *large_copy, large_rates);
    }
#endif
    report.sizes.push_back(std::move(size));
  }
#ifdef ECHOFORM_WITH_CUDA
  if (on_gpu) report.gpu_copy_bandwidth = spread_of(std::move(large_rates)).median;
#endif
  return report;
}

}  // namespace echoform::benchmarks
