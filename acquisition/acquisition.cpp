#include "acquisition/acquisition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "acquisition/firings.hpp"
#include "acquisition/positions.hpp"
#include "acquisition/ranges.hpp"
#include "acquisition/sample_encodings.hpp"
#include "acquisition/validate_events.hpp"
#include "acquisition/words.hpp"
#include "base/errors.hpp"

namespace echoform {

Probe make_matrix_probe(const MatrixArray& array, Hertz centre_frequency, Hertz bandwidth) {
  const auto place = [](Metres pitch, std::size_t index, std::size_t count) {
    return pitch * (static_cast<double>(index) - 0.5 * static_cast<double>(count - 1));
  };
  Probe probe;
  probe.centre_frequency = centre_frequency;
  probe.bandwidth = bandwidth;
  probe.elements.resize(array.columns * array.rows);
  for (std::size_t i = 0; i < probe.elements.size(); ++i) {
    Element& element = probe.elements[i];
    element.centre.x = place(array.pitch, i % array.columns, array.columns);
    element.centre.y = place(array.row_pitch, i / array.columns, array.rows);
    element.width = array.width;
    element.length = array.length;
  }
  return probe;
}

Probe make_linear_probe(std::size_t count, Metres pitch, Metres element_width, Hertz centre_frequency, Hertz bandwidth) {
  return make_matrix_probe({.columns = count, .pitch = pitch, .row_pitch = {}, .width = element_width, .length = {}},
                           centre_frequency, bandwidth);
}

Probe make_curvilinear_probe(std::size_t count, Metres pitch, Metres radius, Metres element_width, Hertz centre_frequency,
                             Hertz bandwidth) {
  Probe probe = make_linear_probe(count, pitch, element_width, centre_frequency, bandwidth);
  for (Element& element : probe.elements) {
    const double angle = element.centre.x / radius;
    element.centre.x = radius * std::sin(angle);
    element.centre.z = radius * (std::cos(angle) - 1.0);
    element.normal = {std::sin(angle), 0.0, std::cos(angle)};
  }
  return probe;
}

double half_arc(std::size_t count, Metres pitch, Metres radius) {
  return 0.5 * static_cast<double>(count - 1) * (pitch / radius) * 180.0 / std::numbers::pi;
}

std::optional<std::size_t> firing_element(const Acquisition& acquisition, std::size_t event) {
  if (acquisition.events.empty()) return event;
  const auto* const form = std::get_if<ElementEvent>(&acquisition.events[event].form);
  return form != nullptr ? std::optional<std::size_t>(form->element) : std::nullopt;
}

bool all_elements_record(const Acquisition& acquisition) {
  return !acquisition.pairs_once() && std::all_of(acquisition.events.begin(), acquisition.events.end(),
                                                  [](const TransmitEvent& event) { return event.receivers.empty(); });
}

bool tells_directions(const Acquisition& acquisition) {
  return !acquisition.events.empty() || acquisition.elements() < 2 || !acquisition.pairs_summed();
}

std::string_view pairs_word(const Acquisition& acquisition) {
  if (!acquisition.events.empty()) return is_pulse_echo(acquisition.events) ? "pulse-echo" : "events";
  return acquisition.pairs_summed() ? "half_summed" : acquisition.pairs_once() ? "half" : "full";
}

std::string pairs_text(const Acquisition& acquisition) {
  if (acquisition.events.empty()) return fmt::format("{} matrix", pairs_word(acquisition));
  const std::string forms = is_pulse_echo(acquisition.events) ? "pulse-echo" : forms_text(acquisition.events);
  if (acquisition.positions.empty()) return forms;
  return fmt::format("{} position{}, {}", acquisition.positions.size(), acquisition.positions.size() == 1 ? "" : "s", forms);
}

std::string acquisition_text(const Acquisition& acquisition) {
  return fmt::format("{} elements, {}, {} samples at {:g} MHz, {}", acquisition.elements(), pairs_text(acquisition),
                     acquisition.samples, 1e-6 * acquisition.sample_rate.value, words::sample_encoding.of(acquisition.encoding));
}

std::size_t Acquisition::a_scans() const {
  const std::size_t n = elements();
  if (!events.empty()) {
    return std::accumulate(events.begin(), events.end(), std::size_t{0}, [n](std::size_t sum, const TransmitEvent& event) {
      return sum + (event.receivers.empty() ? n : event.receivers.size());
    });
  }
  return matrix == MatrixKind::full ? n * n : n * (n + 1) / 2;
}

std::size_t Acquisition::bytes_per_a_scan() const {
  return facts_of(encoding).bytes_of(samples);
}

void validate(const Acquisition& acquisition, const AcquisitionLimits& limits, std::string_view where) {
  const auto place = [&](std::string_view field) { return fmt::format("{} {}", where, field); };
  const std::size_t n = acquisition.elements();
  if (n == 0 || n > limits.elements) {
    throw InputError(place("elements"), fmt::format("{}", n), fmt::format("1 to {}", limits.elements));
  }
  if (acquisition.samples < 2 || acquisition.samples > limits.samples) {
    throw InputError(place("samples"), fmt::format("{}", acquisition.samples), fmt::format("2 to {}", limits.samples));
  }
  if (acquisition.events.size() > limits.events) {
    throw InputError(place("events"), fmt::format("{}", acquisition.events.size()), fmt::format("at most {}", limits.events));
  }
  // The product cannot overflow: events, receivers and samples are each within their limits, which are far below 2^32.
  if (acquisition.a_scans() > limits.frame_bytes / acquisition.bytes_per_a_scan()) {
    throw InputError(place("frame"), fmt::format("{} A-scans of {} bytes", acquisition.a_scans(), acquisition.bytes_per_a_scan()),
                     fmt::format("at most {} bytes a frame", limits.frame_bytes));
  }
  if (!(acquisition.sample_rate >= minimum_sample_rate && acquisition.sample_rate <= maximum_sample_rate)) {
    throw InputError(place("sample rate"), fmt::format("{} Hz", acquisition.sample_rate.value),
                     fmt::format("{:g} to {:g} Hz", minimum_sample_rate.value, maximum_sample_rate.value));
  }
  for (const auto& [name, time] :
       {std::pair{"start time", acquisition.start_time}, std::pair{"time offset", acquisition.time_offset}}) {
    if (!std::isfinite(time.value) || std::abs(time.value) >= 1.0) {
      throw InputError(place(name), fmt::format("{} s", time.value), "a finite time between -1 s and 1 s");
    }
  }
  if (const double scale = std::abs(acquisition.sample_scale);
      !(scale >= minimum_sample_scale && scale <= maximum_sample_scale)) {
    throw InputError(place("sample scale"), fmt::format("{}", acquisition.sample_scale),
                     fmt::format("a number of magnitude {:g} to {:g}", minimum_sample_scale, maximum_sample_scale));
  }
  if (const Hertz rate = acquisition.pulse_repetition; rate.value != 0.0 && !is_pulse_repetition(rate.value)) {
    throw InputError(
        place("pulse repetition"), fmt::format("{} Hz", rate.value),
        fmt::format("0 (unknown), or {:g} to {:g} Hz", minimum_pulse_repetition.value, maximum_pulse_repetition.value));
  }
  for (const auto& [name, frequency] :
       {std::pair{"centre frequency", acquisition.probe.centre_frequency}, std::pair{"bandwidth", acquisition.probe.bandwidth}}) {
    if (frequency.value == 0.0 || (frequency >= minimum_frequency && frequency <= maximum_frequency)) continue;
    throw InputError(place(name), fmt::format("{} Hz", frequency.value),
                     fmt::format("0 (unknown), or {:g} to {:g} Hz", minimum_frequency.value, maximum_frequency.value));
  }
  // Detectors of photoacoustic sound may stand all around the object.
  const bool passive = all_passive(acquisition.events);
  for (std::size_t i = 0; i < n; ++i) {
    const Element& element = acquisition.probe.elements[i];
    for (const double value : {element.normal.x, element.normal.y, element.normal.z}) {
      if (!std::isfinite(value))
        throw InputError(place(fmt::format("element {}", i)), "a number that is not finite",
                         "finite positions, normals and sizes");
    }
    for (const Metres value : {element.centre.x, element.centre.y, element.centre.z, element.width, element.length}) {
      if (!(std::abs(value.value) <= farthest_element.value))
        throw InputError(place(fmt::format("element {}", i)), fmt::format("{} m", value.value),
                         fmt::format("finite positions and sizes up to {:g} m", farthest_element.value));
    }
    if (passive && element.normal == Direction{0.0, 0.0, 0.0}) {
      throw InputError(place(fmt::format("element {}", i)), "a normal of length 0", "the direction that it faces");
    }
    if (!passive && element.normal.z <= 0.0) {
      throw InputError(place(fmt::format("element {}", i)), fmt::format("emission towards z = {}", element.normal.z),
                       "emission into the part (+z)");
    }
    if (element.width.value < 0.0 || element.length.value < 0.0) {
      throw InputError(place(fmt::format("element {}", i)), "a negative size", "sizes of at least 0");
    }
  }
  validate_positions(acquisition, limits.positions, where);
  validate_events(acquisition, where);
}

}  // namespace echoform
