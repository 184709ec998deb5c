#include "simulators/fmc_simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "simulators/encode.hpp"
#include "simulators/noise.hpp"
#include "simulators/scene_check.hpp"

namespace echoform {
namespace {

constexpr double pulse_reach = 6.0;  // standard deviations
constexpr std::size_t cycle_limit = 1'000'000;

/// Fails unless low <= value <= high; NaN fails too.
void check_range(std::string_view where, std::string_view key, double value, double low, double high, std::string_view expected) {
  if (!(value >= low && value <= high)) {
    throw InputError(fmt::format("{} {}", where, key), fmt::format("{}", value), expected);
  }
}

/// One frame being made: where its A-scans go and what they need on the way.
class FrameWriter {
 public:
  FrameWriter(const SimulatorConfiguration& configuration, const Acquisition& acquisition, std::uint64_t frame,
              std::span<std::byte> bytes)
      : configuration_(configuration), acquisition_(acquisition), layout_(acquisition), frame_(frame), bytes_(bytes) {
    event_of_.resize(acquisition.elements(), layout_.events());
    for (std::size_t event = 0; event < layout_.events(); ++event) {
      if (const auto element = firing_element(acquisition, event)) event_of_[*element] = event;
    }
    const std::size_t m = acquisition.samples;
    signal_.resize(m);
    received_.resize(m);
    received_back_.resize(m);
    counts_.resize(m);
    counts_back_.resize(m);
  }

  /// Both directions of a pair, i <= j, as far as the frame has them: they share their echoes, which are asked for
  /// where there is something to write.
  template <class EchoesOfPair>
  void write_pair(std::size_t i, std::size_t j, const EchoesOfPair& echoes_of_pair) {
    const std::span<std::byte> forth = a_scan(i, j);
    const std::span<std::byte> back = i != j ? a_scan(j, i) : std::span<std::byte>{};
    if (forth.empty() && back.empty()) return;
    const auto& elements = acquisition_.probe.elements;
    if (elements[i].dead || elements[j].dead) {
      std::ranges::fill(forth, std::byte{0});
      std::ranges::fill(back, std::byte{0});
      return;
    }
    std::ranges::fill(signal_, 0.0F);
    for (const Echo& echo : echoes_of_pair(i, j)) {
      add_pulse(acquisition_, configuration_.fractional_bandwidth, echo, signal_);
    }
    if (layout_.sums_directions(event_of_[i], j)) return write_sum(i, j, forth);
    if (!forth.empty()) write_one(i, j, forth);
    if (!back.empty()) write_one(j, i, back);
  }

 private:
  /// Empty where the frame does not hold it.
  [[nodiscard]] std::span<std::byte> a_scan(std::size_t transmit, std::size_t receive) const {
    const auto row = layout_.row_of(event_of_[transmit], receive);
    const std::size_t size = layout_.bytes_per_row();
    return row ? bytes_.subspan(*row * size, size) : std::span<std::byte>{};
  }

  void receive(std::size_t transmit, std::size_t receiver, std::vector<float>& received) const {
    std::ranges::copy(signal_, received.begin());
    if (configuration_.noise_rms > 0.0) {
      add_noise({configuration_.seed, frame_, static_cast<std::uint32_t>(transmit), static_cast<std::uint32_t>(receiver)},
                configuration_.noise_rms, received);
    }
  }

  void convert(std::span<const float> received, std::vector<std::int16_t>& counts) const {
    quantise12(received, static_cast<float>(1.0 / acquisition_.sample_scale), counts);
  }

  void write_one(std::size_t transmit, std::size_t receiver, std::span<std::byte> place) {
    receive(transmit, receiver, received_);
    if (!configuration_.quantised) {
      std::memcpy(place.data(), received_.data(), place.size());
      return;
    }
    convert(received_, counts_);
    encode_counts(counts_, acquisition_.encoding, acquisition_.sample_scale, place);
  }

  void write_sum(std::size_t i, std::size_t j, std::span<std::byte> place) {
    receive(i, j, received_);
    receive(j, i, received_back_);
    if (!configuration_.quantised) {
      for (std::size_t n = 0; n < received_.size(); ++n) received_[n] += received_back_[n];
      std::memcpy(place.data(), received_.data(), place.size());
      return;
    }
    convert(received_, counts_);
    convert(received_back_, counts_back_);
    const bool packed = acquisition_.encoding == SampleEncoding::packed12;
    for (std::size_t n = 0; n < counts_.size(); ++n) {
      const int sum = counts_[n] + counts_back_[n];
      counts_[n] = static_cast<std::int16_t>(packed ? std::clamp(sum, converter_minimum, converter_maximum) : sum);
    }
    encode_counts(counts_, acquisition_.encoding, acquisition_.sample_scale, place);
  }

