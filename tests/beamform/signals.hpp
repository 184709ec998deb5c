// What the beamformer's tests image: random signals, the forms in which the stage takes them, and a plan above a linear array.
#pragma once

#include <complex>
#include <numbers>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "delay_laws/delay_law.hpp"
#include "methods/tfm/plan.hpp"
#include "pipeline/block.hpp"
#include "tests/beamform/options_of.hpp"

namespace echoform {

/// Smooth random signals: band-limited as real A-scans are, so that neighbouring samples are related and an error of a delay
/// shows as an error of the image in proportion.
struct Signals {
  std::size_t elements;
  std::size_t samples;
  std::vector<std::complex<float>> values;  // [tx, rx, sample], reciprocal if asked for

  Signals(std::size_t n, std::size_t m, unsigned seed, bool reciprocal) : Signals(n, m) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (std::size_t tx = 0; tx < n; ++tx) {
      for (std::size_t rx = reciprocal ? tx : 0; rx < n; ++rx) {
        std::vector<std::complex<double>> row(m);
        for (int tone = 0; tone < 6; ++tone) {
          const double frequency = 0.05 + 0.03 * tone;
          const std::complex<double> amplitude(normal(random), normal(random));
          for (std::size_t k = 0; k < m; ++k)
            row[k] += amplitude * std::polar(1.0, 2.0 * std::numbers::pi * frequency * static_cast<double>(k));
        }
        for (std::size_t k = 0; k < m; ++k) {
          at(tx, rx, k) = std::complex<float>(row[k]);
          if (reciprocal) at(rx, tx, k) = std::complex<float>(row[k]);
        }
      }
    }
  }
  /// Neither samples nor A-scans know anything of each other, but for those of reciprocal pairs: for lookups that have to be
  /// exact.
  static Signals white(std::size_t n, std::size_t m, unsigned seed, bool reciprocal) {
    Signals signals(n, m);
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (std::size_t tx = 0; tx < n; ++tx) {
      for (std::size_t rx = reciprocal ? tx : 0; rx < n; ++rx) {
        for (std::size_t k = 0; k < m; ++k) {
          const float real = normal(random);
          signals.at(tx, rx, k) = {real, normal(random)};
          if (reciprocal) signals.at(rx, tx, k) = signals.at(tx, rx, k);
        }
      }
    }
    return signals;
  }

  std::complex<float>& at(std::size_t tx, std::size_t rx, std::size_t k) { return values[(tx * elements + rx) * samples + k]; }
  [[nodiscard]] const std::complex<float>& at(std::size_t tx, std::size_t rx, std::size_t k) const {
    return values[(tx * elements + rx) * samples + k];
  }

 private:
  Signals(std::size_t n, std::size_t m) : elements(n), samples(m), values(n * n * m) {}
};

/// The signals as the beamformer's input in one of its forms.
struct Input {
  BlockSpec spec;
  PairRows pairs;
  std::vector<float> data;

  Input(const Signals& signals, MatrixKind kind) {
    const std::size_t n = signals.elements;
    spec.type = ElementType::planar_complex64;
    pairs = rows_of(kind, n);
    spec.rows = pairs.rows;
    spec.columns = signals.samples;
    spec.row_stride = (signals.samples + 64 + 15) / 16 * 16;
    data.assign(spec.rows * 2 * spec.row_stride, 0.0F);
    std::size_t row = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = kind == MatrixKind::full ? 0 : i; j < n; ++j, ++row) {
        for (std::size_t k = 0; k < signals.samples; ++k) {
          std::complex<float> value = signals.at(i, j, k);
          if (kind == MatrixKind::half_summed && i != j) value += signals.at(j, i, k);
          data[2 * row * spec.row_stride + k] = value.real();
          data[(2 * row + 1) * spec.row_stride + k] = value.imag();
        }
      }
    }
  }
};

/// The signals of these elements' firings, in this order, received by all.
inline Input input_of_firings(const Signals& signals, const std::vector<std::uint32_t>& firing) {
  const Input full(signals, MatrixKind::full);
  Input input = full;
  input.pairs = all_pairs(firing.size(), signals.elements);
  input.spec.rows = input.pairs.rows;
  input.data.clear();
  const std::size_t of_event = signals.elements * 2 * full.spec.row_stride;
  for (const std::uint32_t element : firing) {
    const auto first = full.data.begin() + static_cast<std::ptrdiff_t>(element * of_event);
    input.data.insert(input.data.end(), first, first + static_cast<std::ptrdiff_t>(of_event));
  }
  return input;
}

/// The signals as combine_pairs() has the rows of frames of `acquisition`.
inline Input input_of_received(const Signals& signals, const Acquisition& acquisition, bool reciprocal) {
  const Input full(signals, MatrixKind::full);
  const CombinedPairs combined = combine_pairs(acquisition, reciprocal);
  const std::vector<EventReceiver> received = FrameLayout(acquisition).pairs();
  Input input = full;
  input.pairs = combined.pairs;
  input.spec.rows = input.pairs.rows;
  const std::size_t floats = 2 * full.spec.row_stride;
  input.data.assign(input.spec.rows * floats, 0.0F);
  for (std::size_t row = 0; row < input.pairs.rows; ++row) {
    const PairSource& source = combined.sources[row];
    if (source.weight == 0.0F) continue;
    const auto add = [&](std::size_t a_scan) {
      const std::size_t element = *firing_element(acquisition, received[a_scan].event);
      const float* const from = full.data.data() + (element * signals.elements + received[a_scan].receiver) * floats;
      for (std::size_t k = 0; k < floats; ++k) input.data[row * floats + k] += from[k];
    };
    add(source.first);
    if (source.second != source.first) add(source.second);
  }
  return input;
}

inline ImagingPlan make_plan(std::size_t elements, std::size_t samples, Grid grid, std::string_view view = "LL") {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(elements, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  plan.acquisition.samples = samples;
  plan.acquisition.sample_rate = Hertz(40e6);
  plan.material = {MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
  plan.grid = grid;
  plan.laws = {make_delay_law("contact", {plan.acquisition, plan.material, std::string(view)})};
  return plan;
}

}  // namespace echoform
