#include "benchmarks/tfm.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <thread>

#include "benchmarks/array_case.hpp"
#include "benchmarks/lookups.hpp"
#include "benchmarks/reference_tfm.hpp"
#include "benchmarks/reference_tfm_pairs.hpp"
#include "benchmarks/turns.hpp"
#include "methods/tfm/stage_options.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/beamform/delay_tables.hpp"

namespace echoform::benchmarks {
namespace {

/// Random complex rows of a half matrix in the layouts of the beamformer and of each plain loop, all of them on huge pages.
class Data {
 public:
  /// Makes at least `least_rows` rows.
  Data(const Acquisition& acquisition, std::size_t least_rows, Backend& backend) : samples_(acquisition.samples) {
    const std::size_t elements = acquisition.elements();
    spec.type = ElementType::planar_complex64;
    spec.rows = std::max(least_rows, elements * (elements + 1) / 2);
    spec.columns = samples_;
    spec.row_stride = (samples_ + 64 + 15) / 16 * 16;
    planar_ = backend.allocate(spec.bytes(), MemoryUse::working);
    interleaved_ = backend.allocate(spec.rows * samples_ * sizeof(std::complex<float>), MemoryUse::working);
    padded_ = backend.allocate(spec.rows * spec.row_stride * sizeof(std::complex<float>), MemoryUse::working);
    std::minstd_rand random(1);
    auto* planar_data = static_cast<float*>(planar_.data());
    auto* interleaved_data = static_cast<std::complex<float>*>(interleaved_.data());
    auto* padded_data = static_cast<std::complex<float>*>(padded_.data());
    for (std::size_t row = 0; row < spec.rows; ++row) {
      float* in_phase = planar_data + 2 * row * spec.row_stride;
      float* quadrature = in_phase + spec.row_stride;
      for (std::size_t k = 0; k < samples_; ++k) {
        in_phase[k] = static_cast<float>(random()) * 0x1p-31F - 0.5F;
        quadrature[k] = static_cast<float>(random()) * 0x1p-31F - 0.5F;
        interleaved_data[row * samples_ + k] = {in_phase[k], quadrature[k]};
        padded_data[row * spec.row_stride + k] = {in_phase[k], quadrature[k]};
      }
    }
  }
  [[nodiscard]] const float* planar() const { return static_cast<const float*>(planar_.data()); }
  [[nodiscard]] const std::complex<float>* interleaved() const {
    return static_cast<const std::complex<float>*>(interleaved_.data());
  }
  /// The description of the first `rows` rows.
  [[nodiscard]] BlockSpec of_rows(std::size_t rows) const {
    BlockSpec some = spec;
    some.rows = rows;
    return some;
  }
  /// Rows that are spec.row_stride samples apart.
  [[nodiscard]] const std::complex<float>* padded() const { return static_cast<const std::complex<float>*>(padded_.data()); }

  BlockSpec spec;

