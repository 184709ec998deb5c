#include "stages/element_map.cuh"
#include "stages/line_compound/line_compound_launch.hpp"

namespace echoform {
namespace {

/// Each thread handles one range of a line, with all sets.
struct Compound {
  LineCompoundWork at;
  __device__ void operator()(std::size_t line, std::size_t k) const {
    float sum = __ldg(at.in + (at.first_row + line) * at.in_stride + k);
    if (__ldg(at.all) != 0.0F) {
      float covering = 1.0F;
      for (std::size_t s = 0; s < at.count; ++s) {
        if (s == at.image) continue;
        if (add_covering(at.in, at.in_stride, at.sets[s], at.places[s * at.ranges + k], line, sum)) covering += 1.0F;
      }
      sum /= covering;
    }
    at.out[line * at.ranges + k] = sum;
  }
};

}  // namespace

void launch_line_compound(const LineCompoundWork& work, std::size_t lines, cudaStream_t stream) noexcept {
  gpu::launch_map(lines, work.ranges, Compound{work}, stream);
  ECHOFORM_CUDA_LAUNCHED("line compound");
}

}  // namespace echoform
