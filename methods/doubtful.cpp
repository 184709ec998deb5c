#include "methods/doubtful.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "acquisition/detectors.hpp"
#include "acquisition/facing.hpp"
#include "methods/array_shape.hpp"
#include "methods/display_settings.hpp"
#include "methods/filter_settings.hpp"
#include "methods/flow.hpp"
#include "simulators/simulator_section.hpp"
#include "simulators/sound_section.hpp"

namespace echoform {
namespace {

// Nothing with velocities outside of this range is inspected: air has 343 m/s, and diamond's shear waves have 12000 m/s.
constexpr double slowest = 300.0;    // m/s
constexpr double fastest = 12000.0;  // m/s
// Parts are smaller than this, and pixels of an image are farther apart.
constexpr double farthest = 1.0;           // m
constexpr double least_extent = 50e-6;     // m
constexpr double widest_pitch = 20e-3;     // m
constexpr double finest_pitch = 5e-6;      // m
constexpr double lowest_frequency = 20e3;  // Hz: above audible sound
constexpr double lowest_bandwidth = 1e3;   // Hz
constexpr double lowest_rate = 100e3;      // Hz
constexpr double lowest_repetition = 200;  // Hz: of events for flow; the slowest that scanners offer are above this
constexpr double fewest_samples = 4.0;     // in the duration of a ball's sound
constexpr double longest_time = 10e-3;     // s: sound in steel has travelled 59 m by then

class Doubts {
 public:
  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

  void velocity(std::string_view where, std::optional<MetresPerSecond> value) {
    if (!value || !(value->value > 0.0) || (value->value >= slowest && value->value <= fastest)) return;
    const double v = value->value;
    if (v > fastest) return say(where, v, "m/s", "faster than sound in any solid; mm/s, or a digit too many?");
    if (1e3 * v >= slowest && 1e3 * v <= fastest) {
      return say(where, v, "m/s", fmt::format("slower than sound in air; km/s or mm/us, for {:g} m/s?", 1e3 * v));
    }
    say(where, v, "m/s", "slower than sound in air");
  }
  void velocities(std::string_view where, std::optional<MetresPerSecond> longitudinal, std::optional<MetresPerSecond> shear) {
    if (!longitudinal || !shear || !(longitudinal->value > 0.0) || shear->value < longitudinal->value) return;
    lines_.push_back(
        fmt::format("{}: shear waves at {:g} m/s are not slower than longitudinal ones at {:g} m/s: the other way round?", where,
                    shear->value, longitudinal->value));
  }
  /// Warns, for events of this duration, of a rate that looks like a number in kHz.
  void pulse_repetition(std::string_view where, Hertz value, Seconds event) {
    if (!(value.value > 0.0) || value.value >= lowest_repetition || 1e3 * value.value * event.value > 1.0) return;
    say(where, value.value, "Hz", fmt::format("kHz, for {:g} Hz?", 1e3 * value.value));
  }
  /// Checks a place or a size, which may be 0.
  void length(std::string_view where, std::optional<Metres> value, double most) {
    if (!value || std::abs(value->value) <= most) return;
    say(where, value->value, "m", fmt::format("mm, for {:g} m?", 1e-3 * value->value));
  }
  void pitch(std::string_view where, std::optional<Metres> value) {
    if (!value || !(value->value > 0.0)) return;
    length(where, value, widest_pitch);
    if (value->value < finest_pitch) {
      say(where, value->value, "m", fmt::format("a thousand times too small, for {:g} m?", 1e3 * value->value));
    }
  }
  void ends(std::string_view where, const std::optional<std::array<Metres, 2>>& ends, std::size_t pixels) {
    if (!ends) return;
    const double first = (*ends)[0].value;
    const double last = (*ends)[1].value;
    if (std::abs(first) > farthest || std::abs(last) > farthest) {
      lines_.push_back(
          fmt::format("{} = [{:g}, {:g}] m: mm, for [{:g}, {:g}] m?", where, first, last, 1e-3 * first, 1e-3 * last));
    } else if (pixels > 1 && first != last && std::abs(last - first) < least_extent) {
      lines_.push_back(fmt::format("{} = [{:g}, {:g}] m: {:g} um in all; a thousand times too small, for [{:g}, {:g}] m?", where,
                                   first, last, 1e6 * std::abs(last - first), 1e3 * first, 1e3 * last));
    }
  }
  void frequency(std::string_view where, std::optional<Hertz> value, double least) {
    if (!value || !(value->value > 0.0) || value->value >= least) return;
    const double scale = value->value < 1e3 ? 1e6 : 1e3;
    say(where, value->value, "Hz", fmt::format("{}, for {:g} Hz?", scale > 1e3 ? "MHz" : "kHz", scale * value->value));
  }
  /// Checks two frequencies, each with its own minimum; 0 may be meant.
  void frequencies(std::string_view where, const std::optional<std::array<Hertz, 2>>& pair, std::array<double, 2> least) {
    if (!pair) return;
    std::array<double, 2> guess{};
    std::string_view unit;
    for (std::size_t i = 0; i < 2; ++i) {
      guess[i] = (*pair)[i].value;
      if (!(guess[i] > 0.0) || guess[i] >= least[i]) continue;
      unit = guess[i] < 1e3 ? "MHz" : "kHz";
      guess[i] *= guess[i] < 1e3 ? 1e6 : 1e3;
    }
    if (unit.empty()) return;
    lines_.push_back(fmt::format("{} = [{:g}, {:g}] Hz: {}, for [{:g}, {:g}] Hz?", where, (*pair)[0].value, (*pair)[1].value,
                                 unit, guess[0], guess[1]));
  }
  [[nodiscard]] std::size_t count() const { return lines_.size(); }
  void time(std::string_view where, std::optional<Seconds> value) {
    if (!value || std::abs(value->value) <= longest_time) return;
    say(where, value->value, "s", fmt::format("us, for {:g} s?", 1e-6 * value->value));
  }
  void sampling(std::string_view where, Hertz rate, Hertz centre, Hertz bandwidth) {
    if (!(rate.value > 0.0) || !(centre.value > 0.0)) return;
    const double highest = centre.value + 0.5 * bandwidth.value;
    if (rate.value >= 2.0 * highest) return;
    lines_.push_back(fmt::format("{}: {:g} MHz is below twice the {:g} MHz to which the probe's band goes: echoes alias", where,
                                 1e-6 * rate.value, 1e-6 * highest));
  }
  /// Warns of a ball whose sound is short: it lasts as long as it takes to cross `across`.
  void short_sound(const std::string& where, Metres across, MetresPerSecond velocity, Hertz rate) {
    const double samples = across.value / velocity.value * rate.value;
    if (!(velocity.value > 0.0) || samples >= fewest_samples) return;
    lines_.push_back(
        fmt::format("{}: its sound lasts {:.2g} samples: a higher sample_rate, or a larger radius or blur?", where, samples));
  }

