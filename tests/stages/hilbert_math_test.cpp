// The arithmetic of the analytic signal on CUDA, run on the host: butterflies, the fused transform thread by thread, spectra of
// rows taken as complex numbers, scales.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <set>

#include "stages/analytic_signal/analytic_signal_math.hpp"
#include "stages/analytic_signal/fused_hilbert.hpp"
#include "stages/analytic_signal/paired_spectrum.hpp"

namespace echoform::test {
namespace {

using hilbert::Complex;

std::complex<double> wide(Complex v) {
  return {v.re, v.im};
}
std::complex<double> root(std::size_t k, std::size_t of) {
  return std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(k % of) / static_cast<double>(of));
}

template <class Number>
class Butterfly : public testing::Test {};
template <int N>
using Radix = std::integral_constant<int, N>;
using Radices = testing::Types<Radix<2>, Radix<3>, Radix<4>, Radix<5>, Radix<6>, Radix<8>, Radix<10>, Radix<12>, Radix<16>>;
TYPED_TEST_SUITE(Butterfly, Radices);

TYPED_TEST(Butterfly, EqualsTheSum) {
  constexpr int radix = TypeParam::value;
  std::mt19937 random(radix);
  std::normal_distribution<float> noise;
  Complex v[radix];
  std::complex<double> before[radix];
  for (int n = 0; n < radix; ++n) {
    v[n] = {noise(random), noise(random)};
    before[n] = wide(v[n]);
  }
  hilbert::transform<radix>(v);
  for (std::size_t k = 0; k < radix; ++k) {
    std::complex<double> sum = 0.0;
    for (std::size_t n = 0; n < radix; ++n) sum += before[n] * root(k * n, radix);
    // Sums of up to 16 numbers of size 1 in single precision: some units of 2^-24 of their size, 4.
    EXPECT_NEAR(std::abs(wide(v[k]) - sum), 0.0, 1e-6) << "bin " << k;
  }
}

TEST(Roots, OfATurnInDoublePrecision) {
  for (int of = 1; of <= 48; ++of) {
    for (int k = -of; k <= 2 * of; ++k) {
      // The angle of up to 13 is rounded before its cosine is taken: to 9e-16, and pi before it.
      const double angle = 2.0 * std::numbers::pi * k / of;
      EXPECT_NEAR(hilbert::cosine_of_turn(k, of), std::cos(angle), 4e-15);
      EXPECT_NEAR(hilbert::sine_of_turn(k, of), std::sin(angle), 4e-15);
    }
  }
}

template <class Number>
class FusedHilbert : public testing::Test {};
template <class Sequence>
struct LengthTypes;
template <std::size_t... Index>
struct LengthTypes<std::index_sequence<Index...>> {
  using type = testing::Types<Radix<hilbert::fused_lengths[Index]>...>;
};
using Lengths = LengthTypes<std::make_index_sequence<std::size(hilbert::fused_lengths)>>::type;
TYPED_TEST_SUITE(FusedHilbert, Lengths);

struct Load {
  const Complex* numbers;
  Complex operator()(int n) const { return numbers[n]; }
};

template <int Length, int Pass>
void forward_passes(Complex* shared, const Complex* table) {
  if constexpr (Pass + 1 < hilbert::shape_of(Length).passes) {
    for (int t = 0; t < hilbert::shape_of(Length).threads; ++t) hilbert::forward_pass<Length, Pass>(t, shared, table);
    forward_passes<Length, Pass + 1>(shared, table);
  }
}
template <int Length, int Pass>
void backward_passes(Complex* shared, const Complex* table) {
  if constexpr (Pass > 0) {
    for (int t = 0; t < hilbert::shape_of(Length).threads; ++t) hilbert::backward_pass<Length, Pass>(t, shared, table);
    backward_passes<Length, Pass - 1>(shared, table);
  }
}

/// Of what the last pass left in shared memory, and of rows that it should be, relative.
double error_of(const std::vector<Complex>& shared, const std::vector<std::complex<double>>& wanted) {
  double error = 0.0;
  double size = 0.0;
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    error += std::norm(wanted[n] - wide(shared[static_cast<std::size_t>(hilbert::padded(static_cast<int>(n)))]));
    size += std::norm(wanted[n]);
  }
  return std::sqrt(error / size);
}

