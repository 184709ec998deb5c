#include "instruments/us_lab4a/us_lab4a_door.hpp"

#include <utility>
#include <vector>

#include "instruments/us_lab4a/us_lab4a_section.hpp"
#include "instruments/us_lab4a/us_lab4a_source.hpp"

namespace echoform {

OpenSource make_us_lab4a_door(const Configuration& configuration, const Clock& clock) {
  const auto& wanted = section<UsLab4aSection>(configuration);
  if (wanted.connect.empty()) return {};
  const HostPort place = parse_host_port(wanted.connect, configuration.place("[input.us_lab4a] connect"));
  us_lab4a::SourceOptions options;
  options.host = place.host;
  options.port = place.port;
  options.acquisition.probe =
      make_linear_probe(wanted.elements, wanted.pitch, wanted.element_width.value_or(Metres{}), wanted.centre_frequency, Hertz{});
  if (!wanted.fire.empty()) {
    options.acquisition.events = element_events(std::vector<std::uint32_t>(wanted.fire.begin(), wanted.fire.end()));
  }
  options.sample_rate = wanted.sample_rate.value;
  options.acquisition_time = wanted.acquisition_time.value;
  options.gain = wanted.gain;
  options.pulses = static_cast<std::uint32_t>(wanted.pulses);
  options.base_element = static_cast<std::uint32_t>(wanted.base_element);
  options.answer_timeout = in_milliseconds(wanted.answer_timeout);
  return us_lab4a::make_us_lab4a_source(std::move(options), clock, configuration.place("[input.us_lab4a]"));
}

}  // namespace echoform