 private:
  void say(std::string_view where, double value, std::string_view unit, std::string_view guess) {
    lines_.push_back(fmt::format("{} = {:g} {}: {}", where, value, unit, guess));
  }

  std::vector<std::string> lines_;
};

template <class Value>
std::optional<Value> unless(const std::optional<Value>& stated, Value of_data) {
  return stated ? std::nullopt : std::optional<Value>(of_data);
}

/// Warns of the first doubtful event.
void doubt_events(Doubts& doubts, const std::vector<TransmitEvent>& events) {
  for (std::size_t event = 0; event < events.size(); ++event) {
    const std::size_t before = doubts.count();
    const auto where = [event](std::string_view what) { return fmt::format("data: transmit event {}, {}", event, what); };
    const TransmitForm& form = events[event].form;
    if (const auto* const plane = std::get_if<PlaneWaveEvent>(&form)) {
      doubts.time(where("delay"), plane->delay);
      const double slowness = std::hypot(plane->slowness_x, plane->slowness_y, plane->slowness_z);
      if (plane->slowness_z > 0.0) doubts.velocity(where("velocity"), MetresPerSecond(1.0 / slowness));
    } else if (const auto* const point = std::get_if<PointWaveEvent>(&form)) {
      doubts.velocity(where("velocity"), point->velocity);
      doubts.length(where("x of the point"), point->point.x, farthest);
      doubts.length(where("z of the point"), point->point.z, farthest);
      doubts.time(where("delay"), point->delay);
    } else if (const auto* const law = std::get_if<LawEvent>(&form); law != nullptr && !law->delays.empty()) {
      doubts.time(where("delay"), Seconds(static_cast<double>(std::ranges::max(law->delays))));
    }
    if (doubts.count() > before) return;
  }
}

/// Warns of the first doubtful position.
void doubt_positions(Doubts& doubts, const std::vector<Pose>& positions) {
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const std::size_t before = doubts.count();
    const Point& origin = positions[k].origin;
    for (const auto& [axis, place] : {std::pair{'x', origin.x}, std::pair{'y', origin.y}, std::pair{'z', origin.z}}) {
      doubts.length(fmt::format("data: position {}, {}", k, axis), place, farthest);
    }
    if (doubts.count() > before) return;
  }
}

/// Warns of the first doubtful ball of the simulated source, and of the first doubtful vessel.
void doubt_sound(Doubts& doubts, const Configuration& c) {
  const SoundSources& sources = section<SoundSection>(c).sources;
  const auto velocity = section<SimulatorSection>(c).longitudinal_velocity ? section<SimulatorSection>(c).longitudinal_velocity
                                                                           : c.material.longitudinal_velocity;
  if (!velocity) return;
  const auto doubt = [&](std::string_view what, const auto& some) {
    for (std::size_t k = 0; k < some.size(); ++k) {
      const std::size_t before = doubts.count();
      doubts.short_sound(c.place(fmt::format("[simulator] {} {}", what, k)), 2.0 * some[k].radius + sources.blur, *velocity,
                         section<SimulatorSection>(c).source.sample_rate);
      if (doubts.count() > before) return;
    }
  };
  doubt("balls, ball", sources.balls);
  doubt("blood_vessels, vessel", sources.vessels);
}

}  // namespace