TYPED_TEST(FusedHilbert, ThreadByThread) {
  constexpr int length = TypeParam::value;
  constexpr int threads = hilbert::shape_of(length).threads;
  static_assert(threads % 32 == 0);
  std::mt19937 random(length);
  std::normal_distribution<float> noise(0.3F, 1.0F);
  std::vector<Complex> rows(length);
  for (Complex& v : rows) v = {noise(random), noise(random)};
  const std::vector<Complex> table = hilbert::twiddle_table(length);
  // Numbers that were never written would spoil every result.
  const float nothing = std::numeric_limits<float>::quiet_NaN();
  std::vector<Complex> shared(static_cast<std::size_t>(hilbert::padded_length(length)), Complex{nothing, nothing});
  std::vector<hilbert::Held<length>> held(threads);
  for (int t = 0; t < threads; ++t) hilbert::load_first<length>(t, held[static_cast<std::size_t>(t)], Load{rows.data()});
  for (int t = 0; t < threads; ++t) {
    hilbert::forward_first<length>(t, held[static_cast<std::size_t>(t)], {1.0F, 2.0F}, shared.data(), table.data());
  }
  forward_passes<length, 1>(shared.data(), table.data());
  for (int t = 0; t < threads; ++t) hilbert::middle_pass<length>(t, shared.data());
  backward_passes<length, hilbert::shape_of(length).passes - 2>(shared.data(), table.data());
  for (int t = 0; t < threads; ++t) {
    hilbert::backward_last<length>(t, {1.0F / length, 0.5F / length}, shared.data(), table.data());
  }
  // By the convolution, whose form for even lengths the tests of hilbert_kernel() prove.
  const std::vector<double> kernel = hilbert_kernel(length);
  double error = 0.0;
  double size = 0.0;
  for (std::size_t n = 0; n < length; ++n) {
    std::complex<double> sum = 0.0;
    for (std::size_t k = 1; k < length; k += 2) sum += kernel[k] * wide(rows[(n + length - k) % length]);
    error += std::norm(sum - wide(shared[static_cast<std::size_t>(hilbert::padded(static_cast<int>(n)))]));
    size += std::norm(wide(rows[n]));
  }
  EXPECT_LE(std::sqrt(error / size), 3e-7);
}

TYPED_TEST(FusedHilbert, WithAFilterThreadByThread) {
  constexpr int length = TypeParam::value;
  constexpr int threads = hilbert::shape_of(length).threads;
  constexpr std::size_t delay = 3;
  std::mt19937 random(length);
  std::normal_distribution<float> noise(0.3F, 1.0F);
  std::vector<Complex> rows(length);
  for (Complex& v : rows) v = {noise(random), noise(random)};
  // Half of each row, and the row again three samples later.
  std::vector<std::complex<double>> response;
  for (std::size_t k = 0; 2 * k <= length; ++k) response.push_back(0.5 + root(delay * k, length));
  const std::vector<Complex> table = hilbert::twiddle_table(length);
  const std::vector<Complex> factors = hilbert::filter_table(response, length);
  const float nothing = std::numeric_limits<float>::quiet_NaN();
  std::vector<Complex> shared(static_cast<std::size_t>(hilbert::padded_length(length)), Complex{nothing, nothing});
  std::vector<Complex> in_phase = shared;
  std::vector<hilbert::Held<length>> held(threads);
  for (int t = 0; t < threads; ++t) hilbert::load_first<length>(t, held[static_cast<std::size_t>(t)], Load{rows.data()});
  for (int t = 0; t < threads; ++t) {
    hilbert::forward_first<length>(t, held[static_cast<std::size_t>(t)], {1.0F, 2.0F}, shared.data(), table.data());
  }
  forward_passes<length, 1>(shared.data(), table.data());
  for (int t = 0; t < threads; ++t) hilbert::middle_pass_filtered<length>(t, shared.data(), in_phase.data(), factors.data());
  for (std::vector<Complex>* const array : {&shared, &in_phase}) {
    backward_passes<length, hilbert::shape_of(length).passes - 2>(array->data(), table.data());
    for (int t = 0; t < threads; ++t) {
      hilbert::backward_last<length>(t, {1.0F / length, 0.5F / length}, array->data(), table.data());
    }
  }
  std::vector<std::complex<double>> filtered(length);
  for (std::size_t n = 0; n < length; ++n) filtered[n] = 0.5 * wide(rows[n]) + wide(rows[(n + length - delay) % length]);
  const std::vector<double> kernel = hilbert_kernel(length);
  std::vector<std::complex<double>> quadrature(length);
  for (std::size_t n = 0; n < length; ++n) {
    for (std::size_t k = 1; k < length; k += 2) quadrature[n] += kernel[k] * filtered[(n + length - k) % length];
  }
  EXPECT_LE(error_of(in_phase, filtered), 5e-7);
  EXPECT_LE(error_of(shared, quadrature), 5e-7);
}