  const SimulatorConfiguration& configuration_;
  const Acquisition& acquisition_;
  FrameLayout layout_;
  std::vector<std::size_t> event_of_;  // by element; layout_.events() for those that do not fire
  std::uint64_t frame_;
  std::span<std::byte> bytes_;
  std::vector<float> signal_;
  std::vector<float> received_;
  std::vector<float> received_back_;
  std::vector<std::int16_t> counts_;
  std::vector<std::int16_t> counts_back_;
};

}  // namespace

SimulatorConfiguration demo_simulator(std::uint64_t seed) {
  SimulatorConfiguration configuration;
  configuration.seed = seed;
  configuration.phantom = default_phantom(seed);
  return configuration;
}

Grid demo_grid(std::size_t nx, std::size_t nz) {
  return {{Metres(-20e-3), Metres(20e-3), nx}, {Metres(1e-3), Metres(45e-3), nz}, {}};
}

void validate(const SimulatorConfiguration& configuration, std::string_view where) {
  const auto& c = configuration;
  // First of all: what is sized by it must not be built before it is known to be sane.
  if (c.elements == 0 || c.elements > c.limits.elements) {
    throw InputError(fmt::format("{} elements", where), fmt::format("{}", c.elements), fmt::format("1 to {}", c.limits.elements));
  }
  check_range(where, "pitch", c.pitch.value, 1e-6, 0.1, "1e-6 to 0.1 m");
  check_range(where, "element_width", c.element_width.value, 0.0, c.pitch.value,
              fmt::format("0 to the pitch, {} m", c.pitch.value));
  check_range(where, "centre_frequency", c.centre_frequency.value, 1e3, 1e9, "1e3 to 1e9 Hz");
  check_range(where, "fractional_bandwidth", c.fractional_bandwidth, 0.02, 2.0, "0.02 to 2");
  check_range(where, "longitudinal_velocity", c.material.longitudinal_velocity.value, 100.0, 2e4, "100 to 20000 m/s");
  check_range(where, "full_scale", c.full_scale, 1e-12, 1e12, "a positive number, 1e-12 to 1e12");
  check_range(where, "noise_rms", c.noise_rms, 0.0, 1e12, "0 to 1e12");
  if (c.cycle_frames == 0 || c.cycle_frames > cycle_limit) {
    throw InputError(fmt::format("{} cycle_frames", where), fmt::format("{}", c.cycle_frames),
                     fmt::format("1 to {}", cycle_limit));
  }
  for (const std::size_t element : c.dead_elements) {
    if (element >= c.elements) {
      throw InputError(fmt::format("{} dead_elements", where), fmt::format("{}", element),
                       fmt::format("0 to {}", c.elements - 1));
    }
  }
  std::vector<bool> fired(c.elements);
  for (const std::size_t element : c.fire) {
    if (element >= c.elements || fired[element]) {
      throw InputError(fmt::format("{} fire", where), fmt::format("{}{}", element, element < c.elements ? " again" : ""),
                       fmt::format("elements 0 to {}, each once", c.elements - 1));
    }
    fired[element] = true;
  }
  if (!c.quantised && c.encoding != SampleEncoding::float32) {
    throw InputError(fmt::format("{} quantised", where), "false with an integer encoding", "true, or encoding float32");
  }
  validate(acquisition_of(c), c.limits, where);
  if (!(c.sample_rate.value > 2.0 * c.centre_frequency.value)) {
    throw InputError(fmt::format("{} sample_rate", where), fmt::format("{} Hz", c.sample_rate.value),
                     fmt::format("more than twice the centre frequency, {} Hz", c.centre_frequency.value));
  }
  // A part below a couplant, or with a surface of its own, does not begin at z = 0.
  const bool half_space = c.scene.couplant.value == 0.0 && c.scene.surface.kind == CurveKind::none;
  validate(c.phantom, where, half_space ? PhantomRoom::below_zero : PhantomRoom::anywhere);
  if (!c.scene.plain()) check_scene(c, where);
}

Probe placed_probe(const SimulatorConfiguration& configuration) {
  Probe probe = acquisition_of(configuration).probe;
  const ProbePlacement& by = configuration.placement;
  const double angle = by.angle * std::numbers::pi / 180.0;
  for (Element& element : probe.elements) {
    const Metres along = element.centre.x;
    element.centre = {by.x + along * std::cos(angle), Metres(0.0), along * std::sin(angle) - by.stand_off};
    element.normal = {-std::sin(angle), 0.0, std::cos(angle)};
  }
  return probe;
}

Acquisition acquisition_of(const SimulatorConfiguration& configuration) {
  const auto& c = configuration;
  Acquisition acquisition;
  acquisition.probe =
      make_linear_probe(c.elements, c.pitch, c.element_width, c.centre_frequency, c.centre_frequency * c.fractional_bandwidth);
  for (const std::size_t element : c.dead_elements) acquisition.probe.elements[element].dead = true;
  acquisition.matrix = c.matrix;
  acquisition.events = element_events(std::vector<std::uint32_t>(c.fire.begin(), c.fire.end()));
  acquisition.encoding = c.encoding;
  acquisition.samples = c.samples;
  acquisition.sample_rate = c.sample_rate;
  acquisition.start_time = c.start_time;
  acquisition.time_offset = c.time_offset;
  acquisition.sample_scale = c.full_scale / static_cast<double>(converter_maximum);
  return acquisition;
}

FmcSimulator::FmcSimulator(SimulatorConfiguration configuration, std::string_view where)
    : configuration_((validate(configuration, where), std::move(configuration))),
      acquisition_(acquisition_of(configuration_)),
      probe_(placed_probe(configuration_)) {
  if (configuration_.scene.plain()) return;
  const SceneOptions options{configuration_.scene, configuration_.material, configuration_.spreading, configuration_.directivity};
  scene_ = std::make_shared<const SceneEchoes>(probe_, options, configuration_.phantom, phases_of(configuration_));
}

double FmcSimulator::phase(std::uint64_t frame) const {
  return static_cast<double>(frame % configuration_.cycle_frames) / static_cast<double>(configuration_.cycle_frames);
}

std::vector<TruePosition> FmcSimulator::true_positions(std::uint64_t frame) const {
  return echoform::true_positions(configuration_.phantom, phase(frame));
}

void FmcSimulator::synthesise(std::uint64_t frame, std::span<std::byte> bytes) const {
  if (bytes.size() != acquisition_.frame_bytes()) {
    throw InputError("simulated frame", fmt::format("room for {} bytes", bytes.size()),
                     fmt::format("{} bytes", acquisition_.frame_bytes()));
  }
  FrameWriter writer(configuration_, acquisition_, frame, bytes);
  std::vector<Echo> echoes;
  const auto write = [&](const auto& echoes_of_pair) {
    for (std::size_t i = 0; i < acquisition_.elements(); ++i) {
      for (std::size_t j = i; j < acquisition_.elements(); ++j) {
        writer.write_pair(i, j, echoes_of_pair);
      }
    }
  };
  if (scene_ != nullptr) {
    const SceneEchoes::Reflectors reflectors = scene_->at(phase(frame));
    write([&](std::size_t i, std::size_t j) -> const std::vector<Echo>& {
      scene_->echoes(reflectors, i, j, echoes);
      return echoes;
    });
    return;
  }
  const EchoModel model(probe_,
                        {configuration_.material.longitudinal_velocity, configuration_.spreading, configuration_.directivity},
                        configuration_.phantom, phase(frame));
  write([&](std::size_t i, std::size_t j) -> const std::vector<Echo>& {
    model.echoes(i, j, echoes);
    return echoes;
  });
}

void add_pulse(const Acquisition& acquisition, double fractional_bandwidth, const Echo& echo, std::span<float> samples) noexcept {
  const double rate = acquisition.sample_rate.value;
  const double frequency = acquisition.probe.centre_frequency.value;
  // Everything in samples from here on. s follows from the amplitude spectrum exp(-2 pi^2 s^2 (f - f0)^2), which is 1/2 at
  // f - f0 = bandwidth / 2.
  const double s = rate * std::sqrt(2.0 * std::numbers::ln2) / (std::numbers::pi * fractional_bandwidth * frequency);
  const double centre = (echo.time - acquisition.start_time.value + acquisition.time_offset.value) * rate;
  const double last_sample = static_cast<double>(samples.size()) - 1.0;
  const double first = std::max(0.0, std::ceil(centre - pulse_reach * s));
  const double last = std::min(last_sample, std::floor(centre + pulse_reach * s));
  if (!(first <= last)) return;

  // Along equally spaced samples a Gaussian's successive ratios form a geometric series, and a carrier turns by a fixed
  // angle: three products a sample and no call. The relative error after n samples is about n^2 eps, below 1e-11.
  const double t = first - centre;
  const double step = 1.0 / (s * s);
  const double turn = 2.0 * std::numbers::pi * frequency / rate;
  double gauss = echo.amplitude * std::exp(-0.5 * t * t * step);
  double ratio = std::exp(-(t + 0.5) * step);
  const double ratio_of_ratios = std::exp(-step);
  double re = std::cos(turn * t);
  double im = std::sin(turn * t);
  const double turn_re = std::cos(turn);
  const double turn_im = std::sin(turn);
  const auto end = static_cast<std::size_t>(last);
  for (auto n = static_cast<std::size_t>(first); n <= end; ++n) {
    samples[n] += static_cast<float>(gauss * re);
    gauss *= ratio;
    ratio *= ratio_of_ratios;
    const double next = re * turn_re - im * turn_im;
    im = re * turn_im + im * turn_re;
    re = next;
  }
}

}  // namespace echoform
