#include "tests/gpu/faulty_kernels.hpp"

namespace echoform::test {
namespace {

__global__ void out_of_bounds(int* place) {
  place[threadIdx.x] = 1;
}

__global__ void trap() {
  __trap();
}

__device__ unsigned long long nanoseconds_now() {
  unsigned long long time = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void spin(unsigned long long nanoseconds) {
  const unsigned long long begin = nanoseconds_now();
  while (nanoseconds_now() - begin < nanoseconds) {
  }
}

}  // namespace

void launch_out_of_bounds(cudaStream_t stream) {
  out_of_bounds<<<1, 32, 0, stream>>>(reinterpret_cast<int*>(0x100));
}
void launch_trap(cudaStream_t stream) {
  trap<<<1, 32, 0, stream>>>();
}
void launch_spin(cudaStream_t stream, unsigned long long nanoseconds) {
  spin<<<1, 1, 0, stream>>>(nanoseconds);
}

}  // namespace echoform::test
