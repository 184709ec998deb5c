#include "simulators/scatterer_synthesis.hpp"

#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <new>
#include <numbers>
#include <numeric>

#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "cpu/fftw_lock.hpp"
#include "cpu/thread_team.hpp"
#include "simulators/pulse.hpp"

namespace echoform {
namespace {

constexpr std::size_t block = 32;  // bins whose phases follow from one by a table
constexpr double reach = 6.0;      // of the pulse, in its deviations
constexpr double band = 4.5;       // of its spectrum, likewise
constexpr double sharing_error = 1e-3;

struct FreeFftw {
  void operator()(void* memory) const noexcept { fftwf_free(memory); }
};
using Reals = std::unique_ptr<float[], FreeFftw>;

Reals make_reals(std::size_t count) {
  Reals array(fftwf_alloc_real(count));
  if (!array)
    throw RuntimeFault(fmt::format("no memory: {:.1f} MB wanted for simulated echoes", 4e-6 * static_cast<double>(count)));
  std::fill_n(array.get(), count, 0.0F);
  return array;
}

/// At least `least`, even, without prime factors above 5: FFTW is quick with those.
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

fftwf_complex* as_complex(float* values) {
  return reinterpret_cast<fftwf_complex*>(values);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast): FFTW's layout
}

}  // namespace

/// What one thread works in.
class ScattererSynthesis::Workspace {
 public:
  explicit Workspace(const ScattererSynthesis& of)
      : grid(make_reals(of.length_ * of.finer_)),
        fine_spectrum(make_reals(of.length_ * of.finer_ + 2)),
        spectrum(make_reals(of.length_ + 2)),
        signal(make_reals(of.length_)),
        sum_re(of.bins_),
        sum_im(of.bins_) {}

  Reals grid;
  Reals fine_spectrum;
  Reals spectrum;
  Reals signal;
  std::vector<float> sum_re;  // of an event
  std::vector<float> sum_im;
};

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
  // Whatever a delay moves round the end of the grid must stay off the samples.
  const double pulse = std::ceil(reach * deviation) + 1.0;
  before_ = std::ceil(most) + pulse;
  length_ = quick_length(samples_ + static_cast<std::size_t>(std::ceil(most - least) + 2.0 * pulse) + 2);
  // Shared between neighbours, what is h radians from one to the next is off by at most h^2 / 12 of the mean.
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
  bins_ = (wanted + block - 1) / block * block;
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

std::vector<ScattererSynthesis::Legs> ScattererSynthesis::legs_to(std::span<const Scatterer> scatterers,
                                                                  std::size_t threads) const {
  std::vector<Legs> legs(probe_.elements.size());
  for (Legs& leg : legs) {
    leg.times.resize(scatterers.size());
    leg.factors.resize(scatterers.size());
  }
  const double to_parts = static_cast<double>(finer_) * static_cast<double>(1U << part_bits_);
  const double farthest = static_cast<double>(std::int32_t{1} << 29);  // so that sums of two do not overflow
  ThreadTeam team(threads, "echoform-sim");
  team.for_each(legs.size(), 1, [&](std::size_t begin, std::size_t end, std::size_t /*member*/) {
    for (std::size_t e = begin; e < end; ++e) {
      const Element& element = probe_.elements[e];
      for (std::size_t s = 0; s < scatterers.size(); ++s) {
        const Point& place = scatterers[s].place;
        const double dx = (place.x - element.centre.x).value;
        const double dy = (place.y - element.centre.y).value;
        const double dz = (place.z - element.centre.z).value;
        const double way = std::sqrt(dx * dx + dy * dy + dz * dz);
        const double time =
            way / options_.velocity.value * rate_ * to_parts - half_start_ * static_cast<double>(1U << part_bits_);
        const double directivity = options_.directivity ? element_directivity(element, place, wavelength_) : 1.0;
        legs[e].times[s] = static_cast<std::int32_t>(std::lround(std::clamp(time, -farthest, farthest)));
        legs[e].factors[s] = static_cast<float>(directivity * spreading_factor(options_.spreading, Metres(way), wavelength_));
      }
    }
  });
  return legs;
}

