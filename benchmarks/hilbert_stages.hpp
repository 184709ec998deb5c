// What the CPU's and the CUDA side of the Hilbert benchmark share.
#pragma once

#include <cstdint>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "benchmarks/hilbert.hpp"
#include "pipeline/block.hpp"

namespace echoform::benchmarks {

/// A full matrix.
[[nodiscard]] Acquisition hilbert_acquisition(const HilbertCase& test);
/// Of random samples.
[[nodiscard]] BlockSpec hilbert_raw_spec(const HilbertCase& test);
[[nodiscard]] std::vector<std::int16_t> hilbert_raw_samples(const HilbertCase& test);

/// Bytes that a stage must read and write at least: the samples of its input, and all of its output.
[[nodiscard]] double hilbert_bytes(const BlockSpec& input, const BlockSpec& output);

#ifdef ECHOFORM_WITH_CUDA
[[nodiscard]] HilbertReport measure_hilbert_cuda(const HilbertCase& test,
                                                 const std::function<void(const std::string&)>& progress);
#endif

}  // namespace echoform::benchmarks
