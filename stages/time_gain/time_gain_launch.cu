#include "stages/element_map.cuh"
#include "stages/time_gain/time_gain_launch.hpp"

namespace echoform {
namespace {

struct Amplify {
  TimeGainRows at;
  __device__ void operator()(std::size_t row, std::size_t n) const {
    at.out[row * at.out_stride + n] = __ldg(at.gain + n) * at.in[row * at.in_stride + n];
  }
};

}  // namespace

void launch_time_gain(const TimeGainRows& work, std::size_t rows, std::size_t samples, cudaStream_t stream) noexcept {
  gpu::launch_map(rows, samples, Amplify{work}, stream);
  ECHOFORM_CUDA_LAUNCHED("time gain");
}

}  // namespace echoform
