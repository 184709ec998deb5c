#include "simulators/ball_sound.hpp"

#include <cmath>
#include <numbers>

namespace echoform {
namespace {

// erfc(8.3 / sqrt2) is 1e-16.
constexpr double deviations_beyond = 8.5;
// Below this argument the difference of the exponentials loses digits that sinh(x) / x has.
constexpr double small_argument = 0.5;

double sinh_by_argument(double x) {
  const double square = x * x;
  // The series goes to x^10: the next term is below 1e-16 up to 0.5.
  return 1.0 + square / 6.0 * (1.0 + square / 20.0 * (1.0 + square / 42.0 * (1.0 + square / 72.0 * (1.0 + square / 110.0))));
}

}  // namespace

double deviation_of_width(Metres width) {
  return width.value / (2.0 * std::sqrt(2.0 * std::numbers::ln2));
}

BallSound::BallSound(Metres radius, double deviation)
    : radius_(radius.value), deviation_(deviation), reach_(radius.value + deviations_beyond * deviation) {}

double BallSound::profile(double r) const {
  if (deviation_ == 0.0) return r <= radius_ ? 1.0 : 0.0;
  if (r >= reach_) return 0.0;
  const double s = deviation_;
  const double inner = (radius_ - r) / (std::numbers::sqrt2 * s);
  const double outer = (radius_ + r) / (std::numbers::sqrt2 * s);
  const double share = 0.5 * (std::erf(inner) + std::erf(outer));
  const double argument = radius_ * r / (s * s);
  const double root = std::sqrt(2.0 * std::numbers::pi);
  if (argument < small_argument) {
    const double decay = std::exp(-0.5 * (radius_ * radius_ + r * r) / (s * s));
    return share - 2.0 * radius_ / (root * s) * decay * sinh_by_argument(argument);
  }
  return share - s / (root * r) * (std::exp(-inner * inner) - std::exp(-outer * outer));
}

double BallSound::pressure(double distance, double way) const {
  if (way < 0.0) return 0.0;
  const double behind = distance - way;
  const double sum = distance + way;
  return (behind * profile(std::abs(behind)) + (sum < reach_ ? sum * profile(sum) : 0.0)) / (2.0 * distance);
}

}  // namespace echoform
