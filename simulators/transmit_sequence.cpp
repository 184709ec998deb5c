#include "simulators/transmit_sequence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include "acquisition/probe_frame.hpp"
#include "base/errors.hpp"
#include "simulators/spread.hpp"

namespace echoform {
namespace {

constexpr std::size_t usual_events = 16;
constexpr double steepest = 89.0;  // degrees
constexpr std::size_t most_events = 4096;

std::string_view word_of(TransmitKind kind) {
  switch (kind) {
    case TransmitKind::elements:
      return "elements";
    case TransmitKind::plane:
      return "plane";
    case TransmitKind::diverging:
      return "diverging";
    case TransmitKind::focused:
      return "focused";
    case TransmitKind::beams:
      return "beams";
    case TransmitKind::hadamard:
      return "hadamard";
    case TransmitKind::laws:
      break;
  }
  return "laws";
}

bool is_wave(TransmitKind kind) {
  return kind == TransmitKind::plane || kind == TransmitKind::diverging || kind == TransmitKind::focused;
}

/// The `aperture` neighbours about the place `middle`, in a row of `count` elements.
std::vector<std::uint32_t> neighbours(double middle, std::size_t aperture, std::size_t count) {
  const double first = std::round(middle - 0.5 * static_cast<double>(aperture - 1));
  std::vector<std::uint32_t> elements(aperture);
  std::iota(elements.begin(), elements.end(),
            static_cast<std::uint32_t>(std::clamp(first, 0.0, static_cast<double>(count - aperture))));
  return elements;
}

std::vector<std::uint32_t> indices(const std::vector<std::size_t>& elements) {
  return {elements.begin(), elements.end()};
}

ScanBeams beams_of(const TransmitSequence& s) {
  ScanBeams beams = s.beams;
  beams.angles = s.angles;
  beams.focus = s.focus;
  return beams;
}

BeamArray beam_array(const TransmitSequence& s, const ElementRow& row) {
  return {.columns = row.elements, .rows = row.rows, .pitch = row.pitch, .radius = row.radius, .aperture = s.aperture};
}

WaveMedium medium_of(const TransmitSequence& s, MetresPerSecond couplant) {
  return s.medium.value_or(couplant.value > 0.0 ? WaveMedium::couplant : WaveMedium::longitudinal);
}

MetresPerSecond velocity_in(WaveMedium medium, MetresPerSecond couplant, const Material& material) {
  if (medium == WaveMedium::couplant) return couplant;
  return medium == WaveMedium::longitudinal ? material.longitudinal_velocity : material.shear_velocity;
}

/// Makes the forms of a sequence of waves.
class Waves {
 public:
  Waves(const TransmitSequence& sequence, const ElementRow& row, MetresPerSecond couplant, const Material& material)
      : sequence_(sequence),
        count_(row.elements),
        pitch_(row.pitch),
        curved_(row.radius.value > 0.0),
        events_(sequence.events.value_or(usual_events)),
        medium_(medium_of(sequence, couplant)),
        velocity_(velocity_in(medium_, couplant, material)) {}

  [[nodiscard]] std::vector<TransmitEvent> made() const {
    std::vector<TransmitEvent> events(events_);
    for (std::size_t i = 0; i < events_; ++i) {
      if (sequence_.kind == TransmitKind::plane) {
        PlaneWaveEvent wave = plane_wave(angle(i), velocity_);
        if (curved_) wave.slowness_z = std::cos(angle(i)) / velocity_.value;
        wave.elements = indices(sequence_.fire);
        events[i].form = std::move(wave);
      } else {
        events[i].form = point_wave(i);
      }
    }
    return events;
  }

 private:
  [[nodiscard]] double angle(std::size_t i) const {
    const double widest = medium_ == WaveMedium::couplant ? 10.0 : 20.0;
    return spread(sequence_.angles.value_or(std::array{-widest, widest}), i, events_) * std::numbers::pi / 180.0;
  }

