// The code paths on which the beamformer may run: an instruction set of the CPU, or a data path on CUDA.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "stages/beamform/tile_launch.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform {

struct Way {
  BackendKind backend = BackendKind::cpu;
  SimdLevel level = SimdLevel::portable;
  bool half = false;                         ///< CUDA
  std::optional<beamform::TileKind> kind{};  ///< CUDA: forced
  [[nodiscard]] std::string name() const {
    if (backend == BackendKind::cpu) return std::string(to_string(level));
    return half ? "cudaHalf" : "cudaFloat";
  }
};

inline std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const auto level : {SimdLevel::portable, SimdLevel::avx2, SimdLevel::avx512}) ways.push_back({BackendKind::cpu, level});
  for (const bool half : {false, true}) ways.push_back({BackendKind::cuda, SimdLevel::portable, half});
  return ways;
}

/// Skips a test that this machine cannot run. Use it in SetUp().
#define ECHOFORM_REQUIRE_WAY(way)                                                                       \
  do {                                                                                                  \
    if ((way).backend == BackendKind::cuda) ECHOFORM_REQUIRE_GPU();                                     \
    if ((way).level > simd_level()) GTEST_SKIP() << "this processor has no " << to_string((way).level); \
  } while (false)

}  // namespace echoform
