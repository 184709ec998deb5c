// Arithmetic that host and device share is written once, in the stages' NAME_math.hpp, and marked with this.
#pragma once

#if defined(__CUDACC__)
#define ECHOFORM_HOST_DEVICE __host__ __device__ __forceinline__
#else
// Always inlined: these functions are compiled once for each instruction set, and a copy that was left out of line could
// be shared with code that runs where that set is missing.
#define ECHOFORM_HOST_DEVICE [[gnu::always_inline]] inline
#endif
