#include "stages/autocorrelation/autocorrelation_kernels_body.hpp"

namespace echoform {

void autocorrelate_avx2(const AutocorrelationTask& task) {
  autocorrelate_line(task);
}

}  // namespace echoform
