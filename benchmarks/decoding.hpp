// Times of decoding: rows of a code become firings of single elements, by each route and in each form of the output, against
// the copy bandwidth that the same run measured.
#pragma once

#include <cstddef>
#include <vector>

#include "benchmarks/stage_turns.hpp"
#include "pipeline/backend.hpp"

namespace echoform::benchmarks {

/// Random float32 samples of as many events as elements.
struct DecodingCase {
  std::size_t elements = 128;
  std::size_t samples = 4096;
  std::size_t frames = 20;  ///< timed, after two that are not
  BackendKind backend = BackendKind::cpu;
  std::size_t threads = 0;  ///< of the CPU; 0: all that this process may use
};

struct DecodingReport {
  double copy_bytes_per_second = 0.0;  ///< of a copy as large as the frame, over all turns
  std::vector<StageTime> stages;       ///< a Hadamard code only where there is one of as many elements
};

/// RuntimeFault if the backend is CUDA and there is no GPU. InputError for more elements than a code may have.
[[nodiscard]] DecodingReport measure_decoding(const DecodingCase& test, const Progress& progress);

}  // namespace echoform::benchmarks
