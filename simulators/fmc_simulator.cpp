#include "simulators/fmc_simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "acquisition/firings.hpp"
#include "acquisition/frame_layout.hpp"
#include "acquisition/positions.hpp"
#include "base/errors.hpp"
#include "simulators/a_scan_writer.hpp"
#include "simulators/encode.hpp"
#include "simulators/event_synthesis.hpp"
#include "simulators/scene_check.hpp"
#include "simulators/sound_check.hpp"
#include "simulators/sound_synthesis.hpp"

namespace echoform {
namespace {

constexpr std::size_t cycle_limit = 1'000'000;

/// Fails unless low <= value <= high; NaN fails too.
void check_range(std::string_view where, std::string_view key, double value, double low, double high, std::string_view expected) {
  if (!(value >= low && value <= high)) {
    throw InputError(fmt::format("{} {}", where, key), fmt::format("{}", value), expected);
  }
}

/// Writes a frame in which elements fire one after the other. It goes pair by pair, since both directions of a pair share their
/// echoes.
class PairSynthesis {
 public:
  PairSynthesis(const Acquisition& acquisition, double fractional_bandwidth, AScanWriter& writer, std::span<std::byte> frame)
      : acquisition_(acquisition),
        fractional_bandwidth_(fractional_bandwidth),
        layout_(acquisition),
        event_of_(acquisition.elements(), layout_.events()),
        writer_(writer),
        frame_(frame),
        signal_(acquisition.samples) {
    for (std::size_t event = 0; event < layout_.events(); ++event) {
      if (const auto element = firing_element(acquisition, event)) event_of_[*element] = event;
    }
  }

  void write(const EchoesOfPair& echoes_of_pair) {
    for (std::size_t i = 0; i < acquisition_.elements(); ++i) {
      for (std::size_t j = i; j < acquisition_.elements(); ++j) write_pair(i, j, echoes_of_pair);
    }
  }

 private:
  /// Writes both directions of a pair, i <= j, as far as the frame has them. Echoes are computed only if there is something to
  /// write.
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
    for (const Echo& echo : echoes_of_pair(i, j)) add_pulse(acquisition_, fractional_bandwidth_, echo, signal_);
    if (layout_.sums_directions(event_of_[i], j)) return writer_.write_sum(signal_, i, j, forth);
    if (!forth.empty()) writer_.write(signal_, i, j, forth);
    if (!back.empty()) writer_.write(signal_, j, i, back);
  }

  /// The bytes of an A-scan; empty if the frame does not have it.
  [[nodiscard]] std::span<std::byte> a_scan(std::size_t transmit, std::size_t receive) const {
    const auto row = layout_.row_of(event_of_[transmit], receive);
    const std::size_t size = layout_.bytes_per_row();
    return row ? frame_.subspan(*row * size, size) : std::span<std::byte>{};
  }

