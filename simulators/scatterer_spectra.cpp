// Spectra of the signals that receivers get from scatterers: from spikes with the pulse, delayed and summed, and back to samples.
#include <fftw3.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <numbers>
#include <span>

#include "simulators/scatterer_synthesis.hpp"
#include "simulators/scatterer_workspace.hpp"

namespace echoform {

void ScattererSynthesis::to_spectrum(Workspace& work, std::span<float> re, std::span<float> im) const {
  fftwf_execute_dft_r2c(forward_, work.grid.get(), as_complex(work.fine_spectrum.get()));
  const float* const from = work.fine_spectrum.get() + 2 * first_bin_;
  for (std::size_t k = 0; k < gains_.size(); ++k) {
    re[k] = gains_[k] * from[2 * k];
    im[k] = gains_[k] * from[2 * k + 1];
  }
}

void ScattererSynthesis::add_delayed(std::span<const float> re, std::span<const float> im, double delay, double weight,
                                     Workspace& work) const {
  // The grid begins before_ samples ahead of the signal.
  const double turn = -2.0 * std::numbers::pi * (delay * rate_ - before_) / static_cast<double>(length_);
  std::array<float, scatterer_block> table_re;
  std::array<float, scatterer_block> table_im;
  const std::complex<double> step = std::polar(1.0, turn);
  std::complex<double> phase = 1.0;
  for (std::size_t l = 0; l < scatterer_block; ++l, phase *= step) {
    table_re[l] = static_cast<float>(phase.real());
    table_im[l] = static_cast<float>(phase.imag());
  }
  const std::complex<double> block_step = phase;
  phase = std::polar(weight, turn * static_cast<double>(first_bin_));
  for (std::size_t first = 0; first < bins_; first += scatterer_block, phase *= block_step) {
    const auto c = static_cast<float>(phase.real());
    const auto s = static_cast<float>(phase.imag());
    const float* const x = re.data() + first;
    const float* const y = im.data() + first;
    float* const sum_x = work.sum_re.data() + first;
    float* const sum_y = work.sum_im.data() + first;
    for (std::size_t l = 0; l < scatterer_block; ++l) {
      const float u = c * table_re[l] - s * table_im[l];
      const float v = c * table_im[l] + s * table_re[l];
      sum_x[l] += x[l] * u - y[l] * v;
      sum_y[l] += x[l] * v + y[l] * u;
    }
  }
}

void ScattererSynthesis::add_signal(Workspace& work, std::span<float> row) const {
  std::fill_n(work.spectrum.get(), length_ + 2, 0.0F);
  const std::size_t half = length_ / 2;
  const auto add_to = [&](std::size_t bin, float re, float im) {
    if (bin > half) return;
    work.spectrum[2 * bin] += re;
    work.spectrum[2 * bin + 1] += im;
  };
  // Frequencies above half the sampling rate are folded, as in sampling.
  for (std::size_t k = 0; k < gains_.size(); ++k) {
    const std::size_t bin = (first_bin_ + k) % length_;
    add_to(bin, work.sum_re[k], work.sum_im[k]);
    if (first_bin_ + k > 0) add_to((length_ - bin) % length_, work.sum_re[k], -work.sum_im[k]);
  }
  fftwf_execute_dft_c2r(backward_, as_complex(work.spectrum.get()), work.signal.get());
  for (std::size_t n = 0; n < samples_; ++n) row[n] += work.signal[n];
}

}  // namespace echoform
