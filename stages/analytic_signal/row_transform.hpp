// The Hilbert transform of rows on the CPU, and filters of them, by FFTW.
//
// A row of even length is transformed as half as many complex numbers (paired_spectrum.hpp): FFTW's complex transforms are twice
// as fast as its real ones. Plans are estimated, never measured: what a measurement finds best differs from run to run, and with
// it the last bits of every image; and planning takes milliseconds for every length, where measuring takes up to half a minute.
// So the same samples become the same bits in every process on one machine, with any number of threads.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "stages/analytic_signal/row_response.hpp"
#include "stages/analytic_signal/spectrum_kernels.hpp"

struct fftwf_plan_s;

namespace echoform {

class RowTransform {
 public:
  /// The memory of one thread. Transforms always run between these arrays, never on the caller's rows: FFTW's arrays share
  /// the alignment for which the plans were made, so every row of every block goes through the same code.
  class Workspace;

  /// Prepares for rows of `samples`, 2 <= samples <= 2^28, on at most `members` threads. Without responses it is the Hilbert
  /// transform. Throws RuntimeFault if there is no memory.
  RowTransform(std::size_t samples, std::size_t members, SimdLevel level, std::span<const RowResponse> responses = {});
  ~RowTransform();
  RowTransform(RowTransform&&) noexcept;
  RowTransform& operator=(RowTransform&&) noexcept;

  /// Length of the transform in real numbers: `samples` where that is even and has no prime factor above 13, else longer.
  [[nodiscard]] std::size_t length() const noexcept { return length_; }

  /// Writes H{row} to `quadrature`; both have `samples` numbers. Valid only without responses. Never allocates.
  void transform(const float* row, float* quadrature, std::size_t member) const noexcept;
  /// Applies the responses to the row, in their order, and writes one of `results` for each. There are at most as many
  /// results as responses. It takes one forward transform, and one inverse transform for each result. Never allocates.
  void respond(const float* row, std::initializer_list<float*> results, std::size_t member) const noexcept;

  /// Bytes of all that this object holds. FFTW does not report the size of its tables of roots: the size of two rows of
  /// complex numbers is assumed, which is an upper bound.
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Free {
    void operator()(fftwf_plan_s* plan) const noexcept;
  };
  using Plan = std::unique_ptr<fftwf_plan_s, Free>;

  [[nodiscard]] bool plan(std::size_t length, bool paired);
  void make_factors();
  void add_factors(const RowResponse& response);
  void forward(const float* row, const Workspace& work) const noexcept;
  void backward(float* spectrum, const Workspace& work, float* result) const noexcept;

  struct Factors;

  std::size_t samples_;
  std::size_t length_ = 0;
  bool paired_ = true;
  PairKernel multiply_pairs_;
  ResponseKernel filter_pairs_;
  std::vector<float> roots_;        // of paired bins; empty otherwise
  std::vector<float> gains_;        // of the Hilbert transform only: gains of paired bins, or the factors of all bins
  std::vector<Factors> responses_;  // of responses
  std::vector<Workspace> workspaces_;
  Plan forward_;
  Plan backward_;
};

/// An upper estimate, in bytes, of the memory that RowTransform takes with `responses` responses, its set-up included.
/// Nothing needs to be planned for it.
[[nodiscard]] double row_transform_bytes(std::size_t samples, std::size_t members, std::size_t responses = 0);

}  // namespace echoform