  const Acquisition& acquisition_;
  double fractional_bandwidth_;
  FrameLayout layout_;
  std::vector<std::size_t> event_of_;  // index: element; layout_.events() for elements that do not fire
  AScanWriter& writer_;
  std::span<std::byte> frame_;
  std::vector<float> signal_;
};

/// The maximum number of elements that fire at once, each counted by its weight: an event may be louder than one element by this
/// factor.
double loudest_event(const Acquisition& acquisition) {
  if (fires_single_elements(acquisition)) return 1.0;
  double loudest = 0.0;
  for (std::size_t event = 0; event < acquisition.event_count(); ++event) {
    const std::vector<Firing> firings = firings_of(acquisition, event);
    loudest = std::max(loudest, std::accumulate(firings.begin(), firings.end(), 0.0,
                                                [](double sum, const Firing& firing) { return sum + std::abs(firing.weight); }));
  }
  return loudest;
}

/// Fires the events of one position at all of them.
void repeat_at_positions(const std::vector<Pose>& positions, Acquisition& acquisition) {
  if (positions.empty()) return;
  std::vector<TransmitEvent> events = std::move(acquisition.events);
  if (events.empty()) {
    std::vector<std::uint32_t> all(acquisition.elements());
    std::iota(all.begin(), all.end(), 0U);
    events = element_events(all);
  }
  acquisition.positions = positions;
  acquisition.events.clear();
  for (std::uint32_t position = 0; position < positions.size(); ++position) {
    for (TransmitEvent& event : events) {
      event.position = position;
      acquisition.events.push_back(event);
    }
  }
}

/// The probe with all elements working.
Probe probe_of(const SimulatorConfiguration& c) {
  const Hertz bandwidth = c.centre_frequency * c.fractional_bandwidth;
  if (c.radius.value == 0.0) {
    return make_matrix_probe({.columns = c.elements,
                              .rows = c.rows,
                              .pitch = c.pitch,
                              .row_pitch = c.row_pitch.value_or(c.pitch),
                              .width = c.element_width,
                              .length = c.element_length},
                             c.centre_frequency, bandwidth);
  }
  Probe probe = make_curvilinear_probe(c.elements, c.pitch, c.radius, c.element_width, c.centre_frequency, bandwidth);
  for (Element& element : probe.elements) element.length = c.element_length;
  return probe;
}

ElementRow row_of(const SimulatorConfiguration& c) {
  return {.elements = c.elements, .pitch = c.pitch, .radius = c.radius, .rows = c.rows};
}

/// Checks that an arc is one row in contact.
void check_arc(const SimulatorConfiguration& c, std::string_view where) {
  if (c.radius.value == 0.0) return;
  check_range(where, "radius", c.radius.value, 1e-3, 10.0, "1e-3 to 10 m");
  const auto refuse = [&](const std::string& found, const std::string& expected) {
    throw InputError(fmt::format("{} radius", where), found, expected);
  };
  if (c.rows > 1) refuse(fmt::format("an arc of {} rows", c.rows), "one row of elements");
  if (const double turn = half_arc(c.elements, c.pitch, c.radius); !(turn <= widest_half_arc)) {
    refuse(fmt::format("elements up to {:.3g} degrees from the middle of the arc", turn),
           fmt::format("up to {:g} degrees", widest_half_arc));
  }
  if (!c.scene.plain()) refuse("an arc with a couplant, a backwall or shear waves", "one in contact, longitudinal waves alone");
  if (c.placement.stand_off.value != 0.0 || c.placement.angle != 0.0) {
    refuse("an arc with [probe] stand_off or angle", "one whose middle is at z = 0");
  }
}

void check_tissue(const SimulatorConfiguration& c, std::string_view where) {
  validate(c.tissue, where);
  check_range(where, "frame_rate", c.frame_rate.value, 1e-3, 1e6, "1e-3 to 1e6 Hz");
  check_range(where, "pulse_repetition", c.pulse_repetition.value, 0.0, 1e6, "0 to 1e6 Hz");
  if (c.tissue.empty() || c.scene.plain()) return;
  throw InputError(fmt::format("{} scatterers", where), "tissue with a couplant, a backwall or shear waves",
                   "tissue in contact, longitudinal waves alone");
}

/// Whether all rays are straight longitudinal ones to reflectors without a surface in space, which EchoModel computes.
bool straight_alone(const SimulatorConfiguration& c) {
  return c.scene.plain() && c.phantom.bodies.empty();
}

/// The acquisition with the sample scale of one element that fires. Its events may be wrong.
Acquisition of_one_element(const SimulatorConfiguration& configuration) {
  const auto& c = configuration;
  if (c.sound) return acquisition_of_sound(c);
  Acquisition acquisition;
  acquisition.probe = probe_of(c);
  for (const std::size_t element : c.dead_elements) acquisition.probe.elements[element].dead = true;
  acquisition.matrix = c.matrix;
  acquisition.events =
      c.events.empty() ? events_of(c.transmit, acquisition.probe, row_of(c), c.scene.couplant, c.material) : c.events;
  repeat_at_positions(c.positions, acquisition);
  acquisition.encoding = c.encoding;
  acquisition.samples = c.samples;
  acquisition.sample_rate = c.sample_rate;
  acquisition.start_time = c.start_time;
  acquisition.time_offset = c.time_offset;
  acquisition.sample_scale = c.full_scale / static_cast<double>(converter_maximum);
  acquisition.pulse_repetition = c.pulse_repetition;
  return acquisition;
}

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
  if (c.sound) return check_sound(c, where);
  // This check comes first: what depends on this size must not be built before it is known to be sane.
  if (c.elements == 0 || c.elements > c.limits.elements) {
    throw InputError(fmt::format("{} elements", where), fmt::format("{}", c.elements), fmt::format("1 to {}", c.limits.elements));
  }
  if (c.rows == 0 || c.rows > c.limits.elements / c.elements) {
    throw InputError(fmt::format("{} rows", where), fmt::format("{} of {} elements", c.rows, c.elements),
                     fmt::format("at least 1, and at most {} elements in all", c.limits.elements));
  }
  check_range(where, "pitch", c.pitch.value, 1e-6, 0.1, "1e-6 to 0.1 m");
  const Metres row_pitch = c.row_pitch.value_or(c.pitch);
  check_range(where, "row_pitch", row_pitch.value, 1e-6, 0.1, "1e-6 to 0.1 m");
  // Only several rows limit the elements' length by their pitch.
  const double longest = c.rows > 1 ? row_pitch.value : 0.1;
  check_range(where, "element_length", c.element_length.value, 0.0, longest,
              c.rows > 1 ? fmt::format("0 to the pitch of rows, {} m", longest) : "0 to 0.1 m");
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
  validate(c.encoder, where);
  for (const std::size_t element : c.dead_elements) {
    if (element >= c.element_count()) {
      throw InputError(fmt::format("{} dead_elements", where), fmt::format("{}", element),
                       fmt::format("0 to {}", c.element_count() - 1));
    }
  }
  validate(c.transmit, c.element_count(), c.scene.couplant, where);
  if (c.rows > 1 && (c.transmit.aperture || c.transmit.receive_aperture)) {
    throw InputError(fmt::format("{} {}", where, c.transmit.aperture ? "aperture" : "receive_aperture"),
                     fmt::format("neighbours of a row, and {} rows", c.rows), "elements by fire and receive, or one row");
  }
  check_arc(c, where);
  validate_beams(c.transmit, probe_of(c), row_of(c), where);
  if (!c.quantised && c.encoding != SampleEncoding::float32) {
    throw InputError(fmt::format("{} quantised", where), "false with an integer encoding", "true, or encoding float32");
  }
  if (c.positions.size() > c.limits.positions) {
    throw InputError(fmt::format("{} positions", where), fmt::format("{}", c.positions.size()),
                     fmt::format("at most {} a frame", c.limits.positions));
  }
  const Acquisition acquisition = of_one_element(c);
  validate(acquisition, c.limits, where);
  if (!(c.sample_rate.value > 2.0 * c.centre_frequency.value)) {
    throw InputError(fmt::format("{} sample_rate", where), fmt::format("{} Hz", c.sample_rate.value),
                     fmt::format("more than twice the centre frequency, {} Hz", c.centre_frequency.value));
  }
  const double pulse = PulseTable::samples_of(acquisition, c.fractional_bandwidth);
  if (!fires_single_elements(acquisition) && pulse > PulseTable::most_samples) {
    throw InputError(fmt::format("{} sample_rate", where), fmt::format("pulses of {:.3g} samples", pulse),
                     fmt::format("at most {:g} where several elements fire at once", PulseTable::most_samples));
  }
  // A part below a couplant, or with a surface of its own, does not begin at z = 0.
  const bool half_space = c.scene.couplant.value == 0.0 && c.scene.surface.kind == CurveKind::none;
  validate(c.phantom, where, half_space ? PhantomRoom::below_zero : PhantomRoom::anywhere);
  if (!straight_alone(c)) check_scene(c, where);
  check_tissue(c, where);
}

