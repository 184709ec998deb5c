// What quadratic penalties add to a sum of squared residuals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "jobs/differences.hpp"

namespace echoform {

enum class PenaltyKind : std::uint8_t {
  smoothness,  ///< differences of neighbours along x, y and z (Wang and others 2013)
  damping,     ///< the values themselves (Tikhonov)
};

/// weight * |R volume|^2, where R is Differences or the identity.
class Penalty {
 public:
  /// weight >= 0; 0: there is none.
  Penalty(PenaltyKind kind, double weight, const VolumeShape& shape, VectorMath& math);

  [[nodiscard]] double weight() const noexcept { return weight_; }
  /// Values of R volume; 0 where there is no penalty.
  [[nodiscard]] std::size_t rows() const noexcept;

  [[nodiscard]] double value(std::span<const float> volume) const;
  /// to += scale * weight * R^T R volume: half the gradient, times `scale`.
  void add_gradient(double scale, std::span<const float> volume, std::span<float> to) const;

  // sqrt(weight) R, as rows that stand below those of the data.
  /// rows = sqrt(weight) * R volume + scale * rows
  void apply(std::span<const float> volume, double scale, std::span<float> rows) const;
  /// volume += sqrt(weight) * R^T rows
  void add_transposed(std::span<const float> rows, std::span<float> volume) const;

 private:
  PenaltyKind kind_;
  double weight_;
  Differences differences_;
  VectorMath* math_;
};

}  // namespace echoform
