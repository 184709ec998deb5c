// The Hilbert transform of rows on the CPU, by FFTW.
//
// A row of even length is transformed as half as many complex numbers (paired_spectrum.hpp): FFTW's complex transforms are twice
// as fast as its real ones. Plans are estimated, never measured: what a measurement finds best differs from run to run, and with
// it the last bits of every image; and planning takes milliseconds for every length, where measuring takes up to half a minute.
// So the same samples become the same bits in every process on one machine, with any number of threads.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "stages/analytic_signal/spectrum_kernels.hpp"

struct fftwf_plan_s;

namespace echoform {

class RowTransform {
 public:
  /// What one thread works in. Transforms always run between these arrays, never on the caller's rows: FFTW's arrays share the
  /// alignment for which the plans were made, so every row of every block goes through the same code.
  class Workspace;

  /// For rows of `samples`, 2 <= samples <= 2^28, on at most `members` threads. Throws RuntimeFault if there is no memory.
  RowTransform(std::size_t samples, std::size_t members, SimdLevel level);
  ~RowTransform();
  RowTransform(RowTransform&&) noexcept;
  RowTransform& operator=(RowTransform&&) noexcept;

  /// Of the transform, in real numbers: `samples` where that is even and has no prime factor above 13; else longer.
  [[nodiscard]] std::size_t length() const noexcept { return length_; }

  /// H{row} into `quadrature`, each of `samples`. Never allocates.
  void transform(const float* row, float* quadrature, std::size_t member) const noexcept;

  /// Of all that it holds, so far as it is known: FFTW does not say how large its tables of roots are; at most as two rows of
  /// complex numbers are assumed.
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Free {
    void operator()(fftwf_plan_s* plan) const noexcept;
  };
  using Plan = std::unique_ptr<fftwf_plan_s, Free>;

  [[nodiscard]] bool plan(std::size_t length, bool paired);
  void make_factors();

  std::size_t samples_;
  std::size_t length_ = 0;
  bool paired_ = true;
  PairKernel multiply_pairs_;
  std::vector<float> roots_;  // and gains, of paired bins; or none
  std::vector<float> gains_;  // or the factors of all bins
  std::vector<Workspace> workspaces_;
  Plan forward_;
  Plan backward_;
};

/// An upper estimate of what RowTransform takes, at its set-up too, before anything is planned. Bytes.
[[nodiscard]] double row_transform_bytes(std::size_t samples, std::size_t members);

}  // namespace echoform