/// Each place of shared memory belongs to one butterfly of a pass, so no barrier is needed within a pass.
template <int Length, int Pass>
void check_places() {
  using P = hilbert::PassOf<Length, Pass>;
  std::set<int> places;
  for (int b = 0; b < P::butterflies; ++b) {
    const int j = b % P::stride;
    for (int r = 0; r < P::radix; ++r) {
      const int place = hilbert::padded(b / P::stride * P::span + j) + P::step * r;
      EXPECT_EQ(place, hilbert::padded(b / P::stride * P::span + j + P::stride * r));
      EXPECT_LT(place, hilbert::padded_length(Length));
      EXPECT_TRUE(places.insert(place).second);
    }
  }
  EXPECT_EQ(places.size(), static_cast<std::size_t>(Length));
  if constexpr (Pass + 1 < hilbert::shape_of(Length).passes) {
    check_places<Length, Pass + 1>();
  } else {
    EXPECT_EQ(P::span, P::radix);
  }
}

TYPED_TEST(FusedHilbert, ButterfliesShareNothing) {
  check_places<TypeParam::value, 0>();
}

TEST(FusedHilbertLength, IsTheNextOfItsLengths) {
  EXPECT_EQ(fused_hilbert_length(1), 256u);
  EXPECT_EQ(fused_hilbert_length(256), 256u);
  EXPECT_EQ(fused_hilbert_length(257), 320u);
  EXPECT_EQ(fused_hilbert_length(1400), 1536u);
  EXPECT_EQ(fused_hilbert_length(8192), 8192u);
  EXPECT_EQ(fused_hilbert_length(8193), 0u);
}

TEST(PairedSpectrum, EqualsTheProductInFullLength) {
  for (const std::size_t length : {8, 10, 16, 48, 90}) {
    const std::size_t half = length / 2;
    std::mt19937 random(static_cast<unsigned>(length));
    std::normal_distribution<float> noise;
    std::vector<float> s(length);
    for (float& x : s) x = noise(random);
    std::vector<float> b(half + 1);
    for (float& x : b) x = noise(random);
    b[0] = b[half] = 0.0F;
    std::vector<Complex> z(half);
    for (std::size_t k = 0; k < half; ++k) {
      std::complex<double> sum = 0.0;
      for (std::size_t n = 0; n < half; ++n) sum += std::complex<double>(s[2 * n], s[2 * n + 1]) * root(k * n, half);
      z[k] = {static_cast<float>(sum.real()), static_cast<float>(sum.imag())};
    }
    const std::vector<hilbert::PairFactors> factors = hilbert::pair_factors(b, length);
    for (std::size_t k = 0; 2 * k <= half; ++k) {
      const std::size_t mirror = k == 0 ? 0 : half - k;
      Complex low = z[k];
      Complex high = z[mirror];
      hilbert::multiply_pair(low, high, factors[k]);
      z[k] = low;
      if (mirror != k) z[mirror] = high;
    }
    for (std::size_t n = 0; n < half; ++n) {
      std::complex<double> back = 0.0;
      for (std::size_t k = 0; k < half; ++k) back += wide(z[k]) * std::conj(root(k * n, half));
      for (const std::size_t m : {2 * n, 2 * n + 1}) {
        double want = 0.0;
        for (std::size_t f = 1; f < half; ++f) {
          std::complex<double> bin = 0.0;
          for (std::size_t i = 0; i < length; ++i) bin += static_cast<double>(s[i]) * root(f * i, length);
          want += 2.0 * (std::complex<double>(0.0, b[f]) * bin * std::conj(root(f * m, length))).real();
        }
        EXPECT_NEAR(m % 2 == 0 ? back.real() : back.imag(), want, 1e-5 * static_cast<double>(length)) << length << ", " << m;
      }
    }
  }
}

