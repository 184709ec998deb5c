// The Hilbert transform of two rows at once, as the threads of a CUDA block compute it. For host and device, so that tests
// can run it thread by thread.
//
// H is linear and real: for z = x1 + i x2 the complex transform, the factors -i sgn(f) and the inverse transform give
// H x1 + i H x2. The forward transform decimates in frequency, pass by pass, in place in shared memory: each butterfly reads and
// writes the same places, so a pass needs one barrier, and the spectrum ends in digit-reversed order. The inverse transform
// runs the same passes in reverse and so starts from that order. The last forward pass, the factors and the first inverse
// pass stay in registers.
//
// The inverse transform is a forward transform of the numbers with re and im exchanged.
//
// With a filter, whose factors are those of a real response, the results are G x1 + i G x2 and G H x1 + i G H x2, each in
// shared memory of its own. This takes one forward and two inverse transforms.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stages/analytic_signal/butterfly.hpp"

namespace echoform {

/// The smallest length of at least `at_least` samples that the fused route supports; 0 if there is none.
[[nodiscard]] std::size_t fused_hilbert_length(std::size_t at_least);

}  // namespace echoform

namespace echoform::hilbert {

/// The lengths: 1, 3 and 5 times powers of 2.
inline constexpr int fused_lengths[] = {256, 320, 384, 512, 640, 768, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 5120, 6144, 8192};

/// How a length is factored, and by how many threads it is transformed. The last radix is 16.
struct Shape {
  int radix[4];
  int passes;
  int threads;  ///< of one transform: a multiple of the warp
  int batch;    ///< transforms of a block
  int blocks;   ///< that a multiprocessor shall hold, which bounds registers; measured for some lengths
};

ECHOFORM_HOST_DEVICE constexpr Shape shape_of(int length) {
  switch (length) {
    case 256:
      return {{16, 16}, 2, 32, 4, 6};
    case 320:
      return {{5, 4, 16}, 3, 32, 4, 6};
    case 384:
      return {{3, 8, 16}, 3, 32, 4, 6};
    case 512:
      return {{4, 8, 16}, 3, 32, 4, 4};
    case 640:
      return {{5, 8, 16}, 3, 64, 2, 6};
    case 768:
      return {{3, 16, 16}, 3, 64, 2, 6};
    case 1024:
      return {{4, 16, 16}, 3, 64, 2, 4};
    case 1280:
      return {{5, 16, 16}, 3, 128, 1, 6};
    case 1536:
      return {{6, 16, 16}, 3, 128, 1, 6};
    case 2048:
      return {{8, 16, 16}, 3, 128, 1, 6};
    case 2560:
      return {{10, 16, 16}, 3, 256, 1, 3};
    case 3072:
      return {{12, 16, 16}, 3, 256, 1, 4};
    case 4096:
      return {{16, 16, 16}, 3, 256, 1, 3};
    case 5120:
      return {{5, 4, 16, 16}, 4, 512, 1, 2};
    case 6144:
      return {{6, 4, 16, 16}, 4, 512, 1, 2};
    case 8192:
      return {{8, 4, 16, 16}, 4, 512, 1, 1};
    default:
      return {};
  }
}

/// Powers of a twiddle factor that a table holds. The other powers take two products with these, so errors do not accumulate.
inline constexpr int kept_powers[] = {1, 2, 3, 4, 8, 12};
ECHOFORM_HOST_DEVICE constexpr int kept_below(int radix) {
  return radix > 12 ? 6 : radix > 8 ? 5 : radix > 4 ? 4 : radix - 1;
}

/// One pass: `Length / radix` butterflies over places block * span + j + stride * r, 0 <= j < stride.
template <int Length, int Pass>
struct PassOf {
  static constexpr Shape shape = shape_of(Length);
  static constexpr int radix = shape.radix[Pass];
  static constexpr int span = [] {
    int left = Length;
    for (int pass = 0; pass < Pass; ++pass) left /= shape_of(Length).radix[pass];
    return left;
  }();
  static constexpr int stride = span / radix;
  static constexpr int butterflies = Length / radix;
  static constexpr int rounds = (butterflies + shape.threads - 1) / shape.threads;
  static constexpr bool even_rounds = butterflies % shape.threads == 0;
  /// Distance of a butterfly's places with the gaps of padded(); its first place is at a multiple of 16 if the stride is 1.
  static constexpr int step = stride == 1 ? 1 : stride + stride / 16;
  static_assert(stride == 1 ? radix == 16 : stride % 16 == 0);
  /// Place of the pass's twiddle factors in the table: [power][j].
  static constexpr int table = [] {
    int place = 0;
    int left = Length;
    for (int pass = 0; pass < Pass; ++pass) {
      const int r = shape_of(Length).radix[pass];
      left /= r;
      place += kept_below(r) * left;
    }
    return place;
  }();
};

/// The table for a length, computed in double precision: for each pass but the last exp(-2 pi i power j / span).
[[nodiscard]] std::vector<Complex> twiddle_table(int length);
[[nodiscard]] std::size_t twiddle_count(int length);

/// Place of element p in shared memory: a gap after each 16, so that threads 16 elements apart meet different banks.
ECHOFORM_HOST_DEVICE constexpr int padded(int p) {
  return p + static_cast<int>(static_cast<unsigned>(p) / 16);
}
/// b modulo a power of two.
template <int Stride>
ECHOFORM_HOST_DEVICE constexpr int j_of(int b) {
  static_assert((Stride & (Stride - 1)) == 0);
  return b & (Stride - 1);
}
/// Complex numbers that a transform has in shared memory.
ECHOFORM_HOST_DEVICE constexpr int padded_length(int length) {
  return length + length / 16;
}

/// Bytes of shared memory of a block for its transforms; twice as many with a filter.
ECHOFORM_HOST_DEVICE constexpr std::size_t transform_bytes(int length, bool filtered) {
  const auto numbers = static_cast<std::size_t>(padded_length(length)) * static_cast<std::size_t>(shape_of(length).batch);
  return sizeof(Complex) * numbers * (filtered ? 2 : 1);
}
/// Bytes of shared memory of a block for its transforms and for the peaks of its rows, two numbers of 32 bits a warp.
/// Compute capability 9.0 supports all lengths; 8.6, 8.9 and 12.0 give a block 101,376 bytes, and so with a filter at most
/// 5120 samples.
[[nodiscard]] constexpr std::size_t fused_block_bytes(int length, bool filtered) {
  const auto warps = static_cast<std::size_t>(shape_of(length).threads) / 32 * static_cast<std::size_t>(shape_of(length).batch);
  return transform_bytes(length, filtered) + 2 * sizeof(std::uint32_t) * warps;
}

/// The numbers that a thread holds of one butterfly. The type has a name since clang 14 parses the array's brackets as an
/// expression.
template <int Length, int Pass>
using Butterfly = Complex[PassOf<Length, Pass>::radix];

/// v[q] *= w^(j q), w = exp(-2 pi i / span).
template <int Length, int Pass>
ECHOFORM_HOST_DEVICE void twiddle(Butterfly<Length, Pass>& v, int j, const Complex* table) {
  using P = PassOf<Length, Pass>;
  if constexpr (P::stride > 1) {
    // q = low + 4 high: v is multiplied first by the power low, then by the power 4 high. Two products with v, and none
    // among factors, save registers.
    ECHOFORM_UNROLLED
    for (int low = 1; low < 4; ++low) {
      if (low >= P::radix) break;
      const Complex factor = table[P::table + (low - 1) * P::stride + j];
      ECHOFORM_UNROLLED
      for (int q = low; q < P::radix; q += 4) v[q] = v[q] * factor;
    }
    ECHOFORM_UNROLLED
    for (int high = 1; 4 * high < P::radix; ++high) {
      const Complex factor = table[P::table + (2 + high) * P::stride + j];
      ECHOFORM_UNROLLED
      for (int q = 4 * high; q < P::radix; ++q) {
        if (q < 4 * high + 4) v[q] = v[q] * factor;
      }
    }
  }
}

/// The samples of the first pass that a thread holds; zeros where it has none.
template <int Length>
struct Held {
  using P = PassOf<Length, 0>;
  Complex v[P::rounds][P::radix];
};

/// Calls action(round, butterfly) for the butterflies of a thread.
template <int Length, int Pass, class Action>
ECHOFORM_HOST_DEVICE void for_butterflies(int thread, Action&& action) {
  using P = PassOf<Length, Pass>;
  ECHOFORM_UNROLLED
  for (int round = 0; round < P::rounds; ++round) {
    const int b = thread + round * P::shape.threads;
    if (P::even_rounds || b < P::butterflies) action(round, b);
  }
}

/// Loads load(n) into registers; n is coalesced over threads.
template <int Length, class Load>
ECHOFORM_HOST_DEVICE void load_first(int thread, Held<Length>& held, Load&& load) {
  using P = PassOf<Length, 0>;
  for_butterflies<Length, 0>(thread, [&](int round, int b) {
    ECHOFORM_UNROLLED
    for (int r = 0; r < P::radix; ++r) held.v[round][r] = load(b + P::stride * r);
  });
}

/// First forward pass over what load_first() loaded. Its re and im are multiplied by the powers of two that keep one row's
/// rounding errors out of the other row.
template <int Length>
ECHOFORM_HOST_DEVICE void forward_first(int thread, Held<Length>& held, Complex scale, Complex* shared, const Complex* table) {
  using P = PassOf<Length, 0>;
  for_butterflies<Length, 0>(thread, [&](int round, int b) {
    Complex* const first = shared + padded(b);
    Complex(&v)[P::radix] = held.v[round];
    ECHOFORM_UNROLLED
    for (int r = 0; r < P::radix; ++r) v[r] = {v[r].re * scale.re, v[r].im * scale.im};
    transform<P::radix>(v);
    twiddle<Length, 0>(v, b, table);
    ECHOFORM_UNROLLED
    for (int r = 0; r < P::radix; ++r) first[P::step * r] = v[r];
  });
}

/// A pass between the first and the last, in place: calls work(numbers, j) for the numbers of each butterfly.
template <int Length, int Pass, class Work>
ECHOFORM_HOST_DEVICE void inner_pass(int thread, Complex* shared, Work&& work) {
  using P = PassOf<Length, Pass>;
  for_butterflies<Length, Pass>(thread, [&](int, int b) {
    const int j = j_of<P::stride>(b);
    Complex* const first = shared + padded((b - j) * P::radix + j);
    Complex v[P::radix];
    ECHOFORM_UNROLLED
    for (int r = 0; r < P::radix; ++r) v[r] = first[P::step * r];
    work(v, j);
    ECHOFORM_UNROLLED
    for (int r = 0; r < P::radix; ++r) first[P::step * r] = v[r];
  });
}

template <int Length, int Pass>
ECHOFORM_HOST_DEVICE void forward_pass(int thread, Complex* shared, const Complex* table) {
  constexpr int radix = PassOf<Length, Pass>::radix;
  inner_pass<Length, Pass>(thread, shared, [table](Complex(&v)[radix], int j) {
    transform<radix>(v);
    twiddle<Length, Pass>(v, j, table);
  });
}

/// Last forward pass, product with -i sgn(f), and first inverse pass. A butterfly holds frequencies f0 + Length / 16 * q
/// with f0 < Length / 16, and only butterfly 0 has f0 = 0. So q < 8 are positive and q >= 8 negative frequencies, except 0
/// and Nyquist in butterfly 0.
template <int Length>
ECHOFORM_HOST_DEVICE void middle_pass(int thread, Complex* shared) {
  constexpr int last = shape_of(Length).passes - 1;
  using P = PassOf<Length, last>;
  static_assert(P::radix == 16 && P::stride == 1);
  for_butterflies<Length, last>(thread, [&](int, int b) {
    Complex* const first = shared + padded(16 * b);
    Complex v[16];
    ECHOFORM_UNROLLED
    for (int r = 0; r < 16; ++r) v[r] = first[r];
    transform<16>(v);
    // Times -i or i, with re and im exchanged for the inverse transform.
    ECHOFORM_UNROLLED
    for (int q = 0; q < 8; ++q) v[q] = {-v[q].re, v[q].im};
    ECHOFORM_UNROLLED
    for (int q = 0; q < 8; ++q) v[8 + q] = {v[8 + q].re, -v[8 + q].im};
    if (b == 0) {
      v[0] = {0.0F, 0.0F};
      v[8] = {0.0F, 0.0F};
    }
    transform<16>(v);
    ECHOFORM_UNROLLED
    for (int r = 0; r < 16; ++r) first[r] = v[r];
  });
}

/// The lowest of the frequencies that butterfly `b` of the last pass holds.
[[nodiscard]] std::size_t lowest_frequency(int length, int b);
/// The table that middle_pass_filtered() reads: the factor of each place of the spectrum, [place in a butterfly][butterfly],
/// so that neighbouring threads read neighbouring numbers. `response` has bins 0 ... length / 2 of a filter.
[[nodiscard]] std::vector<Complex> filter_table(const std::vector<std::complex<double>>& response, int length);

/// As middle_pass(), for spectra times `factors`. What becomes H x1 and H x2 stays in `shared`; what becomes x1 and x2 goes
/// to `in_phase`.
template <int Length>
ECHOFORM_HOST_DEVICE void middle_pass_filtered(int thread, Complex* shared, Complex* in_phase, const Complex* factors) {
  constexpr int last = shape_of(Length).passes - 1;
  using P = PassOf<Length, last>;
  static_assert(P::radix == 16 && P::stride == 1);
  for_butterflies<Length, last>(thread, [&](int, int b) {
    Complex* const first = shared + padded(16 * b);
    Complex* const first_in_phase = in_phase + padded(16 * b);
    Complex v[16];
    ECHOFORM_UNROLLED
    for (int r = 0; r < 16; ++r) v[r] = first[r];
    transform<16>(v);
    // The product waits in shared memory while the first inverse transform begins, so that registers hold one butterfly, as
    // without a filter.
    ECHOFORM_UNROLLED
    for (int q = 0; q < 16; ++q) {
      const Complex product = v[q] * factors[q * P::butterflies + b];
      first[q] = product;
      v[q] = {product.im, product.re};
    }
    transform<16>(v);
    ECHOFORM_UNROLLED
    for (int r = 0; r < 16; ++r) first_in_phase[r] = v[r];
    // Times -i or i, with re and im exchanged for the inverse transform.
    ECHOFORM_UNROLLED
    for (int q = 0; q < 8; ++q) v[q] = {-first[q].re, first[q].im};
    ECHOFORM_UNROLLED
    for (int q = 8; q < 16; ++q) v[q] = {first[q].re, -first[q].im};
    if (b == 0) {
      v[0] = {0.0F, 0.0F};
      v[8] = {0.0F, 0.0F};
    }
    transform<16>(v);
    ECHOFORM_UNROLLED
    for (int r = 0; r < 16; ++r) first[r] = v[r];
  });
}

template <int Length, int Pass>
ECHOFORM_HOST_DEVICE void backward_pass(int thread, Complex* shared, const Complex* table) {
  constexpr int radix = PassOf<Length, Pass>::radix;
  inner_pass<Length, Pass>(thread, shared, [table](Complex(&v)[radix], int j) {
    twiddle<Length, Pass>(v, j, table);
    transform<radix>(v);
  });
}

/// Last inverse pass: leaves H x1 in re and H x2 in im, sample n at padded(n), multiplied by `scale`.
template <int Length>
ECHOFORM_HOST_DEVICE void backward_last(int thread, Complex scale, Complex* shared, const Complex* table) {
  using P = PassOf<Length, 0>;
  for_butterflies<Length, 0>(thread, [&](int, int b) {
    Complex* const first = shared + padded(b);
    Complex v[P::radix];
    ECHOFORM_UNROLLED
    for (int r = 0; r < P::radix; ++r) v[r] = first[P::step * r];
    twiddle<Length, 0>(v, b, table);
    transform<P::radix>(v);
    ECHOFORM_UNROLLED
    for (int r = 0; r < P::radix; ++r) first[P::step * r] = {v[r].im * scale.re, v[r].re * scale.im};
  });
}

/// All passes after load_first(). `barrier` waits for all threads of the transform.
template <int Length, class Barrier>
ECHOFORM_HOST_DEVICE void transform_rows(int thread, Held<Length>& held, Complex scale, Complex back_scale, Complex* shared,
                                         const Complex* table, Barrier&& barrier) {
  constexpr int passes = shape_of(Length).passes;
  forward_first<Length>(thread, held, scale, shared, table);
  barrier();
  unrolled<passes - 2>([&](auto k) {
    forward_pass<Length, decltype(k)::value + 1>(thread, shared, table);
    barrier();
  });
  middle_pass<Length>(thread, shared);
  barrier();
  unrolled<passes - 2>([&](auto k) {
    backward_pass<Length, passes - 2 - decltype(k)::value>(thread, shared, table);
    barrier();
  });
  backward_last<Length>(thread, back_scale, shared, table);
  barrier();
}

/// The same with a filter: leaves H of the filtered rows in `shared` and the filtered rows in `in_phase`.
template <int Length, class Barrier>
ECHOFORM_HOST_DEVICE void filter_rows(int thread, Held<Length>& held, Complex scale, Complex back_scale, Complex* shared,
                                      Complex* in_phase, const Complex* table, const Complex* factors, Barrier&& barrier) {
  constexpr int passes = shape_of(Length).passes;
  forward_first<Length>(thread, held, scale, shared, table);
  barrier();
  unrolled<passes - 2>([&](auto k) {
    forward_pass<Length, decltype(k)::value + 1>(thread, shared, table);
    barrier();
  });
  middle_pass_filtered<Length>(thread, shared, in_phase, factors);
  barrier();
  unrolled<passes - 2>([&](auto k) {
    backward_pass<Length, passes - 2 - decltype(k)::value>(thread, shared, table);
    backward_pass<Length, passes - 2 - decltype(k)::value>(thread, in_phase, table);
    barrier();
  });
  backward_last<Length>(thread, back_scale, shared, table);
  backward_last<Length>(thread, back_scale, in_phase, table);
  barrier();
}

}  // namespace echoform::hilbert
