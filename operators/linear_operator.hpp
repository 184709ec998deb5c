// A linear map from images to data, and its adjoint: what reconstructions by optimisation are made of.
#pragma once

#include <cstddef>
#include <span>

namespace echoform {

/// adjoint() of an operator that works on a GPU, in two steps. Between them others may add to the image on the GPU.
class AdjointOnDevice {
 public:
  virtual ~AdjointOnDevice() = default;

  /// The image is in the device's memory when it returns.
  virtual void begin_adjoint(std::span<const float> data) = 0;
  /// The image in the device's memory: image_size() values.
  [[nodiscard]] virtual float* device_image() noexcept = 0;
  /// Copies the image from the device's memory to the host's.
  virtual void finish_adjoint(std::span<float> image) = 0;
};

class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  /// Values of an image, C order [z, y, x].
  [[nodiscard]] virtual std::size_t image_size() const noexcept = 0;
  /// Values of data, C order [row, sample].
  [[nodiscard]] virtual std::size_t data_size() const noexcept = 0;

  /// Computes data = H image, and overwrites `data`. It allocates no memory that grows with sizes: such memory is allocated
  /// when the operator is made.
  virtual void apply(std::span<const float> image, std::span<float> data) = 0;
  /// image = H^T data, with the same weights: <H x, y> = <x, H^T y> to rounding. Overwrites `image`.
  virtual void adjoint(std::span<const float> data, std::span<float> image) = 0;

  /// The adjoint in two steps; null if adjoint() does not work on a GPU. It lives as long as this operator.
  [[nodiscard]] virtual AdjointOnDevice* on_device() noexcept { return nullptr; }

  /// Bytes held.
  [[nodiscard]] virtual std::size_t bytes() const noexcept { return 0; }
};

/// |<H x, y> - <x, H^T y>| / (|H x| |y|) in double precision, of images and data that are drawn from `seed`, uniform in -1 .. 1.
[[nodiscard]] double dot_test(LinearOperator& linear, unsigned seed);

}  // namespace echoform
