// What the parts of scatterer_synthesis.hpp share: memory of FFTW's, and what one thread works in.
#pragma once

#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/errors.hpp"
#include "simulators/scatterer_synthesis.hpp"

namespace echoform {

/// Bins whose phases follow from one by a table.
inline constexpr std::size_t scatterer_block = 32;

struct FreeFftw {
  void operator()(void* memory) const noexcept { fftwf_free(memory); }
};
using Reals = std::unique_ptr<float[], FreeFftw>;

inline Reals make_reals(std::size_t count) {
  Reals array(fftwf_alloc_real(count));
  if (!array)
    throw RuntimeFault(fmt::format("no memory: {:.1f} MB wanted for simulated echoes", 4e-6 * static_cast<double>(count)));
  std::fill_n(array.get(), count, 0.0F);
  return array;
}

inline fftwf_complex* as_complex(float* values) {
  return reinterpret_cast<fftwf_complex*>(values);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast): FFTW's layout
}

/// What one thread works in.
class ScattererSynthesis::Workspace {
 public:
  explicit Workspace(const ScattererSynthesis& of)
      : grid(make_reals(of.length_ * of.finer_)),
        fine_spectrum(make_reals(of.length_ * of.finer_ + 2)),
        spectrum(make_reals(of.length_ + 2)),
        signal(make_reals(of.length_)),
        sum_re(of.bins_),
        sum_im(of.bins_) {}

  Reals grid;
  Reals fine_spectrum;
  Reals spectrum;
  Reals signal;
  std::vector<float> sum_re;  // of an event
  std::vector<float> sum_im;
};

}  // namespace echoform
