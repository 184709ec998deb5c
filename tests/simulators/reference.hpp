// Plain double-precision references for the tests of the simulated source: written from the formulas, sharing no code with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <span>
#include <stdexcept>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform::test {

using Complex = std::complex<double>;
using Signal = std::vector<double>;
using AnalyticSignal = std::vector<Complex>;

/// Radix-2 transform in place; sign -1 forward, +1 inverse without the 1/M. The length is a power of two.
inline void transform(AnalyticSignal& data, int sign) {
  const std::size_t m = data.size();
  if (m == 0 || (m & (m - 1)) != 0) throw std::logic_error("length must be a power of two");
  for (std::size_t i = 1, j = 0; i < m; ++i) {
    std::size_t bit = m >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(data[i], data[j]);
  }
  for (std::size_t size = 2; size <= m; size <<= 1) {
    const std::size_t half = size / 2;
    for (std::size_t k = 0; k < half; ++k) {
      const Complex twiddle = std::polar(1.0, sign * 2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size));
      for (std::size_t i = k; i < m; i += size) {
        const Complex odd = data[i + half] * twiddle;
        data[i + half] = data[i] - odd;
        data[i] += odd;
      }
    }
  }
}

/// One-sided spectrum of the analytic signal: DC and Nyquist once, positive frequencies twice, negative ones not at all.
inline AnalyticSignal analytic_spectrum(const Signal& signal) {
  AnalyticSignal data(signal.begin(), signal.end());
  transform(data, -1);
  const std::size_t m = data.size();
  for (std::size_t k = 1; k < m / 2; ++k) data[k] *= 2.0;
  for (std::size_t k = m / 2 + 1; k < m; ++k) data[k] = 0.0;
  return data;
}

inline AnalyticSignal analytic(const Signal& signal) {
  AnalyticSignal data = analytic_spectrum(signal);
  transform(data, +1);
  for (Complex& value : data) value /= static_cast<double>(data.size());
  return data;
}

/// Place of the largest envelope, to far below a sample: the band-limited signal between the samples, by its Fourier sum.
inline double envelope_peak(const Signal& signal) {
  const AnalyticSignal spectrum = analytic_spectrum(signal);
  const auto m = static_cast<double>(signal.size());
  const auto envelope = [&](double u) {
    Complex sum = 0.0;
    for (std::size_t k = 0; k <= signal.size() / 2; ++k) {
      sum += spectrum[k] * std::polar(1.0, 2.0 * std::numbers::pi * static_cast<double>(k) * u / m);
    }
    return std::norm(sum);
  };
  const AnalyticSignal samples = analytic(signal);
  const auto top =
      std::max_element(samples.begin(), samples.end(), [](Complex a, Complex b) { return std::norm(a) < std::norm(b); });
  double low = static_cast<double>(top - samples.begin()) - 1.0;
  double high = low + 2.0;
  while (high - low > 1e-6) {  // ternary search: one maximum in here
    const double a = low + (high - low) / 3.0;
    const double b = high - (high - low) / 3.0;
    (envelope(a) < envelope(b) ? low : high) = envelope(a) < envelope(b) ? a : b;
  }
  return 0.5 * (low + high);
}

/// Counts of one A-scan as int16 or packed 12 bit, or float32 samples, as the wire's rules say.
inline Signal decode(std::span<const std::byte> bytes, SampleEncoding encoding, std::size_t samples) {
  const auto byte = [&](std::size_t at) { return std::to_integer<unsigned>(bytes[at]); };
  Signal out(samples);
  for (std::size_t n = 0; n < samples; ++n) {
    if (encoding == SampleEncoding::int16) {
      const unsigned word = byte(2 * n) | byte(2 * n + 1) << 8;
      out[n] = word < 32768U ? static_cast<double>(word) : static_cast<double>(word) - 65536.0;
    } else if (encoding == SampleEncoding::packed12) {
      const std::size_t bit = 12 * n;
      unsigned word = 0;
      for (std::size_t b = 0; b < 12; ++b) word |= (byte((bit + b) / 8) >> ((bit + b) % 8) & 1U) << b;
      out[n] = word < 2048U ? static_cast<double>(word) : static_cast<double>(word) - 4096.0;
    } else {
      float value = 0.0F;
      std::memcpy(&value, bytes.data() + 4 * n, 4);
      out[n] = static_cast<double>(value);
    }
  }
  return out;
}

/// A-scan (transmit, receive) of a frame; for half matrices transmit <= receive.
inline Signal a_scan(const Acquisition& acquisition, std::span<const std::byte> frame, std::size_t transmit,
                     std::size_t receive) {
  const std::size_t n = acquisition.probe.elements.size();
  const std::size_t m = acquisition.samples;
  const std::size_t size = acquisition.encoding == SampleEncoding::int16      ? 2 * m
                           : acquisition.encoding == SampleEncoding::packed12 ? (3 * m + 1) / 2
                                                                              : 4 * m;
  std::size_t row = transmit * n + receive;
  if (acquisition.matrix != MatrixKind::full) {
    row = 0;
    for (std::size_t i = 0; i < transmit; ++i) row += n - i;
    row += receive - transmit;
  }
  return decode(frame.subspan(row * size, size), acquisition.encoding, m);
}

/// Analytic signals of all ordered pairs of a FULL frame, [tx, rx].
inline std::vector<AnalyticSignal> analytic_matrix(const Acquisition& acquisition, std::span<const std::byte> frame) {
  const std::size_t n = acquisition.probe.elements.size();
  std::vector<AnalyticSignal> all(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) all[i * n + j] = analytic(a_scan(acquisition, frame, i, j));
  }
  return all;
}

/// Envelope of the total-focusing image at (x, z), y = 0: linear interpolation, divided by N^2.
inline double focus(const Acquisition& acquisition, const std::vector<AnalyticSignal>& matrix, double velocity, double x,
                    double z) {
  const auto& elements = acquisition.probe.elements;
  const std::size_t n = elements.size();
  const auto last = static_cast<double>(acquisition.samples - 1);
  std::vector<double> delay(n);
  for (std::size_t i = 0; i < n; ++i) {
    delay[i] = std::hypot(x - elements[i].centre.x.value, z - elements[i].centre.z.value) / velocity;
  }
  Complex sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double u =
          (delay[i] + delay[j] - acquisition.start_time.value + acquisition.time_offset.value) * acquisition.sample_rate.value;
      if (!(u >= 0.0 && u < last)) continue;
      const auto k = static_cast<std::size_t>(u);
      const double f = u - static_cast<double>(k);
      const AnalyticSignal& s = matrix[i * n + j];
      sum += (1.0 - f) * s[k] + f * s[k + 1];
    }
  }
  return std::abs(sum) / static_cast<double>(n * n);
}

}  // namespace echoform::test
