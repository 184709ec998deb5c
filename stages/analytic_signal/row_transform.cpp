#include "stages/analytic_signal/row_transform.hpp"

#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include "base/errors.hpp"
#include "base/planning.hpp"
#include "cpu/fftw_lock.hpp"
#include "stages/analytic_signal/analytic_signal_math.hpp"
#include "stages/analytic_signal/paired_spectrum.hpp"

namespace echoform {
namespace {

/// Number of lengths that are tried. So far, the first one has always succeeded.
constexpr std::size_t attempts = 8;

struct FreeFftw {
  void operator()(void* memory) const noexcept { fftwf_free(memory); }
};
using Reals = std::unique_ptr<float[], FreeFftw>;

Reals make_reals(std::size_t count) {
  Reals array(fftwf_alloc_real(count));
  if (!array) throw RuntimeFault(fmt::format("no memory: {:.1f} MB wanted for transforms", 4e-6 * static_cast<double>(count)));
  std::fill_n(array.get(), count, 0.0F);
  return array;
}

/// Only even lengths, best first: `samples` if that is even and has no prime factor above 13; then lengths of at least 2 *
/// samples - 1 that are 1, 5 or 15 times a power of two from 16 on. FFTW's estimated plans for these are the good ones: those for
/// 13,824 take half as long again as those for 15,360.
std::size_t even_transform_length(std::size_t samples, std::size_t attempt) {
  if (samples % 2 == 0 && hilbert_transform_length(samples) == samples && attempt-- == 0) return samples;
  std::size_t length = 16;
  const auto next = [&] {  // 16, 20, 30, 32, 40 ...
    const std::size_t power = std::bit_floor(length);
    return length == power ? power / 4 * 5 : length < power / 8 * 15 ? power / 8 * 15 : 2 * power;
  };
  while (length < 2 * samples - 1 || attempt-- != 0) length = next();
  return length;
}

/// Whether there is a plan, and none of its parts takes a buffer from the heap each time that it runs. FFTW's buffered parts and
/// those for large primes do; the plan's text names them.
bool needs_no_heap(fftwf_plan plan) {
  if (plan == nullptr) return false;
  const std::unique_ptr<char, void (*)(void*)> text(fftwf_sprint_plan(plan), std::free);
  const std::string_view parts = text ? text.get() : "";
  for (const std::string_view part : {"buf", "rader", "bluestein"}) {
    if (parts.find(part) != std::string_view::npos) return false;
  }
  return text != nullptr;
}

/// Number of floats of a spectrum: length / 2 complex numbers, and one more where it is the spectrum of a real row.
std::size_t spectrum_floats(std::size_t length) {
  return length + 2;
}

}  // namespace

class RowTransform::Workspace {
 public:
  Workspace(std::size_t length, bool with_product)
      : samples(make_reals(length)), spectrum(make_reals(spectrum_floats(length))), result(make_reals(length)) {
    if (with_product) product = make_reals(spectrum_floats(length));
  }