TEST(PairedSpectrum, EqualsAnyProductInFullLength) {
  for (const std::size_t length : {8, 10, 16, 48, 90}) {
    const std::size_t half = length / 2;
    std::mt19937 random(static_cast<unsigned>(length));
    std::normal_distribution<float> noise;
    std::vector<float> s(length);
    for (float& x : s) x = noise(random);
    std::vector<std::complex<float>> c(half + 1);
    for (auto& x : c) x = {noise(random), noise(random)};
    c[0].imag(0.0F);
    c[half].imag(0.0F);
    std::vector<Complex> z(half);
    for (std::size_t k = 0; k < half; ++k) {
      std::complex<double> sum = 0.0;
      for (std::size_t n = 0; n < half; ++n) sum += std::complex<double>(s[2 * n], s[2 * n + 1]) * root(k * n, half);
      z[k] = {static_cast<float>(sum.real()), static_cast<float>(sum.imag())};
    }
    const std::vector<hilbert::ResponsePair> factors = hilbert::response_pairs(c, length);
    ASSERT_EQ(factors.size(), hilbert::pair_count(length));
    for (std::size_t k = 0; 2 * k <= half; ++k) {
      const std::size_t mirror = k == 0 ? 0 : half - k;
      const hilbert::BinPair product = hilbert::filter_pair({z[k], z[mirror]}, factors[k]);
      z[k] = product.low;
      if (mirror != k) z[mirror] = product.high;
    }
    for (std::size_t n = 0; n < half; ++n) {
      std::complex<double> back = 0.0;
      for (std::size_t k = 0; k < half; ++k) back += wide(z[k]) * std::conj(root(k * n, half));
      for (const std::size_t m : {2 * n, 2 * n + 1}) {
        double want = 0.0;
        for (std::size_t f = 0; f < length; ++f) {
          std::complex<double> bin = 0.0;
          for (std::size_t i = 0; i < length; ++i) bin += static_cast<double>(s[i]) * root(f * i, length);
          const std::complex<double> factor =
              f <= half ? std::complex<double>(c[f]) : std::conj(std::complex<double>(c[length - f]));
          want += (factor * bin * std::conj(root(f * m, length))).real();
        }
        EXPECT_NEAR(m % 2 == 0 ? back.real() : back.imag(), want, 1e-5 * static_cast<double>(length)) << length << ", " << m;
      }
    }
  }
}

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

TEST(Scales, OfTheHalfPath) {
  EXPECT_EQ(power_of_two(half_path_exponent(bits_of(0.0F))), 1.0F);
  for (const float peak : {1.0F, 0.25F, 0.2500001F, 0.125F, 3.0F, 65536.0F, 1e-6F, 1e30F, 1e-30F, 0.1250001F}) {
    const std::uint32_t exponent = half_path_exponent(bits_of(peak));
    const double scaled = static_cast<double>(peak) * power_of_two(exponent);
    EXPECT_GT(scaled, 0.125) << peak;
    EXPECT_LE(scaled, 0.25) << peak;
    EXPECT_EQ(power_of_two(exponent) * inverse_power_of_two(exponent), 1.0F);
  }
  // Where no power of two of single precision will do: still finite and not 0.
  for (const float peak : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max(), 1e-42F}) {
    const std::uint32_t exponent = half_path_exponent(bits_of(peak));
    EXPECT_TRUE(std::isnormal(power_of_two(exponent)));
    EXPECT_TRUE(std::isnormal(inverse_power_of_two(exponent)));
  }
}

TEST(Scales, OfRowsThatShareATransform) {
  for (const float peak : {1.0F, 0.5F, 0.99F, 1e4F, 1e-4F, 1e38F, 1e-37F}) {
    const double scaled = static_cast<double>(peak) * power_of_two(row_exponent(bits_of(peak)));
    EXPECT_GE(scaled, 0.5) << peak;
    EXPECT_LT(scaled, peak > 8e37F ? 4.0 : 1.0) << peak;
  }
  for (const float peak : {0.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max(), 1e-42F}) {
    const std::uint32_t exponent = row_exponent(bits_of(peak));
    EXPECT_TRUE(std::isnormal(power_of_two(exponent)));
    EXPECT_TRUE(std::isnormal(inverse_power_of_two(exponent)));
  }
}

}  // namespace
}  // namespace echoform::test