  [[nodiscard]] PointWaveEvent point_wave(std::size_t i) const {
    const bool behind = sequence_.kind == TransmitKind::diverging;
    const Metres usual = static_cast<double>(count_) * pitch_ * (behind ? 0.5 : 1.0);
    const Metres distance = sequence_.focus.value_or(usual) * (behind ? -1.0 : 1.0);
    const double last = static_cast<double>(count_ - 1);
    PointWaveEvent wave;
    wave.velocity = velocity_;
    double middle = 0.5 * last;  // middle of the elements that fire, in elements
    if (sequence_.angles) {
      wave.point = {distance * std::sin(angle(i)), Metres(0.0), distance * std::cos(angle(i))};
    } else {
      middle = spread({0.0, last}, i, events_);
      wave.point = {pitch_ * (middle - 0.5 * last), Metres(0.0), distance};
    }
    wave.elements = sequence_.aperture ? neighbours(middle, *sequence_.aperture, count_) : indices(sequence_.fire);
    return wave;
  }

  const TransmitSequence& sequence_;
  std::size_t count_;
  Metres pitch_;
  bool curved_;
  std::size_t events_;
  WaveMedium medium_;
  MetresPerSecond velocity_;
};

std::vector<TransmitEvent> code_events(const std::vector<std::size_t>& fire, std::size_t count) {
  if (fire.empty()) return hadamard_events(count);
  std::vector<TransmitEvent> events = hadamard_events(fire.size());
  for (TransmitEvent& event : events) {
    CodeEvent over_all{std::vector<std::int8_t>(count)};
    for (std::size_t k = 0; k < fire.size(); ++k) over_all.signs[fire[k]] = std::get<CodeEvent>(event.form).signs[k];
    event.form = std::move(over_all);
  }
  return events;
}

/// Rows of weights 1, -1 and 0 without delays become a code, others become laws.
std::vector<TransmitEvent> law_events(const TransmitSequence& s, std::size_t count) {
  const auto is_sign = [](double weight) { return weight == 1.0 || weight == -1.0 || weight == 0.0; };
  const bool signs = s.delays.empty() && std::ranges::all_of(s.weights, [&](const std::vector<double>& row) {
                       return std::ranges::all_of(row, is_sign);
                     });
  std::vector<TransmitEvent> events(std::max(s.delays.size(), s.weights.size()));
  for (std::size_t event = 0; event < events.size(); ++event) {
    if (signs) {
      const std::vector<double>& row = s.weights[event];
      events[event].form = CodeEvent{std::vector<std::int8_t>(row.begin(), row.end())};
      continue;
    }
    LawEvent law;
    for (std::size_t element = 0; element < count; ++element) {
      const double weight = s.weights.empty() ? 1.0 : s.weights[event][element];
      if (weight == 0.0) continue;
      law.elements.push_back(static_cast<std::uint32_t>(element));
      law.weights.push_back(static_cast<float>(weight));
      if (!s.delays.empty()) law.delays.push_back(static_cast<float>(s.delays[event][element]));
    }
    events[event].form = std::move(law);
  }
  return events;
}

/// Repeats the events `times` times. `in_turn` repeats the whole list; otherwise each event is repeated directly after itself.
std::vector<TransmitEvent> repeated(const std::vector<TransmitEvent>& events, std::size_t times, bool in_turn) {
  if (times == 1) return events;
  std::vector<TransmitEvent> all;
  for (std::size_t n = 0; in_turn && n < times; ++n) all.insert(all.end(), events.begin(), events.end());
  if (in_turn) return all;
  for (const TransmitEvent& event : events) all.insert(all.end(), times, event);
  return all;
}

/// Restricts a wave of all elements to those of `fire`, if it names any.
void fire_only(const std::vector<std::size_t>& fire, TransmitForm& form) {
  if (fire.empty()) return;
  if (auto* const plane = std::get_if<PlaneWaveEvent>(&form)) plane->elements = indices(fire);
  if (auto* const point = std::get_if<PointWaveEvent>(&form)) point->elements = indices(fire);
}

/// Middle of the elements that fire.
double middle_of(const TransmitForm& form, const std::vector<std::size_t>& fire, std::size_t count) {
  std::vector<std::uint32_t> firing = indices(fire);
  if (const auto* const element = std::get_if<ElementEvent>(&form)) firing = {element->element};
  if (const auto* const point = std::get_if<PointWaveEvent>(&form)) firing = point->elements;
  if (const auto* const plane = std::get_if<PlaneWaveEvent>(&form)) firing = plane->elements;
  if (const auto* const law = std::get_if<LawEvent>(&form)) firing = law->elements;
  if (firing.empty()) return 0.5 * static_cast<double>(count - 1);
  return std::accumulate(firing.begin(), firing.end(), 0.0) / static_cast<double>(firing.size());
}

/// One key of a sequence.
class KeyCheck {
 public:
  KeyCheck(std::string_view where, std::size_t elements) : where_(where), elements_(elements) {}

