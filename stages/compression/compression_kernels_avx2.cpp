#include "stages/compression/compression_kernels_body.hpp"

namespace echoform {

CompressionKernels compression_kernels_avx2() {
  return {&peak_of, &compress_row};
}

}  // namespace echoform
