// A benchmark of `echoform bench` is a function that measures and reports, in a file of its own in this folder, and one line
// of the table in table.cpp. The measuring code is in benchmarks/, which produces neither text nor JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/outcome.hpp"
#include "apps/common.hpp"
#include "pipeline/engine.hpp"

namespace echoform::bench {

struct Options {
  std::string name;
  std::optional<std::size_t> elements;
  std::optional<std::size_t> samples;
  std::optional<std::size_t> pixels;
  std::optional<std::size_t> frames;
  std::optional<std::size_t> connections;
  std::size_t threads = 0;
  double hold = 10.0;
  bool gate = false;
  std::string accuracy = "both";  ///< half, float, both
  std::string part = "all";       ///< of tomography on cuda: volumes, live, ring, all
  std::string backend;
  std::string json_file;
  std::string folder;  ///< empty: the system's for temporary files
};

using Measure = Outcome (*)(const Options& options, LiveLine& progress);

struct Benchmark {
  std::string_view name;
  std::string_view summary;
  Measure cpu;   ///< null where there is nothing to measure on the CPU
  Measure cuda;  ///< null where there is nothing to measure on a GPU, and in builds without CUDA
};

/// All benchmarks, in the order in which `bench all` runs them.
[[nodiscard]] std::span<const Benchmark> all_benchmarks();

/// --threads, or every processor.
[[nodiscard]] std::size_t threads_of(const Options& options);

/// The data paths that --accuracy asks for, as accuracies of plans (ImagingPlan::accuracy).
[[nodiscard]] std::vector<double> accuracies_of(const Options& options);
/// "half" or "float".
[[nodiscard]] std::string_view path_of(double accuracy);

Outcome tfm_cpu(const Options& options, LiveLine& progress);
Outcome tfm_cuda(const Options& options, LiveLine& progress);
Outcome schedules_cuda(const Options& options, LiveLine& progress);
Outcome frame_cpu(const Options& options, LiveLine& progress);
Outcome frame_cuda(const Options& options, LiveLine& progress);
Outcome views_cpu(const Options& options, LiveLine& progress);
Outcome views_cuda(const Options& options, LiveLine& progress);
Outcome positions_cpu(const Options& options, LiveLine& progress);
Outcome positions_cuda(const Options& options, LiveLine& progress);
Outcome delays(const Options& options, LiveLine& progress);
Outcome delays_cuda(const Options& options, LiveLine& progress);
Outcome filters(const Options& options, LiveLine& progress);
Outcome ingest(const Options& options, LiveLine& progress);
Outcome micropulse(const Options& options, LiveLine& progress);
Outcome openigtlink(const Options& options, LiveLine& progress);
Outcome stream_cpu(const Options& options, LiveLine& progress);
Outcome stream_cuda(const Options& options, LiveLine& progress);
Outcome record_cpu(const Options& options, LiveLine& progress);
Outcome record_cuda(const Options& options, LiveLine& progress);
Outcome hilbert_cpu(const Options& options, LiveLine& progress);
Outcome hilbert_cuda(const Options& options, LiveLine& progress);
Outcome decoding_cpu(const Options& options, LiveLine& progress);
Outcome decoding_cuda(const Options& options, LiveLine& progress);
Outcome scan_cpu(const Options& options, LiveLine& progress);
Outcome scan_cuda(const Options& options, LiveLine& progress);
Outcome scan_lines(const Options& options, LiveLine& progress);
Outcome scan_lines_cuda(const Options& options, LiveLine& progress);
Outcome compounding_cpu(const Options& options, LiveLine& progress);
Outcome compounding_cuda(const Options& options, LiveLine& progress);
Outcome flow_cpu(const Options& options, LiveLine& progress);
Outcome flow_cuda(const Options& options, LiveLine& progress);
Outcome tomography_cpu(const Options& options, LiveLine& progress);
Outcome tomography_cuda(const Options& options, LiveLine& progress);

}  // namespace echoform::bench