  Reals samples;
  Reals spectrum;
  Reals product;  // the spectrum times factors, where more than one product is made
  Reals result;
};

void RowTransform::Free::operator()(fftwf_plan_s* plan) const noexcept {
  const std::lock_guard lock(fftw_lock());
  fftwf_destroy_plan(plan);
}

/// Factors of one response: for pairs of bins, or for all bins.
struct RowTransform::Factors {
  std::vector<float> sums;  // or the factors of all bins
  std::vector<float> differences;
};

RowTransform::RowTransform(std::size_t samples, std::size_t members, SimdLevel level, std::span<const RowResponse> responses)
    : samples_(samples), multiply_pairs_(pair_kernel(level)), filter_pairs_(response_kernel(level)) {
  for (std::size_t attempt = 0; forward_ == nullptr; ++attempt) {
    if (attempt == attempts) throw RuntimeFault(fmt::format("FFTW has no plan without buffers for rows of {} samples", samples));
    keep_planning();
    const std::size_t length = even_transform_length(samples, attempt);
    // Real transforms serve where the complex ones are so long that FFTW has only plans that allocate while they run: above 2^18.
    static_cast<void>(plan(length, true) || plan(length, false));
  }
  if (responses.empty()) {
    make_factors();
  } else {
    for (const RowResponse& response : responses) add_factors(response);
  }
  while (workspaces_.size() < std::max<std::size_t>(1, members)) workspaces_.emplace_back(length_, !responses.empty());
}

RowTransform::~RowTransform() = default;
RowTransform::RowTransform(RowTransform&&) noexcept = default;
RowTransform& RowTransform::operator=(RowTransform&&) noexcept = default;

bool RowTransform::plan(std::size_t length, bool paired) {
  // Estimated plans do not touch the arrays. It does not matter that these arrays do not belong to a workspace, just as it does
  // not matter which workspace a plan runs on.
  const Workspace work(length, false);
  auto* const spectrum = reinterpret_cast<fftwf_complex*>(work.spectrum.get());
  constexpr unsigned flags = FFTW_ESTIMATE | FFTW_NO_BUFFERING;
  constexpr unsigned there = flags | FFTW_PRESERVE_INPUT;
  constexpr unsigned back = flags | FFTW_DESTROY_INPUT;
  Plan forward;
  Plan backward;
  {
    const std::lock_guard lock(fftw_lock());
    // FFTW would build upon earlier plans for other lengths, and they would pile up.
    fftwf_forget_wisdom();
    if (paired) {
      const int n = static_cast<int>(length / 2);
      auto* const in = reinterpret_cast<fftwf_complex*>(work.samples.get());
      auto* const out = reinterpret_cast<fftwf_complex*>(work.result.get());
      forward.reset(fftwf_plan_dft_1d(n, in, spectrum, FFTW_FORWARD, there));
      backward.reset(fftwf_plan_dft_1d(n, spectrum, out, FFTW_BACKWARD, back));
    } else {
      const int n = static_cast<int>(length);
      forward.reset(fftwf_plan_dft_r2c_1d(n, work.samples.get(), spectrum, there));
      backward.reset(fftwf_plan_dft_c2r_1d(n, spectrum, work.result.get(), back));
    }
    fftwf_forget_wisdom();
  }
  if (!needs_no_heap(forward.get()) || !needs_no_heap(backward.get())) return false;
  length_ = length;
  paired_ = paired;
  forward_ = std::move(forward);
  backward_ = std::move(backward);
  return true;
}

void RowTransform::make_factors() {
  gains_ = hilbert_spectrum(samples_, length_);
  if (!paired_) return;
  const std::vector<hilbert::PairFactors> pairs = hilbert::pair_factors(gains_, length_);
  gains_.clear();
  gains_.reserve(2 * pairs.size());
  roots_.reserve(2 * pairs.size());
  for (const hilbert::PairFactors& pair : pairs) {
    roots_.insert(roots_.end(), {pair.root.re, pair.root.im});
    gains_.insert(gains_.end(), {pair.sum, pair.difference});
  }
}

void RowTransform::add_factors(const RowResponse& response) {
  const std::vector<std::complex<float>> spectrum = response_spectrum(response, samples_, length_);
  Factors& factors = responses_.emplace_back();
  if (!paired_) {
    factors.sums.reserve(2 * spectrum.size());
    for (const std::complex<float> factor : spectrum) factors.sums.insert(factors.sums.end(), {factor.real(), factor.imag()});
    return;
  }
  const std::vector<hilbert::ResponsePair> pairs = hilbert::response_pairs(spectrum, length_);
  const bool first = roots_.empty();
  if (first) roots_.reserve(2 * pairs.size());
  factors.sums.reserve(2 * pairs.size());
  factors.differences.reserve(2 * pairs.size());
  for (const hilbert::ResponsePair& pair : pairs) {
    if (first) roots_.insert(roots_.end(), {pair.root.re, pair.root.im});
    factors.sums.insert(factors.sums.end(), {pair.sum.re, pair.sum.im});
    factors.differences.insert(factors.differences.end(), {pair.difference.re, pair.difference.im});
  }
}

void RowTransform::forward(const float* row, const Workspace& work) const noexcept {
  auto* const bins = reinterpret_cast<fftwf_complex*>(work.spectrum.get());
  std::memcpy(work.samples.get(), row, samples_ * sizeof(float));  // the zeros beyond it are never overwritten by a transform
  if (paired_) {
    fftwf_execute_dft(forward_.get(), reinterpret_cast<fftwf_complex*>(work.samples.get()), bins);
  } else {
    fftwf_execute_dft_r2c(forward_.get(), work.samples.get(), bins);
  }
}

void RowTransform::backward(float* spectrum, const Workspace& work, float* result) const noexcept {
  auto* const bins = reinterpret_cast<fftwf_complex*>(spectrum);
  if (paired_) {
    fftwf_execute_dft(backward_.get(), bins, reinterpret_cast<fftwf_complex*>(work.result.get()));
  } else {
    fftwf_execute_dft_c2r(backward_.get(), bins, work.result.get());
  }
  std::memcpy(result, work.result.get(), samples_ * sizeof(float));
}

void RowTransform::transform(const float* row, float* quadrature, std::size_t member) const noexcept {
  const Workspace& work = workspaces_[member];
  forward(row, work);
  if (paired_) {
    multiply_pairs_(work.spectrum.get(), roots_.data(), gains_.data(), length_ / 2);
  } else {
    multiply_spectrum(work.spectrum.get(), gains_.data(), gains_.size());
  }
  backward(work.spectrum.get(), work, quadrature);
}

void RowTransform::respond(const float* row, std::initializer_list<float*> results, std::size_t member) const noexcept {
  const Workspace& work = workspaces_[member];
  forward(row, work);
  const Factors* factors = responses_.data();
  for (float* const result : results) {
    if (paired_) {
      filter_pairs_(work.spectrum.get(), work.product.get(), {roots_.data(), factors->sums.data(), factors->differences.data()},
                    length_ / 2);
    } else {
      filter_spectrum(work.spectrum.get(), work.product.get(), factors->sums.data(), factors->sums.size() / 2);
    }
    backward(work.product.get(), work, result);
    ++factors;
  }
}

std::size_t RowTransform::bytes() const noexcept {
  const std::size_t spectra = responses_.empty() ? 1 : 2;
  const std::size_t of_member = (2 * length_ + spectra * spectrum_floats(length_)) * sizeof(float);
  const std::size_t roots_of_fftw = 2 * length_ * sizeof(float) * 2;
  std::size_t factors = roots_.capacity() + gains_.capacity();
  for (const Factors& of_response : responses_) factors += of_response.sums.capacity() + of_response.differences.capacity();
  return workspaces_.size() * of_member + factors * sizeof(float) + roots_of_fftw;
}

double row_transform_bytes(std::size_t samples, std::size_t members, std::size_t responses) {
  const auto length = static_cast<double>(even_transform_length(samples, 0));
  double of_responses = 0.0;
  if (responses != 0) {
    // Each thread needs a second spectrum, and there are factors. While the factors are made, in double precision, the responses
    // by bin and in time need memory, and so does FFTW, whose transforms of lengths with large prime factors are several times as
    // long.
    of_responses =
        (4.0 * static_cast<double>(std::max<std::size_t>(1, members)) + 8.0 * static_cast<double>(responses) + 96.0) * length +
        32768.0;
  }
  // Each thread needs the row, its spectrum and its transform. Factors and FFTW's roots come on top. While the factors are made,
  // the spectrum of the kernel in double precision also needs memory, which is then given back.
  return (12.0 * static_cast<double>(std::max<std::size_t>(1, members)) + 4.0 + 16.0 + 40.0) * length + 32768.0 + of_responses;
}

}  // namespace echoform