void keep_inside(Phantom& part, const SimulatorConfiguration& configuration) {
  // In space the paths to each hole take seconds. That is too long for a part that the user did not request.
  SimulatorConfiguration whole = configuration;
  whole.phantom = part;
  if (in_space(placed_probe(whole), whole.scene, part, phases_of(whole))) part.holes.clear();
  const auto outside = [&](Phantom alone) {
    SimulatorConfiguration one = configuration;
    one.phantom = std::move(alone);
    try {
      validate(one, "");
    } catch (const InputError&) {
      return true;
    }
    return false;
  };
  std::erase_if(part.points, [&](const PointScatterer& point) { return outside({{point}, {}, {}, {}}); });
  std::erase_if(part.holes, [&](const SideDrilledHole& hole) { return outside({{}, {hole}, {}, {}}); });
}

Probe placed_probe(const SimulatorConfiguration& configuration) {
  Probe probe = of_one_element(configuration).probe;
  const ProbePlacement& by = configuration.placement;
  const double angle = by.angle * std::numbers::pi / 180.0;
  for (Element& element : probe.elements) {
    const Point at = element.centre;
    const Direction normal = element.normal;
    element.centre = {by.x + at.x * std::cos(angle) - at.z * std::sin(angle), at.y,
                      at.x * std::sin(angle) + at.z * std::cos(angle) - by.stand_off};
    element.normal = {normal.x * std::cos(angle) - normal.z * std::sin(angle), normal.y,
                      normal.x * std::sin(angle) + normal.z * std::cos(angle)};
  }
  return configuration.motion ? moved(std::move(probe), configuration.motion(configuration.encoder.first)) : probe;
}

