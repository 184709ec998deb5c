#include "stages/compression/compression_kernels_body.hpp"

namespace echoform {

CompressionKernels compression_kernels_avx2() {
  return {&peak_of, &peak_of_magnitudes, &compress_row, &masked_row, &number_row};
}

}  // namespace echoform