 private:
  std::size_t samples_;
  Buffer planar_;
  Buffer interleaved_;
  Buffer padded_;
};

/// Seconds that `work` takes: the mean of as many runs as fill a quarter of a second, after one run that is not counted. A stream
/// of frames sees this time, no matter what used the processors and caches before.
double mean_seconds_of(const std::function<void()>& work) {
  work();
  const auto begin = std::chrono::steady_clock::now();
  double seconds = 0.0;
  std::size_t runs = 0;
  while (seconds < 0.25) {
    work();
    ++runs;
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return seconds / static_cast<double>(runs);
}

/// One prepared variant of beamforming.
struct TfmRunner {
  std::string name;
  std::size_t threads;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<ExecutionQueue> queue;
  std::unique_ptr<Stage> stage;
  std::vector<std::complex<float>> image;

  TfmRunner(const ImagingPlan& plan, const BlockSpec& spec, SimdLevel level, std::size_t members)
      : name(to_string(level)),
        threads(members),
        backend(make_cpu_backend(members)),
        queue(backend->make_queue()),
        stage(make_beamform_cpu(beamform_options(plan, plan_pairs(plan), 0), *backend, level)),
        image(plan.grid.pixels()) {
    const BlockSpec output = stage->prepare(spec);
    (void)output;
  }
  /// Lookups a second.
  [[nodiscard]] double run(const Data& data, double lookups) {
    return lookups / mean_seconds_of([&] { stage->process({data.planar()}, {image.data()}, *queue); });
  }
};

/// Delays in the order of the first plain loop: [pixel, source].
std::vector<float> pixel_major(const std::vector<float>& delays, std::size_t pixels) {
  const std::size_t n = delays.size() / pixels;
  std::vector<float> turned(delays.size());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t p = 0; p < pixels; ++p) turned[p * n + i] = delays[i * pixels + p];
  }
  return turned;
}

/// Runs the best kernel over all tiles with the same A-scan for every pair, so that windows come from the first-level cache.
class InCache {
 public:
  InCache(const ImagingPlan& plan, std::size_t members)
      : elements_(static_cast<std::uint32_t>(plan.acquisition.elements())),
        samples_(plan.acquisition.samples),
        backend_(make_cpu_backend(members)),
        queue_(backend_->make_queue()) {
    const auto& kernels = beamform::kernels_of(simd_level());
    kernels_ = &kernels;
    tables_ = beamform::make_delay_tables(beamform_options(plan, plan_pairs(plan), 0), kernels, *backend_, team_of(*queue_));
    row_.assign(2 * (samples_ + 64), 0.25F);
    sums_.assign(members, std::vector<float>(std::size_t{2} * tables_.tiling.most_patches * kernels.lanes));
  }

  void run() {
    team_of(*queue_).for_each(tables_.tiling.tiles.size(), 1, [&](std::size_t first, std::size_t last, std::size_t member) {
      for (std::size_t tile = first; tile < last; ++tile) run_tile(tile, sums_[member].data());
    });
  }

 private:
  void run_tile(std::size_t index, float* sums) const {
    const beamform::Tile& tile = tables_.tiling.tiles[index];
    const beamform::LegTables& leg = tables_.transmit;
    const std::size_t entry = tile.first_patch * leg.sources;
    const auto* offset = static_cast<const float*>(leg.offset.data()) + entry * kernels_->lanes;
    const auto* base = static_cast<const std::int32_t*>(leg.base.data()) + entry;
    const auto* top = static_cast<const std::int32_t*>(leg.top.data()) + entry;
    const float* weight = tables_.weighted ? static_cast<const float*>(leg.weight.data()) + entry * kernels_->lanes : nullptr;
    const auto* low = static_cast<const std::int32_t*>(leg.low.data()) + index * leg.sources;
    const auto* high = static_cast<const std::int32_t*>(leg.high.data()) + index * leg.sources;
    for (std::uint32_t i = 0; i < elements_; ++i) {
      beamform::TileTask task{};
      task.patches = tile.patches;
      task.sources = task.outer_sources = leg.sources;
      task.outer_offset = offset + std::size_t{i} * kernels_->lanes;
      task.outer_base = base + i;
      task.outer_top = top + i;
      if (weight != nullptr) {
        task.outer_weight = weight + std::size_t{i} * kernels_->lanes;
        task.inner_weight = weight;
      }
      task.inner_offset = offset;
      task.inner_base = base;
      task.inner_top = top;
      task.inner_first = i;
      task.inner_last = elements_;
      task.inner_low = low;
      task.inner_high = high;
      task.outer_low = low[i];
      task.outer_high = high[i];
      task.rows = row_.data();
      task.row_pitch = 0;
      task.quadrature = samples_ + 64;
      task.samples = static_cast<std::int32_t>(samples_);
      task.sums = sums;
      kernels_->kernels[static_cast<int>(tile.window)][1][tables_.weighted][tile.checked](task);
    }
  }