std::vector<Probe> probes_at_positions(const SimulatorConfiguration& configuration) {
  const Probe probe = placed_probe(configuration);
  if (configuration.positions.empty()) return {probe};
  std::vector<Probe> probes;
  for (const Pose& pose : configuration.positions) probes.push_back(placed(probe, pose));
  return probes;
}

Acquisition acquisition_of(const SimulatorConfiguration& configuration) {
  Acquisition acquisition = of_one_element(configuration);
  if (configuration.sound) return acquisition;
  acquisition.sample_scale *= loudest_event(acquisition);
  return acquisition;
}

FmcSimulator::FmcSimulator(SimulatorConfiguration configuration, std::string_view where)
    : configuration_((validate(configuration, where), std::move(configuration))),
      acquisition_(acquisition_of(configuration_)),
      probe_(placed_probe(configuration_)) {
  if (configuration_.sound) {
    sound_ = std::make_shared<const SoundSynthesis>(acquisition_, configuration_.sound->sources,
                                                    configuration_.material.longitudinal_velocity);
    return;
  }
  if (configuration_.positions.empty()) {
    prepare();
    return;
  }
  const std::vector<Probe> probes = probes_at_positions(configuration_);
  for (std::size_t k = 0; k < probes.size(); ++k) {
    PositionPart part = part_at(acquisition_, k);
    SimulatorConfiguration alone = configuration_;
    alone.positions.clear();
    // Each position has noise of its own. At the first position it is that of a single position.
    alone.seed += k * 0x9E3779B97F4A7C15ULL;
    positions_.push_back({std::move(part.events), std::shared_ptr<const FmcSimulator>(new FmcSimulator(
                                                      std::move(alone), std::move(part.acquisition), probes[k]))});
  }
}

FmcSimulator::FmcSimulator(SimulatorConfiguration configuration, Acquisition acquisition, Probe probe)
    : configuration_(std::move(configuration)), acquisition_(std::move(acquisition)), probe_(std::move(probe)) {
  prepare();
}

void FmcSimulator::prepare() {
  if (!fires_single_elements(acquisition_)) {
    events_ = std::make_shared<const EventSynthesis>(acquisition_, configuration_.fractional_bandwidth);
  }
  prepare_tissue();
  if (straight_alone(configuration_)) return;
  const SceneOptions options{configuration_.scene, configuration_.material, configuration_.spreading, configuration_.directivity};
  scene_ = std::make_shared<const SceneEchoes>(probe_, options, configuration_.phantom, phases_of(configuration_));
}

