// How fast the polar scan conversion is: against two frozen plain loops, by instruction set, on the GPU, and against the time
// that its bytes take to move, all in one run; beside the table of the paper that it was first measured in.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/statistics.hpp"
#include "benchmarks/turns.hpp"

namespace echoform::benchmarks {

/// 8-bit beams of a curvilinear probe (radius 60 mm, 70 degrees, depth 160 mm) to three images, `rows` (z) x `columns` (x) as the
/// paper names them: 789 x 540, 1249 x 618, 3121 x 936. The images enclose the sector.
struct ScanCase {
  std::size_t beams = 256;
  std::size_t samples = 1024;
  std::size_t rounds = 5;   ///< measurements of each, in turn
  std::size_t threads = 0;  ///< 0: all that this process may use
  bool cuda = true;         ///< measure the GPU too, where there is one
};

/// One way of converting.
struct ScanFigure {
  std::string name;  ///< "plain loop", "avx512", "cuda" ...
  std::string interpolation;
  std::size_t threads = 1;  ///< 0 on the GPU
  Spread milliseconds;
  Spread ratio;         ///< times faster than the plain loop on as many threads, round by round; 0 where that says nothing
  Spread tabled_ratio;  ///< the same with the plain loop that reads tables
};

/// Times of a frame on the GPU. Launches of a graph of many frames, timed by events, so that gaps between launches do not count;
/// and launched one by one from the host.
struct ScanOnGpu {
  std::string interpolation;
  Spread kernel;  ///< milliseconds a frame, replayed graph
  /// The same over tables and images that together do not fit into the second-level cache: what a frame sees behind a beamformer
  /// that has filled the cache.
  Spread cold;
  double launched = 0.0;  ///< milliseconds a frame, each launched by the host
  Spread limit;           ///< milliseconds: table, input and output moved once by a copy of as many bytes, replayed alike
  Spread limit_large;     ///< the same at the bandwidth of a copy too large for caches
  Spread ratio;           ///< limit to kernel, of measurements of the same round
  Spread cold_ratio;      ///< limit_large to cold
  Turns turns;            ///< "kernel", "limit", "cold" and "limit_large", in the order of measurement
  std::size_t bytes = 0;  ///< of table, input and output
};

struct ScanSize {
  std::size_t rows = 0;
  std::size_t columns = 0;
  double inside = 0.0;                ///< part of the pixels within the sector
  std::vector<ScanFigure> reference;  ///< plain loop, cubic: one thread, then all; it works the geometry out for every image
  std::vector<ScanFigure> tabled;     ///< plain loop, cubic, that reads the geometry from tables, as ours does
  std::vector<ScanFigure> cpu;        ///< stage, cubic: one thread, then all, best instruction set first; then the other methods
  /// What no table-driven conversion can beat: memcpy of as many bytes as table, input and output are; one thread, then all.
  std::vector<ScanFigure> limit;
  std::vector<ScanOnGpu> gpu;  ///< by interpolation; empty without a GPU
  /// Largest difference from the plain loop's image, in levels, and the part of the pixels that differ (by rounding).
  int largest_difference = 0;
  double differing = 0.0;
  double paper_cpu = 0.0;  ///< milliseconds in the paper's table 2: Athlon II X2 240
  double paper_gpu = 0.0;  ///< GeForce GTX 560 Ti
};

struct ScanReport {
  std::string reference_flags;
  double gpu_copy_bandwidth = 0.0;  ///< bytes a second of large copies, read and written both counted; 0 without a GPU
  std::string why_no_gpu;           ///< a line, where `gpu` is empty
  std::vector<ScanSize> sizes;
};

/// Calls `progress` with the name of each measurement.
[[nodiscard]] ScanReport measure_scan(const ScanCase& test, const std::function<void(const std::string&)>& progress);

}  // namespace echoform::benchmarks
