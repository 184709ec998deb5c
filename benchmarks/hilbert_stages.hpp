// What the CPU's and the CUDA side of the Hilbert benchmark share.
#pragma once

#include <cstdint>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "benchmarks/hilbert.hpp"
#include "pipeline/block.hpp"
#include "stages/filter/filter_options.hpp"

namespace echoform::benchmarks {

/// A full matrix.
[[nodiscard]] Acquisition hilbert_acquisition(const HilbertCase& test);
/// A band, which costs what every filter costs.
[[nodiscard]] FilterOptions hilbert_filter();
/// The layout of the random samples.
[[nodiscard]] BlockSpec hilbert_raw_spec(const HilbertCase& test);
[[nodiscard]] std::vector<std::int16_t> hilbert_raw_samples(const HilbertCase& test);

#ifdef ECHOFORM_WITH_CUDA
[[nodiscard]] HilbertReport measure_hilbert_cuda(const HilbertCase& test,
                                                 const std::function<void(const std::string&)>& progress);
#endif

}  // namespace echoform::benchmarks
