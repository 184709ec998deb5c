#include "stages/element_map.cuh"
#include "stages/unmixing/unmixing_launch.hpp"

namespace echoform {
namespace {

/// Each thread handles one pixel, with all components.
struct Unmix {
  UnmixingWork at;
  __device__ void operator()(std::size_t row, std::size_t k) const {
    float values[most_unmixed_wavelengths];
    float found[most_unmixed_components];
    for (std::size_t n = 0; n < at.tables.wavelengths; ++n) values[n] = __ldg(at.images[n] + row * at.strides[n] + k);
    if (__ldg(at.non_negative) != 0.0F) {
      unmix_non_negative(at.tables, values, found);
    } else {
      unmix_set(at.tables, (std::size_t{1} << at.tables.components) - 1, values, found);
    }
    for (std::size_t m = 0; m < at.tables.components; ++m) at.out[(m * at.rows + row) * at.columns + k] = found[m];
  }
};

}  // namespace

void launch_unmixing(const UnmixingWork& work, cudaStream_t stream) noexcept {
  gpu::launch_map(work.rows, work.columns, Unmix{work}, stream);
  ECHOFORM_CUDA_LAUNCHED("unmixing");
}

}  // namespace echoform
