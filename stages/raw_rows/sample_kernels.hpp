// Conversion of raw A-scans to float32, one row at a time: the loops of pairing.
#pragma once

#include <cstddef>

#include "acquisition/acquisition.hpp"
#include "cpu/cpu_backend.hpp"
#include "pipeline/sample_quality.hpp"

namespace echoform {

/// out[n] = weight * first[n], or weight * (first[n] + second[n]) where `second` is given. Integers are added as integers.
/// Adds counts of clipped and invalid samples to `quality`. Writes `samples` numbers and reads no byte beyond the rows.
using RowKernel = void (*)(const void* first, const void* second, float* out, std::size_t samples, float weight,
                           SampleQuality& quality);

/// How rows are written: through the caches, or past them (for output larger than the caches). Values are the same.
enum class RowStore : unsigned char { cached, streaming };

/// The loop for an encoding. All levels give the same bits.
[[nodiscard]] RowKernel row_kernel(SampleEncoding encoding, RowStore store, SimdLevel level);

// Each is in a translation unit that is built for its instruction set.
[[nodiscard]] RowKernel row_kernel_portable(SampleEncoding encoding, RowStore store);
[[nodiscard]] RowKernel row_kernel_avx2(SampleEncoding encoding, RowStore store);
[[nodiscard]] RowKernel row_kernel_avx512(SampleEncoding encoding, RowStore store);

}  // namespace echoform
