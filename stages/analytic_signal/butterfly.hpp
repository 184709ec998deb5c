// Discrete Fourier transforms of a few complex numbers that a thread holds in registers, for host and device.
#pragma once

#include <type_traits>
#include <utility>

#include "gpu/host_device.hpp"

/// Unrolls the loop that follows. Loops over registers need it, since their index must become a constant.
#if defined(__CUDA_ARCH__)
#define ECHOFORM_UNROLLED _Pragma("unroll")
#elif defined(__CUDACC__)
#define ECHOFORM_UNROLLED  // host code of a .cu file: none
#else
#define ECHOFORM_UNROLLED _Pragma("GCC unroll 32")
#endif

namespace echoform::hilbert {

struct alignas(8) Complex {
  float re = 0.0F;
  float im = 0.0F;
};

ECHOFORM_HOST_DEVICE Complex operator+(Complex a, Complex b) {
  return {a.re + b.re, a.im + b.im};
}
ECHOFORM_HOST_DEVICE Complex operator-(Complex a, Complex b) {
  return {a.re - b.re, a.im - b.im};
}
ECHOFORM_HOST_DEVICE Complex operator*(Complex a, Complex b) {
  return {__builtin_fmaf(a.re, b.re, -(a.im * b.im)), __builtin_fmaf(a.re, b.im, a.im * b.re)};
}
/// a + factor * b
ECHOFORM_HOST_DEVICE Complex fused(Complex a, float factor, Complex b) {
  return {__builtin_fmaf(factor, b.re, a.re), __builtin_fmaf(factor, b.im, a.im)};
}
ECHOFORM_HOST_DEVICE Complex times_minus_i(Complex a) {
  return {a.im, -a.re};
}

/// Calls action(std::integral_constant<int, I>{}) for I = 0 ... Count - 1, each compiled separately. The action must not
/// contain another such call, since nvcc treats functions nested twice as host functions.
template <int Count, class Action>
ECHOFORM_HOST_DEVICE void unrolled(Action&& action) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (action(std::integral_constant<int, I>{}), ...);
  }
  (std::make_integer_sequence<int, Count>{});
}

/// Sums of the power series for |x| <= pi / 4, exact to the last but one place of a double.
ECHOFORM_HOST_DEVICE constexpr double series_cosine(double x) {
  double sum = 1.0;
  double term = 1.0;
  for (int n = 1; n <= 9; ++n) {
    term *= -x * x / ((2 * n - 1) * (2 * n));
    sum += term;
  }
  return sum;
}
ECHOFORM_HOST_DEVICE constexpr double series_sine(double x) {
  double sum = x;
  double term = x;
  for (int n = 1; n <= 9; ++n) {
    term *= -x * x / ((2 * n) * (2 * n + 1));
    sum += term;
  }
  return sum;
}
/// cos and sin of 2 pi k / of. Symmetries hold exactly.
ECHOFORM_HOST_DEVICE constexpr double cosine_of_turn(int k, int of) {
  constexpr double turn = 6.283185307179586476925286766559;
  k = (k % of + of) % of;
  if (2 * k > of) k = of - k;
  double sign = 1.0;
  if (4 * k > of) {
    k = of - 2 * k;
    of *= 2;
    sign = -1.0;
  }
  if (8 * k > of) return sign * series_sine(turn * (of - 4 * k) / (4.0 * of));
  return sign * series_cosine(turn * k / of);
}
ECHOFORM_HOST_DEVICE constexpr double sine_of_turn(int k, int of) {
  return cosine_of_turn(4 * k - of, 4 * of);
}

/// v * exp(-2 pi i K / Of), with no multiplication where none is needed.
template <int K, int Of>
ECHOFORM_HOST_DEVICE Complex times_root(Complex v) {
  constexpr int k = K % Of;
  if constexpr (k == 0) {
    return v;
  } else if constexpr (8 * k % Of == 0) {
    constexpr int eighths = 8 * k / Of;
    if constexpr (eighths >= 4) {
      const Complex turned = times_root<eighths - 4, 8>(v);
      return {-turned.re, -turned.im};
    } else if constexpr (eighths >= 2) {
      return times_minus_i(times_root<eighths - 2, 8>(v));
    } else {
      constexpr float half_root = 0.707106781186547524F;
      return {(v.re + v.im) * half_root, (v.im - v.re) * half_root};
    }
  } else {
    constexpr float c = static_cast<float>(cosine_of_turn(k, Of));
    constexpr float s = static_cast<float>(sine_of_turn(k, Of));
    return {__builtin_fmaf(v.re, c, v.im * s), __builtin_fmaf(v.im, c, -(v.re * s))};
  }
}

