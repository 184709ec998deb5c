#include "stages/element_map.cuh"
#include "stages/line_gain/line_gain_launch.hpp"

namespace echoform {
namespace {

struct AmplifyLine {
  LineGainRows at;
  __device__ void operator()(std::size_t row, std::size_t n) const {
    at.out[row * at.ranges + n] = __ldg(at.gain + row) * __ldg(at.in + row * at.in_stride + n);
  }
};

}  // namespace

void launch_line_gain(const LineGainRows& work, std::size_t lines, cudaStream_t stream) noexcept {
  gpu::launch_map(lines, work.ranges, AmplifyLine{work}, stream);
  ECHOFORM_CUDA_LAUNCHED("line gain");
}

}  // namespace echoform