std::optional<std::string> doubtful_places(std::span<const Detector> detectors) {
  const double spread = spread_of(detectors).value;
  if (spread <= farthest) return std::nullopt;
  return fmt::format("metres: mm, for {:g} m?", 1e-3 * spread);
}

std::vector<std::string> doubtful_frequency(std::string_view where, std::optional<Hertz> value) {
  Doubts doubts;
  doubts.frequency(where, value, lowest_frequency);
  return doubts.take();
}

std::vector<std::string> doubtful_settings(const Configuration& c) {
  Doubts doubts;
  doubts.velocity(c.place("[material] longitudinal_velocity"), c.material.longitudinal_velocity);
  doubts.velocity(c.place("[material] shear_velocity"), c.material.shear_velocity);
  doubts.velocities(c.place("[material] shear_velocity"), c.material.longitudinal_velocity, c.material.shear_velocity);
  doubts.velocity(c.place("[couplant] velocity"), c.couplant.velocity);
  doubts.ends(c.place("[grid] x"), c.grid.x, c.grid.pixels.x);
  doubts.ends(c.place("[grid] z"), c.grid.z, c.grid.pixels.z);
  if (c.grid.y && (*c.grid.y)[0] == (*c.grid.y)[1]) {
    doubts.length(c.place("[grid] y"), (*c.grid.y)[0], farthest);
  } else {
    doubts.ends(c.place("[grid] y"), c.grid.y, c.grid.pixels.y);
  }
  const std::array<std::size_t, 2> shown =
      section<DisplaySection>(c).pixels.value_or(std::array{c.grid.pixels.x, c.grid.pixels.z});
  doubts.ends(c.place("[display] x"), section<DisplaySection>(c).x, shown[0]);
  doubts.ends(c.place("[display] z"), section<DisplaySection>(c).z, shown[1]);
  doubts.pitch(c.place("[probe] pitch"), c.probe.pitch);
  doubts.length(c.place("[probe] radius"), c.probe.radius, farthest);
  doubts.length(c.place("[probe] stand_off"), c.probe.stand_off, farthest);
  doubts.length(c.place("[probe] x"), c.probe.x, farthest);
  doubts.length(c.place("[probe] element_width"), c.probe.element_width, widest_pitch);
  doubts.length(c.place("[probe] element_length"), c.probe.element_length, 0.2);
  doubts.frequency(c.place("[probe] centre_frequency"), c.probe.centre_frequency, lowest_frequency);
  doubts.frequency(c.place("[probe] bandwidth"), c.probe.bandwidth, lowest_bandwidth);
  // The lower edge of a band and the width of a notch may be low frequencies.
  doubts.frequencies(c.place("[filter] band"), section<FilterSection>(c).band, {lowest_bandwidth, lowest_frequency});
  doubts.frequency(c.place("[filter] skirt"), section<FilterSection>(c).skirt, lowest_frequency);
  doubts.frequency(c.place("[filter] upper_skirt"), section<FilterSection>(c).upper_skirt, lowest_frequency);
  doubts.time(c.place("[filter] mute"), section<FilterSection>(c).mute);
  doubts.frequencies(c.place("[filter] notch"), section<FilterSection>(c).notch, {lowest_frequency, lowest_bandwidth});
  doubts.frequency(c.place("[acquisition] sample_rate"), c.acquisition.sample_rate, lowest_rate);
  doubts.time(c.place("[acquisition] start_time"), c.acquisition.start_time);
  doubts.time(c.place("[acquisition] time_offset"), c.acquisition.time_offset);
  if (c.acquisition.sample_rate && c.probe.centre_frequency && c.probe.bandwidth) {
    doubts.sampling(c.place("[acquisition] sample_rate"), *c.acquisition.sample_rate, *c.probe.centre_frequency,
                    *c.probe.bandwidth);
  }
  const SimulatorSection& simulator = section<SimulatorSection>(c);
  doubts.velocity(c.place("[simulator] longitudinal_velocity"), simulator.longitudinal_velocity);
  doubts.velocity(c.place("[simulator] shear_velocity"), simulator.shear_velocity);
  doubts.velocities(c.place("[simulator] shear_velocity"), simulator.longitudinal_velocity, simulator.shear_velocity);
  doubts.pitch(c.place("[simulator] pitch"), simulator.source.pitch);
  doubts.length(c.place("[simulator] radius"), simulator.source.radius, farthest);
  doubts.length(c.place("[simulator] element_width"), simulator.source.element_width, widest_pitch);
  doubts.length(c.place("[simulator] backwall"), simulator.backwall, farthest);
  doubts.time(c.place("[simulator] start_time"), simulator.source.start_time);
  doubts.time(c.place("[simulator] time_offset"), simulator.source.time_offset);
  doubt_sound(doubts, c);
  return doubts.take();
}