template <int Radix>
ECHOFORM_HOST_DEVICE void transform(Complex (&v)[Radix]);

/// A transform of length A * B, as B transforms of length A over columns and A transforms of length B over rows. Input
/// B a + b is row a of column b, output q + A p is number p of row q.
template <int A, int B>
ECHOFORM_HOST_DEVICE void transform_composite(Complex (&v)[A * B]) {
  Complex columns[B][A];
  ECHOFORM_UNROLLED
  for (int b = 0; b < B; ++b) {
    ECHOFORM_UNROLLED
    for (int a = 0; a < A; ++a) columns[b][a] = v[B * a + b];
    transform<A>(columns[b]);
  }
  unrolled<A * B>([&](auto index) {
    constexpr int b = decltype(index)::value / A;
    constexpr int q = decltype(index)::value % A;
    columns[b][q] = times_root<b * q, A * B>(columns[b][q]);
  });
  ECHOFORM_UNROLLED
  for (int q = 0; q < A; ++q) {
    Complex row[B];
    ECHOFORM_UNROLLED
    for (int b = 0; b < B; ++b) row[b] = columns[b][q];
    transform<B>(row);
    ECHOFORM_UNROLLED
    for (int p = 0; p < B; ++p) v[q + A * p] = row[p];
  }
}

/// v[k] = sum over n of v[n] exp(-2 pi i k n / Radix), for the radices below.
template <int Radix>
ECHOFORM_HOST_DEVICE void transform(Complex (&v)[Radix]) {
  if constexpr (Radix == 2) {
    const Complex sum = v[0] + v[1];
    v[1] = v[0] - v[1];
    v[0] = sum;
  } else if constexpr (Radix == 3) {
    constexpr float sine = 0.866025403784438647F;  // of 2 pi / 3
    const Complex sum = v[1] + v[2];
    const Complex difference = times_minus_i(v[1] - v[2]);
    const Complex middle = fused(v[0], -0.5F, sum);
    v[0] = v[0] + sum;
    v[1] = fused(middle, sine, difference);
    v[2] = fused(middle, -sine, difference);
  } else if constexpr (Radix == 4) {
    const Complex even_sum = v[0] + v[2];
    const Complex even_difference = v[0] - v[2];
    const Complex odd_sum = v[1] + v[3];
    const Complex odd_difference = times_minus_i(v[1] - v[3]);
    v[0] = even_sum + odd_sum;
    v[1] = even_difference + odd_difference;
    v[2] = even_sum - odd_sum;
    v[3] = even_difference - odd_difference;
  } else if constexpr (Radix == 5) {
    constexpr float c1 = static_cast<float>(cosine_of_turn(1, 5));
    constexpr float c2 = static_cast<float>(cosine_of_turn(2, 5));
    constexpr float s1 = static_cast<float>(sine_of_turn(1, 5));
    constexpr float s2 = static_cast<float>(sine_of_turn(2, 5));
    const Complex sum1 = v[1] + v[4];
    const Complex sum2 = v[2] + v[3];
    const Complex difference1 = times_minus_i(v[1] - v[4]);
    const Complex difference2 = times_minus_i(v[2] - v[3]);
    const Complex middle1 = fused(fused(v[0], c1, sum1), c2, sum2);
    const Complex middle2 = fused(fused(v[0], c2, sum1), c1, sum2);
    const Complex side1 = fused({s1 * difference1.re, s1 * difference1.im}, s2, difference2);
    const Complex side2 = fused({s2 * difference1.re, s2 * difference1.im}, -s1, difference2);
    v[0] = v[0] + sum1 + sum2;
    v[1] = middle1 + side1;
    v[2] = middle2 + side2;
    v[3] = middle2 - side2;
    v[4] = middle1 - side1;
  } else if constexpr (Radix == 6) {
    transform_composite<3, 2>(v);
  } else if constexpr (Radix == 8) {
    transform_composite<4, 2>(v);
  } else if constexpr (Radix == 10) {
    transform_composite<5, 2>(v);
  } else if constexpr (Radix == 12) {
    transform_composite<4, 3>(v);
  } else {
    static_assert(Radix == 16);
    transform_composite<4, 4>(v);
  }
}

}  // namespace echoform::hilbert