  [[noreturn]] void refuse(std::string_view key, const std::string& found, const std::string& expected) const {
    throw InputError(fmt::format("{} {}", where_, key), found, expected);
  }
  void require_use(std::string_view key, bool stated, bool useful, TransmitKind kind, std::string_view expected) const {
    if (stated && !useful) refuse(key, fmt::format("one with transmit \"{}\"", word_of(kind)), std::string(expected));
  }
  void require_elements(std::string_view key, const std::vector<std::size_t>& list) const {
    std::vector<bool> named(elements_);
    for (const std::size_t element : list) {
      if (element >= elements_ || named[element]) {
        refuse(key, fmt::format("{}{}", element, element < elements_ ? " again" : ""),
               fmt::format("elements 0 to {}, each once", elements_ - 1));
      }
      named[element] = true;
    }
  }
  void require_rows(std::string_view key, const std::vector<std::vector<double>>& rows) const {
    for (std::size_t event = 0; event < rows.size(); ++event) {
      if (rows[event].size() == elements_) continue;
      refuse(key, fmt::format("{} numbers for event {}", rows[event].size(), event),
             fmt::format("one for each of the {} elements", elements_));
    }
  }
  void require_count(std::string_view key, const std::optional<std::size_t>& count) const {
    if (count && (*count == 0 || *count > elements_)) refuse(key, fmt::format("{}", *count), fmt::format("1 to {}", elements_));
  }

