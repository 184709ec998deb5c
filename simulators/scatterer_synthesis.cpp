#include "simulators/scatterer_synthesis.hpp"

#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>

#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "cpu/fftw_lock.hpp"
#include "simulators/pulse.hpp"
#include "simulators/scatterer_workspace.hpp"

namespace echoform {
namespace {

constexpr double reach = 6.0;  // of the pulse, in its standard deviations
constexpr double band = 4.5;   // of its spectrum, likewise
constexpr double sharing_error = 1e-3;

/// An even length of at least `least` without prime factors above 5: FFTW is fast with those.
std::size_t quick_length(std::size_t least) {
  for (std::size_t length = least + least % 2;; length += 2) {
    std::size_t rest = length;
    for (const std::size_t factor : {2U, 3U, 5U}) {
      while (rest % factor == 0) rest /= factor;
    }
    if (rest == 1) return length;
  }
}

double sinc(double x) {
  const double angle = std::numbers::pi * x;
  return std::abs(angle) < 1e-8 ? 1.0 : std::sin(angle) / angle;
}

}  // namespace

ScattererSynthesis::ScattererSynthesis(const Acquisition& acquisition, const Probe& placed, const EchoModelOptions& options,
                                       double fractional_bandwidth)
    : probe_(placed),
      options_(options),
      wavelength_(options.velocity / acquisition.probe.centre_frequency),
      samples_(acquisition.samples),
      rows_of_(acquisition.elements()),
      fires_(acquisition.elements()),
      rate_(acquisition.sample_rate.value) {
  const auto dead = [&](std::size_t element) { return acquisition.probe.elements[element].dead; };
  double least = 0.0;
  double most = 0.0;
  for (std::size_t event = 0; event < acquisition.event_count(); ++event) {
    firings_.push_back(firings_of(acquisition, event));
    std::erase_if(firings_.back(), [&](const Firing& firing) { return dead(firing.element); });
    for (const Firing& firing : firings_.back()) {
      least = std::min(least, firing.delay * rate_);
      most = std::max(most, firing.delay * rate_);
    }
  }
  const std::vector<EventReceiver> pairs = FrameLayout(acquisition).pairs();
  rows_ = pairs.size();
  for (std::size_t row = 0; row < rows_; ++row) {
    const EventReceiver pair = pairs[row];
    if (dead(pair.receiver) || firings_[pair.event].empty()) continue;
    rows_of_[pair.receiver].push_back({pair.event, row});
  }
  for (std::size_t receiver = 0; receiver < rows_of_.size(); ++receiver) {
    std::vector<bool> heard(acquisition.elements());
    for (const Row& row : rows_of_[receiver]) {
      for (const Firing& firing : firings_[row.event]) heard[firing.element] = true;
    }
    for (std::uint32_t element = 0; element < heard.size(); ++element) {
      if (heard[element]) fires_[receiver].push_back(element);
    }
  }

  const double deviation = PulseTable::samples_of(acquisition, fractional_bandwidth) / (2.0 * reach);  // samples
  const double centre = acquisition.probe.centre_frequency.value / rate_;                              // cycles a sample
  const double width = 1.0 / (2.0 * std::numbers::pi * deviation);
  // Values that a delay shifts around the end of the grid must not reach the samples.
  const double pulse = std::ceil(reach * deviation) + 1.0;
  before_ = std::ceil(most) + pulse;
  length_ = quick_length(samples_ + static_cast<std::size_t>(std::ceil(most - least) + 2.0 * pulse) + 2);
  // A spike is shared between two neighbours of the fine grid. If the wave advances by h radians from one to the next, the gain
  // differs from its mean by at most h^2 / 12 of it.
  const double turn = 2.0 * std::numbers::pi * (centre + 3.0 * width);
  finer_ = quick_length(static_cast<std::size_t>(std::ceil(turn / std::sqrt(12.0 * sharing_error))));
  const std::size_t fine = length_ * finer_;
  while (part_bits_ > 4 && (fine << part_bits_) >= (std::size_t{1} << 30)) --part_bits_;
  if ((fine << part_bits_) >= (std::size_t{1} << 30)) {
    throw InputError("simulated scatterers", fmt::format("A-scans of {} samples", samples_), "shorter ones, or none");
  }
  const double start = (acquisition.start_time - acquisition.time_offset).value * rate_ - before_;
  half_start_ = 0.5 * start * static_cast<double>(finer_);

  const auto size = static_cast<double>(length_);
  const double first = std::max(0.0, std::floor((centre - band * width) * size));
  const double last = std::min(std::ceil((centre + band * width) * size), 0.5 * static_cast<double>(fine) - 1.0);
  first_bin_ = static_cast<std::size_t>(first);
  const std::size_t wanted = static_cast<std::size_t>(last - first) + 1;
  bins_ = (wanted + scatterer_block - 1) / scatterer_block * scatterer_block;
  gains_.resize(wanted);
  for (std::size_t k = 0; k < wanted; ++k) {
    const double frequency = static_cast<double>(first_bin_ + k) / size;
    const auto side = [&](double from) { return std::exp(-0.5 * from * from / (width * width)); };
    const double of_pulse =
        0.5 * deviation * std::sqrt(2.0 * std::numbers::pi) * (side(frequency - centre) + side(frequency + centre));
    const double kept = sinc(frequency / static_cast<double>(finer_));
    gains_[k] = static_cast<float>(of_pulse / (kept * kept * size));
  }

  Workspace work(*this);
  const std::lock_guard lock(fftw_lock());
  forward_ = fftwf_plan_dft_r2c_1d(static_cast<int>(fine), work.grid.get(), as_complex(work.fine_spectrum.get()), FFTW_ESTIMATE);
  backward_ = fftwf_plan_dft_c2r_1d(static_cast<int>(length_), as_complex(work.spectrum.get()), work.signal.get(), FFTW_ESTIMATE);
  if (forward_ == nullptr || backward_ == nullptr) throw RuntimeFault(fmt::format("no transform of {} numbers", fine));
}

ScattererSynthesis::~ScattererSynthesis() {
  const std::lock_guard lock(fftw_lock());
  fftwf_destroy_plan(forward_);
  fftwf_destroy_plan(backward_);
}

}  // namespace echoform