  std::uint32_t elements_;
  std::size_t samples_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ExecutionQueue> queue_;
  const beamform::KernelSet* kernels_ = nullptr;
  beamform::DelayTables tables_;
  std::vector<float> row_;
  std::vector<std::vector<float>> sums_;
};

double difference(const std::vector<std::complex<float>>& a, const std::vector<std::complex<float>>& b, float scale_of_b) {
  double error = 0.0;
  double norm = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    error += std::norm(std::complex<double>(a[k]) - std::complex<double>(b[k] * scale_of_b));
    norm += std::norm(std::complex<double>(b[k] * scale_of_b));
  }
  return std::sqrt(error / norm);
}

}  // namespace

TfmReport measure_tfm(const TfmCase& test, const std::function<void(const std::string&)>& progress) {
  const std::size_t threads = test.threads != 0 ? test.threads : usable_processors();
  const int team = static_cast<int>(threads);
  progress("making data");
  ArrayCase array;
  array.elements = test.elements;
  array.samples = test.samples;
  array.pixels = test.pixels;
  const ImagingPlan plan = test.plan ? *test.plan : array_plan(array);
  const std::size_t elements = plan.acquisition.elements();
  const std::size_t samples = plan.acquisition.samples;
  const std::size_t pixels = plan.grid.pixels();
  const auto backend = make_cpu_backend(threads);
  const Data data(plan.acquisition, test.plan ? 0 : test.waves * elements, *backend);
  const BlockSpec half = data.of_rows(elements * (elements + 1) / 2);
  TfmReport report;
  report.reference_flags = reference::build_flags();
  const std::vector<float> delays = sample_delays(plan, *plan.laws[0].transmit);
  const std::vector<float> delays_by_pixel = pixel_major(delays, pixels);
  report.lookups = count_within(delays, delays, pixels, samples, true, threads);

  std::vector<TfmRunner> levels;
  for (const SimdLevel level : {SimdLevel::avx512, SimdLevel::avx2, SimdLevel::portable}) {
    if (level <= simd_level()) levels.emplace_back(plan, half, level, threads);
  }
  const std::string best = levels.front().name;
  report.table_bytes = levels.front().stage->bytes();
  std::vector<std::complex<float>> plain(pixels);
  std::vector<std::complex<float>> padded(pixels);
  InCache in_cache(plan, threads);
  const auto pairs_loop = [&](const float* weights, std::vector<std::complex<float>>& image) {
    return report.lookups / mean_seconds_of([&] {
             reference::total_focusing_pairs_loop(data.padded(), data.spec.row_stride, delays.data(), weights, image.data(),
                                                  elements, samples, pixels, team);
           });
  };

  std::vector<Turn> turns;
  turns.push_back({"frozen loop", [&] {
                     return report.lookups / mean_seconds_of([&] {
                              reference::total_focusing_loop(data.interleaved(), delays_by_pixel.data(), plain.data(), elements,
                                                             samples, pixels, team);
                            });
                   }});
  turns.push_back({"pair-major loop", [&] { return pairs_loop(nullptr, padded); }});
  for (TfmRunner& runner : levels) {
    turns.push_back({runner.name, [&] { return runner.run(data, report.lookups); }});
  }
  turns.push_back({"in cache", [&] { return report.lookups / mean_seconds_of([&] { in_cache.run(); }); }});

  const ImagingPlan with_weights = weighted_plan(plan);  // stages refer to their plan
  std::optional<TfmRunner> weighted;
  std::optional<InCache> weighted_in_cache;
  std::vector<float> weights;
  std::vector<std::complex<float>> weighted_plain(pixels);
  std::optional<TfmRunner> of_waves;
  TfmWaves waves;
  if (!test.plan && test.waves > 0) {
    array.waves = test.waves;
    const ImagingPlan plan_of_waves = array_plan(array);
    waves.waves = test.waves;
    waves.lookups =
        count_within(sample_delays(plan_of_waves, *plan_of_waves.laws[0].transmit), delays, pixels, samples, false, threads);
    of_waves.emplace(plan_of_waves, data.of_rows(test.waves * elements), simd_level(), threads);
    turns.push_back({"plane waves", [&] { return of_waves->run(data, waves.lookups); }});
  }
  if (test.weighted) {
    weights = weights_of(with_weights, *with_weights.laws[0].transmit);
    weighted.emplace(with_weights, half, simd_level(), threads);
    weighted_in_cache.emplace(with_weights, threads);
    turns.push_back({"weighted pair-major loop", [&] { return pairs_loop(weights.data(), weighted_plain); }});
    turns.push_back({"weighted", [&] { return weighted->run(data, report.lookups); }});
    turns.push_back({"weighted in cache", [&] { return report.lookups / mean_seconds_of([&] { weighted_in_cache->run(); }); }});
  }

  report.turns = take_turns(test.rounds, turns, [&](std::size_t round) {
    progress("round " + std::to_string(round + 1) + " of " + std::to_string(test.rounds));
  });
  const auto figure = [&](const std::string& name) { return TfmFigure{name, threads, report.turns.spread(name)}; };
  const auto n = static_cast<float>(elements);
  const float scale = 1.0F / (n * n);
  report.reference = figure("frozen loop");
  report.padded_reference = figure("pair-major loop");
  report.limit = figure("in cache");
  report.ratio = report.turns.ratio(best, "frozen loop");
  report.padded_ratio = report.turns.ratio(best, "pair-major loop");
  report.of_limit = report.turns.ratio(best, "in cache");
  report.relative_difference = difference(levels.front().image, plain, scale);
  report.padded_difference = difference(levels.front().image, padded, scale);
  for (const TfmRunner& runner : levels) report.beamformer.push_back(figure(runner.name));
  if (weighted) {
    report.weighted = TfmWeighted{figure("weighted"),
                                  figure("weighted pair-major loop"),
                                  figure("weighted in cache"),
                                  report.turns.ratio("weighted", best),
                                  report.turns.ratio("weighted", "weighted pair-major loop"),
                                  report.turns.ratio("weighted", "weighted in cache"),
                                  difference(weighted->image, weighted_plain, scale)};
  }

  if (of_waves) {
    waves.beamformer = figure("plane waves");
    waves.ratio = report.turns.ratio("plane waves", "frozen loop");
    waves.of_elements = report.turns.ratio("plane waves", best);
    report.waves = waves;
  }

  for (std::size_t members = 1; test.scaling && members <= threads;
       members = members < threads && 2 * members > threads ? threads : 2 * members) {
    progress(std::to_string(members) + " threads");
    TfmRunner runner(plan, half, simd_level(), members);
    std::vector<double> rates;
    for (std::size_t round = 0; round < test.rounds; ++round) rates.push_back(runner.run(data, report.lookups));
    report.scaling.push_back({runner.name, members, spread_of(std::move(rates))});
  }
  return report;
}

TfmReport measure_tfm_volume(const TfmVolumeCase& volume, std::size_t rounds, std::size_t threads,
                             const std::function<void(const std::string&)>& progress) {
  ArrayCase array;
  array.elements = array.rows = volume.elements;
  array.samples = volume.samples;
  array.pixels = volume.pixels;
  TfmCase test;
  test.rounds = rounds;
  test.threads = threads;
  auto plan = std::make_shared<ImagingPlan>(array_plan(array));
  const std::size_t first = (volume.pixels - volume.planes) / 2;
  plan->grid.y = {plan->grid.y.at(first), plan->grid.y.at(first + volume.planes - 1), volume.planes};
  test.plan = std::move(plan);
  test.scaling = test.weighted = false;
  return measure_tfm(test, progress);
}

}  // namespace echoform::benchmarks
