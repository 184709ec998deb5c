// Fourier transforms of real rows by FFTW, between arrays of its own kind.
#pragma once

#include <cstddef>
#include <memory>

struct fftwf_plan_s;

namespace echoform {

/// Memory for transforms.
struct FreeTransformMemory {
  void operator()(void* memory) const noexcept;
};
using TransformReals = std::unique_ptr<float[], FreeTransformMemory>;
/// Zeros. Rows within it that are a multiple of 16 floats apart are fit for transforms too. Throws RuntimeFault if there is no
/// memory.
[[nodiscard]] TransformReals transform_reals(std::size_t count);

/// An even, FFT-friendly length, at least `least` and 32, without prime factors above 5: FFTW is fast with those.
[[nodiscard]] std::size_t quick_transform_length(std::size_t least);

/// Plans are estimated, not measured, so that the same numbers become the same bits in every process.
class RealTransform {
 public:
  /// Throws RuntimeFault if there is none.
  explicit RealTransform(std::size_t length);
  ~RealTransform();
  RealTransform(const RealTransform&) = delete;
  RealTransform& operator=(const RealTransform&) = delete;

  /// `length` real numbers to length / 2 + 1 complex ones: SUM x[n] exp(-j 2 pi l n / length). Any number of threads at a time.
  void forward(float* values, float* spectrum) const noexcept;
  /// The unscaled inverse. Destroys `spectrum`.
  void backward(float* spectrum, float* values) const noexcept;

 private:
  fftwf_plan_s* forward_ = nullptr;
  fftwf_plan_s* backward_ = nullptr;
};

}  // namespace echoform