void ScattererSynthesis::add_spikes(const Legs& transmit, const Legs& receive, std::span<const float> reflectivities,
                                    double delay, float weight, std::span<float> grid) const {
  const auto later =
      static_cast<std::int32_t>(std::lround(delay * rate_ * static_cast<double>(finer_) * static_cast<double>(1U << part_bits_)));
  const auto last = static_cast<std::uint32_t>(grid.size() - 1);
  const std::int32_t below = (std::int32_t{1} << part_bits_) - 1;
  const float part = 1.0F / static_cast<float>(1U << part_bits_);
  const std::int32_t* const out = transmit.times.data();
  const std::int32_t* const back = receive.times.data();
  for (std::size_t s = 0; s < reflectivities.size(); ++s) {
    const std::int32_t time = out[s] + back[s] + later;
    const auto step = static_cast<std::uint32_t>(time >> part_bits_);  // one before the grid counts as one far behind it
    if (step >= last) continue;
    const float amplitude = weight * transmit.factors[s] * receive.factors[s] * reflectivities[s];
    const float upper = amplitude * part * static_cast<float>(time & below);
    grid[step] += amplitude - upper;
    grid[step + 1] += upper;
  }
}

void ScattererSynthesis::to_spectrum(Workspace& work, std::span<float> re, std::span<float> im) const {
  fftwf_execute_dft_r2c(forward_, work.grid.get(), as_complex(work.fine_spectrum.get()));
  const float* const from = work.fine_spectrum.get() + 2 * first_bin_;
  for (std::size_t k = 0; k < gains_.size(); ++k) {
    re[k] = gains_[k] * from[2 * k];
    im[k] = gains_[k] * from[2 * k + 1];
  }
}

void ScattererSynthesis::add_delayed(std::span<const float> re, std::span<const float> im, double delay, double weight,
                                     Workspace& work) const {
  // The grid begins before_ samples ahead of the signal.
  const double turn = -2.0 * std::numbers::pi * (delay * rate_ - before_) / static_cast<double>(length_);
  std::array<float, block> table_re;
  std::array<float, block> table_im;
  const std::complex<double> step = std::polar(1.0, turn);
  std::complex<double> phase = 1.0;
  for (std::size_t l = 0; l < block; ++l, phase *= step) {
    table_re[l] = static_cast<float>(phase.real());
    table_im[l] = static_cast<float>(phase.imag());
  }
  const std::complex<double> block_step = phase;
  phase = std::polar(weight, turn * static_cast<double>(first_bin_));
  for (std::size_t first = 0; first < bins_; first += block, phase *= block_step) {
    const auto c = static_cast<float>(phase.real());
    const auto s = static_cast<float>(phase.imag());
    const float* const x = re.data() + first;
    const float* const y = im.data() + first;
    float* const sum_x = work.sum_re.data() + first;
    float* const sum_y = work.sum_im.data() + first;
    for (std::size_t l = 0; l < block; ++l) {
      const float u = c * table_re[l] - s * table_im[l];
      const float v = c * table_im[l] + s * table_re[l];
      sum_x[l] += x[l] * u - y[l] * v;
      sum_y[l] += x[l] * v + y[l] * u;
    }
  }
}

void ScattererSynthesis::add_signal(Workspace& work, std::span<float> row) const {
  std::fill_n(work.spectrum.get(), length_ + 2, 0.0F);
  const std::size_t half = length_ / 2;
  const auto add_to = [&](std::size_t bin, float re, float im) {
    if (bin > half) return;
    work.spectrum[2 * bin] += re;
    work.spectrum[2 * bin + 1] += im;
  };
  // What lies beyond half the sampling rate is sampled as it is: folded.
  for (std::size_t k = 0; k < gains_.size(); ++k) {
    const std::size_t bin = (first_bin_ + k) % length_;
    add_to(bin, work.sum_re[k], work.sum_im[k]);
    if (first_bin_ + k > 0) add_to((length_ - bin) % length_, work.sum_re[k], -work.sum_im[k]);
  }
  fftwf_execute_dft_c2r(backward_, as_complex(work.spectrum.get()), work.signal.get());
  for (std::size_t n = 0; n < samples_; ++n) row[n] += work.signal[n];
}

