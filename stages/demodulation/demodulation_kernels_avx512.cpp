#include "stages/demodulation/demodulation_kernels_body.hpp"

namespace echoform {

void demodulate_row_avx512(const DemodulationTask& task) {
  demodulate_row(task);
}

}  // namespace echoform