 private:
  std::string_view where_;
  std::size_t elements_;
};

}  // namespace

void validate(const TransmitSequence& s, std::size_t elements, MetresPerSecond couplant, std::string_view where) {
  const KeyCheck check(where, elements);
  check.require_elements("fire", s.fire);
  check.require_elements("receive", s.receive);
  const bool beams = s.kind == TransmitKind::beams;
  const bool wave = is_wave(s.kind) || beams;
  const bool point = wave && s.kind != TransmitKind::plane;
  constexpr std::string_view waves = "transmit \"plane\", \"diverging\", \"focused\" or \"beams\"";
  constexpr std::string_view points = "transmit \"diverging\", \"focused\" or \"beams\"";
  check.require_use("events", s.events.has_value(), wave, s.kind, waves);
  check.require_use("angles", s.angles.has_value(), wave, s.kind, waves);
  check.require_use("wave_medium", s.medium.has_value(), wave, s.kind, waves);
  check.require_use("focus", s.focus.has_value(), point, s.kind, points);
  check.require_use("aperture", s.aperture.has_value(), point, s.kind, points);
  check.require_use("beams", !s.beams.list.empty(), beams, s.kind, "transmit \"beams\"");
  check.require_use("origins", s.beams.origins.has_value(), beams, s.kind, "transmit \"beams\"");
  check.require_use("angles_across", s.beams.angles_across.has_value(), beams, s.kind, "transmit \"beams\"");
  check.require_use("events_across", s.beams.across.has_value(), beams, s.kind, "transmit \"beams\"");
  check.require_count("aperture", s.aperture);
  check.require_count("receive_aperture", s.receive_aperture);
  if (s.aperture && !s.fire.empty()) check.refuse("aperture", "one and fire", "one of both");
  if (s.receive_aperture && !s.receive.empty()) check.refuse("receive_aperture", "one and receive", "one of both");
  const bool laws = s.kind == TransmitKind::laws;
  check.require_use("delays", !s.delays.empty(), laws, s.kind, "transmit \"laws\"");
  check.require_use("weights", !s.weights.empty(), laws, s.kind, "transmit \"laws\"");
  check.require_use("fire", !s.fire.empty(), !laws, s.kind, "elements that do not fire at a weight of 0");
  if (laws && s.delays.empty() && s.weights.empty()) check.refuse("transmit", "\"laws\" alone", "delays or weights, or both");
  if (!s.delays.empty() && !s.weights.empty() && s.delays.size() != s.weights.size()) {
    check.refuse("weights", fmt::format("{} events", s.weights.size()), fmt::format("{}, as delays has", s.delays.size()));
  }
  check.require_rows("delays", s.delays);
  check.require_rows("weights", s.weights);
  if (s.events == 0) check.refuse("events", "0", "at least 1");
  check.require_use("repeats", s.repeats != 1, wave, s.kind, waves);
  const double waves_a_frame = static_cast<double>(s.beams.list.empty() ? s.events.value_or(usual_events) : s.beams.list.size()) *
                               static_cast<double>(s.beams.across.value_or(1));
  if (s.repeats == 0 || static_cast<double>(s.repeats) * waves_a_frame > static_cast<double>(most_events)) {
    check.refuse("repeats", fmt::format("{} of {:.0f} waves", s.repeats, waves_a_frame),
                 fmt::format("at least 1, and at most {} events a frame", most_events));
  }
  for (const double angle : s.angles.value_or(std::array{0.0, 0.0})) {
    if (!(std::abs(angle) <= steepest)) {
      check.refuse("angles", fmt::format("{} degrees", angle), fmt::format("-{0:g} to {0:g} degrees", steepest));
    }
  }
  if (!beams && s.focus && !(s.focus->value > 0.0 && s.focus->value <= 10.0)) {
    check.refuse("focus", fmt::format("{} m", s.focus->value), "more than 0, up to 10 m");
  }
  if (s.medium == WaveMedium::couplant && !(couplant.value > 0.0)) {
    check.refuse("wave_medium", "\"couplant\" without one", "\"L\" or \"T\", or [couplant] velocity");
  }
  const std::size_t coded = s.fire.empty() ? elements : s.fire.size();
  if (s.kind == TransmitKind::hadamard && !std::has_single_bit(coded)) {
    check.refuse("transmit", fmt::format("\"hadamard\" of {} elements", coded),
                 "a power of two of them ([simulator] elements, or as many in fire)");
  }
}

void validate_beams(const TransmitSequence& s, const Probe& probe, const ElementRow& row, std::string_view where) {
  if (s.kind != TransmitKind::beams) return;
  if (!s.beams.list.empty() && s.events) {
    throw InputError(fmt::format("{} events", where), "a count and a list of beams", "one of both");
  }
  validate(beams_of(s), beam_array(s, row), probe, s.events.value_or(usual_events), where);
}

std::vector<TransmitEvent> events_of(const TransmitSequence& s, const Probe& probe, const ElementRow& row,
                                     MetresPerSecond couplant, const Material& material) {
  const std::size_t count = probe.elements.size();
  const bool chosen = !s.receive.empty() || s.receive_aperture;
  std::vector<TransmitEvent> events;
  if (is_wave(s.kind)) {
    events = Waves(s, row, couplant, material).made();
  } else if (s.kind == TransmitKind::beams) {
    const MetresPerSecond velocity = velocity_in(medium_of(s, couplant), couplant, material);
    events = beam_events(beams_of(s), beam_array(s, row), probe, s.events.value_or(usual_events), velocity);
    for (TransmitEvent& event : events) fire_only(s.fire, event.form);
  } else if (s.kind == TransmitKind::hadamard) {
    events = code_events(s.fire, count);
  } else if (s.kind == TransmitKind::laws) {
    events = law_events(s, count);
  } else if (!s.fire.empty() || chosen) {
    std::vector<std::uint32_t> firing = indices(s.fire);
    if (firing.empty()) {
      firing.resize(count);
      std::iota(firing.begin(), firing.end(), 0U);
    }
    events = element_events(firing);
  }
  for (TransmitEvent& event : events) {
    event.receivers =
        s.receive_aperture ? neighbours(middle_of(event.form, s.fire, count), *s.receive_aperture, count) : indices(s.receive);
  }
  return repeated(events, s.repeats, s.repeats_in_turn);
}

}  // namespace echoform
