// Quickly synthesises the signals that receivers get from very many scatterers: first echoes as spikes, then the pulse and
// the delays of events as products of spectra.
//
// The echo model is echo_model.hpp's, so is the pulse (pulse.hpp). For each receiver and each element that fires, every scatterer
// adds one spike, shared between two neighbours of a grid that is finer than the samples; the row's spectrum times the pulse's,
// the mean of what sharing takes away put back, is the element's signal; an event's is the sum over its elements, later by their
// delays. No wave front is assumed. An echo is right to 1e-3 of its amplitude three deviations of the pulse's spectrum above its
// centre, and to better than that in proportion to the square of the frequency below: some 3e-4 (-70 dB) at the centre; errors of
// many echoes are not in phase and add up as their powers do. Spectra are cut 4.5 deviations from the centre (4e-5).
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/firings.hpp"
#include "simulators/echo_model.hpp"
#include "simulators/scatterers.hpp"

struct fftwf_plan_s;

namespace echoform {

class ScattererSynthesis {
 public:
  /// Expects a validated acquisition; `placed` is its probe at its place in the part. Throws RuntimeFault where memory is
  /// lacking.
  ScattererSynthesis(const Acquisition& acquisition, const Probe& placed, const EchoModelOptions& options,
                     double fractional_bandwidth);
  ~ScattererSynthesis();
  ScattererSynthesis(const ScattererSynthesis&) = delete;
  ScattererSynthesis& operator=(const ScattererSynthesis&) = delete;

  /// Number of values of a frame, [row, sample].
  [[nodiscard]] std::size_t frame_samples() const noexcept { return rows_ * samples_; }

  /// Adds the scatterers' echoes for all events to `frame`, which has frame_samples() values. Takes one product for each
  /// scatterer, element and receiver, with `threads` threads (0: all processors). Safe from several threads at once.
  void add(std::span<const Scatterer> scatterers, std::span<float> frame, std::size_t threads) const;
  /// The same of `event` alone, for scatterers that move between events: one product a scatterer, firing element and receiver.
  void add_event(std::size_t event, std::span<const Scatterer> scatterers, std::span<float> frame) const;

 private:
  struct Row {
    std::size_t event;
    std::size_t row;
  };
  /// The legs from one element to every scatterer.
  struct Legs {
    std::vector<std::int32_t> times;  // in parts of a step of the grid; half of where the grid begins is taken off
    std::vector<float> factors;       // directivity and spreading
  };
  class Workspace;

  [[nodiscard]] std::vector<Legs> legs_to(std::span<const Scatterer> scatterers, std::size_t threads) const;
  void add_spikes(const Legs& transmit, const Legs& receive, std::span<const float> reflectivities, double delay, float weight,
                  std::span<float> grid) const;
  void to_spectrum(Workspace& work, std::span<float> re, std::span<float> im) const;
  void add_delayed(std::span<const float> re, std::span<const float> im, double delay, double weight, Workspace& work) const;
  void add_signal(Workspace& work, std::span<float> row) const;

  Probe probe_;
  EchoModelOptions options_;
  Metres wavelength_;
  std::size_t rows_;
  std::size_t samples_;
  std::vector<std::vector<Firing>> firings_;       // by event, of living elements
  std::vector<std::vector<Row>> rows_of_;          // by receiver
  std::vector<std::vector<std::uint32_t>> fires_;  // by receiver: the elements that it hears
  double rate_;
  double before_ = 0.0;      // samples by which the grid begins ahead of the first sample
  std::size_t length_ = 0;   // of the grid in samples
  std::size_t finer_ = 1;    // steps of the grid a sample
  unsigned part_bits_ = 10;  // of a time, below one step of the grid
  double half_start_ = 0.0;  // steps
  std::size_t first_bin_ = 0;
  std::size_t bins_ = 0;  // a whole number of blocks
  std::vector<float> gains_;
  fftwf_plan_s* forward_ = nullptr;   // of the fine grid
  fftwf_plan_s* backward_ = nullptr;  // of samples
};

}  // namespace echoform
