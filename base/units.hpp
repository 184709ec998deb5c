// Physical quantities as types, so that names need not carry units and a time cannot be passed for a length.
// Values are SI throughout: metres, seconds, hertz, metres per second.
#pragma once

#include <compare>

namespace echoform {

/// A double tagged with its dimension: length to the power Length, time to the power Time.
template <int Length, int Time>
struct Quantity {
  double value = 0.0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(double si) : value(si) {}

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator-() const { return Quantity(-value); }
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value -= other.value;
    return *this;
  }
};

using Metres = Quantity<1, 0>;
using Seconds = Quantity<0, 1>;
using Hertz = Quantity<0, -1>;
using MetresPerSecond = Quantity<1, -1>;

template <int L, int T>
constexpr Quantity<L, T> operator+(Quantity<L, T> a, Quantity<L, T> b) {
  return Quantity<L, T>(a.value + b.value);
}
template <int L, int T>
constexpr Quantity<L, T> operator-(Quantity<L, T> a, Quantity<L, T> b) {
  return Quantity<L, T>(a.value - b.value);
}
template <int L, int T>
constexpr Quantity<L, T> operator*(Quantity<L, T> a, double b) {
  return Quantity<L, T>(a.value * b);
}
template <int L, int T>
constexpr Quantity<L, T> operator*(double a, Quantity<L, T> b) {
  return Quantity<L, T>(a * b.value);
}
template <int L, int T>
constexpr Quantity<L, T> operator/(Quantity<L, T> a, double b) {
  return Quantity<L, T>(a.value / b);
}

// Products and quotients of two quantities; a result without dimension is a plain double.
template <int L1, int T1, int L2, int T2>
constexpr auto operator*(Quantity<L1, T1> a, Quantity<L2, T2> b) {
  if constexpr (L1 + L2 == 0 && T1 + T2 == 0) {
    return a.value * b.value;
  } else {
    return Quantity<L1 + L2, T1 + T2>(a.value * b.value);
  }
}
template <int L1, int T1, int L2, int T2>
constexpr auto operator/(Quantity<L1, T1> a, Quantity<L2, T2> b) {
  if constexpr (L1 == L2 && T1 == T2) {
    return a.value / b.value;
  } else {
    return Quantity<L1 - L2, T1 - T2>(a.value / b.value);
  }
}
template <int L, int T>
constexpr Quantity<-L, -T> operator/(double a, Quantity<L, T> b) {
  return Quantity<-L, -T>(a / b.value);
}

inline namespace literals {
constexpr Metres operator""_m(long double v) {
  return Metres(static_cast<double>(v));
}
constexpr Metres operator""_mm(long double v) {
  return Metres(static_cast<double>(v) * 1e-3);
}
constexpr Seconds operator""_s(long double v) {
  return Seconds(static_cast<double>(v));
}
constexpr Seconds operator""_us(long double v) {
  return Seconds(static_cast<double>(v) * 1e-6);
}
constexpr Hertz operator""_Hz(long double v) {
  return Hertz(static_cast<double>(v));
}
constexpr Hertz operator""_MHz(long double v) {
  return Hertz(static_cast<double>(v) * 1e6);
}
constexpr MetresPerSecond operator""_mps(long double v) {
  return MetresPerSecond(static_cast<double>(v));
}
}  // namespace literals

}  // namespace echoform
