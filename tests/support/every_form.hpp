// Acquisitions whose events have every form.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform::testing_support {

/// Events of an array of five elements, in every form but codes, which cannot be mixed with others. Each form appears with
/// every field stated, and without any field that may be left out.
inline std::vector<TransmitEvent> waves_of_every_form() {
  std::vector<TransmitEvent> events = element_events(std::vector<std::uint32_t>{4, 0});
  events.push_back({PlaneWaveEvent{1.5e-5, -2e-5, Seconds(-3e-7), {4, 1}, 1.4e-4}, {3, 0}});
  events.push_back({plane_wave(-0.2, MetresPerSecond(6320.0)), {}});
  events.push_back({PlaneWaveEvent{0.0, 0.0, Seconds(0.0), {}}, {}});
  events.push_back(
      {PointWaveEvent{{Metres(1e-3), Metres(2e-3), Metres(-0.03)}, MetresPerSecond(1480.0), Seconds(1e-6), {0, 2}}, {1}});
  events.push_back({PointWaveEvent{{Metres(0.0), Metres(0.0), Metres(0.04)}, MetresPerSecond(5900.0), std::nullopt, {}}, {}});
  events.push_back({LawEvent{{3, 1}, {1e-7F, -2.5e-8F}, {0.5F, 1.0F}}, {0, 4}});
  events.push_back({LawEvent{{2}, {}, {}}, {}});
  return events;
}

inline Acquisition acquisition_of_elements(std::size_t elements, std::size_t samples) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(elements, Metres(0.6e-3), Metres(0.53e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = samples;
  acquisition.sample_rate = Hertz(40e6);
  return acquisition;
}

/// An acquisition of five elements and events of every form.
inline Acquisition acquisition_of_waves(std::size_t samples) {
  Acquisition acquisition = acquisition_of_elements(5, samples);
  acquisition.events = waves_of_every_form();
  return acquisition;
}
/// The same at three positions of the probe, that take turns, and element 4 once more, at another one.
inline Acquisition acquisition_of_positions(std::size_t samples) {
  Acquisition acquisition = acquisition_of_waves(samples);
  acquisition.positions = {
      {},
      {{Metres(1.5e-3), Metres(-2e-3), Metres(0.0)}, {0.6, 0.8, 0.0}, {-0.8, 0.6, 0.0}},
      {{Metres(-0.01), Metres(0.0), Metres(-5e-3)}, {0.8, 0.0, -0.6}, {0.0, 1.0, 0.0}},
  };
  acquisition.events.push_back({ElementEvent{4}, {2}});
  for (std::uint32_t event = 0; event < acquisition.events.size(); ++event) acquisition.events[event].position = event % 3;
  acquisition.events.back().position = 1;
  return acquisition;
}
/// The rows of a Hadamard matrix, and the second once more, received by two.
inline Acquisition acquisition_of_codes(std::size_t samples) {
  Acquisition acquisition = acquisition_of_elements(4, samples);
  acquisition.events = hadamard_events(4);
  acquisition.events.push_back({acquisition.events[1].form, {3, 1}});
  return acquisition;
}
/// Detectors on all sides that face each other, two wavelengths, one again with a known energy, and one event of which nothing is
/// known, that two record.
inline Acquisition acquisition_of_passive(std::size_t samples) {
  Acquisition acquisition = acquisition_of_elements(6, samples);
  const Direction inward[] = {{-1.0, 0.0, 0.0}, {1.0, 0.0, 0.0},  {0.0, -1.0, 0.0},
                              {0.0, 0.0, -1.0}, {-0.6, 0.8, 0.0}, {0.0, 0.0, 1.0}};
  for (std::size_t i = 0; i < acquisition.elements(); ++i) {
    Element& element = acquisition.probe.elements[i];
    element.normal = inward[i];
    element.centre = {Metres(-0.04 * inward[i].x), Metres(-0.04 * inward[i].y), Metres(-0.04 * inward[i].z)};
    element.length = Metres(2e-3);
  }
  acquisition.events = {{PassiveEvent{Metres(750e-9), 0.0}, {}},
                        {PassiveEvent{Metres(850e-9), 12e-3}, {5, 0, 3}},
                        {PassiveEvent{Metres(850e-9), 11e-3}, {}},
                        {PassiveEvent{}, {1, 2}}};
  return acquisition;
}
/// The same at two positions, the second of which is upside down.
inline Acquisition acquisition_of_turned_passive(std::size_t samples) {
  Acquisition acquisition = acquisition_of_passive(samples);
  acquisition.positions = {{}, {{Metres(0.0), Metres(1e-3), Metres(0.0)}, {1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}}};
  acquisition.events[1].position = acquisition.events[3].position = 1;
  return acquisition;
}

}  // namespace echoform::testing_support