std::vector<std::string> doubtful_data(const ImagingSettings& c, const Acquisition& acquisition, const Material& material,
                                       MetresPerSecond wedge_velocity) {
  Doubts doubts;
  const Probe& probe = acquisition.probe;
  const auto& stated = c.material;
  doubts.velocity("data: longitudinal velocity", unless(stated.longitudinal_velocity, material.longitudinal_velocity));
  doubts.velocity("data: shear velocity", unless(stated.shear_velocity, material.shear_velocity));
  if (!stated.longitudinal_velocity || !stated.shear_velocity) {
    doubts.velocities("velocities", material.longitudinal_velocity, material.shear_velocity);
  }
  doubts.velocity("data: velocity of the wedge", unless(c.couplant.velocity, wedge_velocity));
  if (!c.probe.pitch) doubts.pitch("data: distance of neighbouring elements", neighbour_distance(probe));
  if (all_passive(acquisition.events) && !c.probe.pitch)
    doubts.length("data: detectors from the middle of all, up to", spread_of(detectors_of(acquisition)), farthest);
  doubts.frequency("data: centre frequency", unless(c.probe.centre_frequency, probe.centre_frequency), lowest_frequency);
  doubts.frequency("data: bandwidth", unless(c.probe.bandwidth, probe.bandwidth), lowest_bandwidth);
  doubts.frequency("data: sample rate", unless(c.acquisition.sample_rate, acquisition.sample_rate), lowest_rate);
  doubts.time("data: start time", unless(c.acquisition.start_time, acquisition.start_time));
  doubts.time("data: time offset", unless(c.acquisition.time_offset, acquisition.time_offset));
  if (wants_flow(c)) {
    doubts.pulse_repetition(doppler(c).pulse_repetition ? c.place("[doppler] pulse_repetition") : "data: pulse repetition",
                            acquisition.pulse_repetition, duration_of_event(acquisition));
  }
  doubt_events(doubts, acquisition.events);
  doubt_positions(doubts, acquisition.positions);
  if (!c.acquisition.sample_rate || !c.probe.centre_frequency || !c.probe.bandwidth) {
    doubts.sampling("sample rate", acquisition.sample_rate, probe.centre_frequency, probe.bandwidth);
  }
  return doubts.take();
}

}  // namespace echoform