void ScattererSynthesis::add(std::span<const Scatterer> scatterers, std::span<float> frame, std::size_t threads) const {
  if (scatterers.empty()) return;
  // By their distance, so that neighbours' spikes are neighbours in memory.
  std::vector<Scatterer> sorted(scatterers.begin(), scatterers.end());
  std::ranges::sort(sorted, {}, [](const Scatterer& scatterer) { return scatterer.place.z.value; });
  std::vector<float> reflectivities;
  for (const Scatterer& scatterer : sorted) reflectivities.push_back(static_cast<float>(scatterer.reflectivity));
  const std::vector<Legs> legs = legs_to(sorted, threads);

  ThreadTeam team(threads, "echoform-sim");
  const std::size_t elements = probe_.elements.size();
  struct Member {
    Workspace work;
    std::vector<float> re, im;  // [element, bin]
  };
  std::vector<Member> members;
  members.reserve(team.size());
  for (std::size_t k = 0; k < team.size(); ++k) {
    members.push_back({Workspace(*this), std::vector<float>(elements * bins_), std::vector<float>(elements * bins_)});
  }
  team.for_each(rows_of_.size(), 1, [&](std::size_t begin, std::size_t end, std::size_t member) {
    auto& [work, re, im] = members[member];
    const auto of = [&](std::vector<float>& spectra, std::size_t element) {
      return std::span(spectra).subspan(element * bins_, bins_);
    };
    for (std::size_t receiver = begin; receiver < end; ++receiver) {
      for (const std::uint32_t element : fires_[receiver]) {
        const std::span<float> grid(work.grid.get(), length_ * finer_);
        std::ranges::fill(grid, 0.0F);
        add_spikes(legs[element], legs[receiver], reflectivities, 0.0, 1.0F, grid);
        to_spectrum(work, of(re, element), of(im, element));
      }
      for (const Row& row : rows_of_[receiver]) {
        std::ranges::fill(work.sum_re, 0.0F);
        std::ranges::fill(work.sum_im, 0.0F);
        for (const Firing& firing : firings_[row.event]) {
          add_delayed(of(re, firing.element), of(im, firing.element), firing.delay, firing.weight, work);
        }
        add_signal(work, frame.subspan(row.row * samples_, samples_));
      }
    }
  });
}

void ScattererSynthesis::add_event(std::size_t event, std::span<const Scatterer> scatterers, std::span<float> frame) const {
  if (scatterers.empty()) return;
  std::vector<float> reflectivities;
  for (const Scatterer& scatterer : scatterers) reflectivities.push_back(static_cast<float>(scatterer.reflectivity));
  const std::vector<Legs> legs = legs_to(scatterers, 1);
  Workspace work(*this);
  std::vector<float> re(bins_);
  std::vector<float> im(bins_);
  for (std::size_t receiver = 0; receiver < rows_of_.size(); ++receiver) {
    for (const Row& row : rows_of_[receiver]) {
      if (row.event != event) continue;
      const std::span<float> grid(work.grid.get(), length_ * finer_);
      std::ranges::fill(grid, 0.0F);
      for (const Firing& firing : firings_[event]) {
        add_spikes(legs[firing.element], legs[receiver], reflectivities, firing.delay, static_cast<float>(firing.weight), grid);
      }
      to_spectrum(work, re, im);
      std::ranges::fill(work.sum_re, 0.0F);
      std::ranges::fill(work.sum_im, 0.0F);
      add_delayed(re, im, 0.0, 1.0, work);
      add_signal(work, frame.subspan(row.row * samples_, samples_));
    }
  }
}

}  // namespace echoform
