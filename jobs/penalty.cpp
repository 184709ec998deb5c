#include "jobs/penalty.hpp"

#include <cmath>

namespace echoform {

Penalty::Penalty(PenaltyKind kind, double weight, const VolumeShape& shape, VectorMath& math)
    : kind_(kind), weight_(weight), differences_(shape, math), math_(&math) {}

std::size_t Penalty::rows() const noexcept {
  if (weight_ == 0.0) return 0;
  return kind_ == PenaltyKind::smoothness ? differences_.values() : differences_.voxels();
}

double Penalty::value(std::span<const float> volume) const {
  if (weight_ == 0.0) return 0.0;
  return weight_ * (kind_ == PenaltyKind::smoothness ? differences_.squares(volume) : math_->squares(volume));
}

void Penalty::add_gradient(double scale, std::span<const float> volume, std::span<float> to) const {
  if (weight_ == 0.0) return;
  if (kind_ == PenaltyKind::smoothness) {
    differences_.add_curvature(scale * weight_, volume, to);
  } else {
    math_->add(to, scale * weight_, volume);
  }
}

void Penalty::apply(std::span<const float> volume, double scale, std::span<float> rows) const {
  if (weight_ == 0.0) return;
  if (kind_ == PenaltyKind::smoothness) {
    differences_.apply(std::sqrt(weight_), volume, scale, rows);
  } else {
    math_->combine(rows, std::sqrt(weight_), volume, scale, rows);
  }
}

void Penalty::add_transposed(std::span<const float> rows, std::span<float> volume) const {
  if (weight_ == 0.0) return;
  if (kind_ == PenaltyKind::smoothness) {
    differences_.add_transposed(std::sqrt(weight_), rows, volume);
  } else {
    math_->add(volume, std::sqrt(weight_), rows);
  }
}

}  // namespace echoform