void FmcSimulator::prepare_tissue() {
  if (configuration_.tissue.empty()) return;
  scatterers_ = std::make_shared<const Scatterers>(configuration_.tissue);
  const EchoModelOptions options{configuration_.material.longitudinal_velocity, configuration_.spreading,
                                 configuration_.directivity};
  synthesis_ = std::make_shared<const ScattererSynthesis>(acquisition_, probe_, options, configuration_.fractional_bandwidth);
  std::vector<float> sound(synthesis_->frame_samples());
  synthesis_->add(scatterers_->still(), sound, 0);
  still_sound_ = std::make_shared<const std::vector<float>>(std::move(sound));
}

std::span<const float> FmcSimulator::sound_of_tissue(std::uint64_t frame, std::vector<float>& moved) const {
  if (synthesis_ == nullptr) return {};
  if (scatterers_->moving() == 0) return *still_sound_;
  moved = *still_sound_;
  const double seconds = static_cast<double>(frame % configuration_.cycle_frames) / configuration_.frame_rate.value;
  std::vector<Scatterer> scatterers;
  if (configuration_.pulse_repetition.value == 0.0) {
    scatterers_->moving_at(seconds, scatterers);
    synthesis_->add(scatterers, moved, 1);
    return moved;
  }
  for (std::size_t event = 0; event < acquisition_.event_count(); ++event) {
    scatterers_->moving_at(seconds + static_cast<double>(event) / configuration_.pulse_repetition.value, scatterers);
    synthesis_->add_event(event, scatterers, moved);
  }
  return moved;
}

double FmcSimulator::phase(std::uint64_t frame) const {
  return static_cast<double>(frame % configuration_.cycle_frames) / static_cast<double>(configuration_.cycle_frames);
}

std::size_t FmcSimulator::sounding_balls() const {
  return sound_ == nullptr ? 0 : sound_->balls();
}

std::vector<TruePosition> FmcSimulator::true_positions(std::uint64_t frame) const {
  if (configuration_.sound) return echoform::true_positions(configuration_.sound->sources, phase(frame));
  return echoform::true_positions(configuration_.phantom, phase(frame));
}

void FmcSimulator::synthesise(std::uint64_t frame, std::span<std::byte> bytes) const {
  if (bytes.size() != acquisition_.frame_bytes()) {
    throw InputError("simulated frame", fmt::format("room for {} bytes", bytes.size()),
                     fmt::format("{} bytes", acquisition_.frame_bytes()));
  }
  if (sound_ != nullptr) {
    AScanWriter writer(configuration_, acquisition_, frame, {sound_->still(), bytes.data()});
    sound_->write(phase(frame), writer, bytes);
    return;
  }
  if (!positions_.empty()) {
    const FrameLayout layout(acquisition_);
    for (const AtPosition& position : positions_) {
      const FrameLayout alone(position.simulator->acquisition());
      std::vector<std::byte> seen(alone.frame_bytes());
      position.simulator->synthesise(frame, seen);
      for (std::size_t k = 0; k < position.events.size(); ++k) {
        const ByteRange from = alone.shot_bytes(k);
        const ByteRange to = layout.shot_bytes(position.events[k]);
        std::ranges::copy(std::span(seen).subspan(from.first, from.count), bytes.begin() + static_cast<std::ptrdiff_t>(to.first));
      }
    }
    return;
  }
  std::vector<float> moved;
  AScanWriter writer(configuration_, acquisition_, frame, {sound_of_tissue(frame, moved), bytes.data()});
  const auto write = [&](const EchoesOfPair& echoes_of_pair) {
    if (events_ != nullptr) {
      events_->write(echoes_of_pair, writer, bytes);
    } else {
      PairSynthesis(acquisition_, configuration_.fractional_bandwidth, writer, bytes).write(echoes_of_pair);
    }
  };
  std::vector<Echo> echoes;
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

}  // namespace echoform
