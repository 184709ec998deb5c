#include "instruments/us_lab4a/simulator/simulated_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "instruments/simulated_scene.hpp"

namespace echoform::us_lab4a_simulator {
namespace {

constexpr std::uint32_t version = 1006;
constexpr std::size_t header_bytes = 8;
constexpr std::size_t longest_message = 1 << 16;
constexpr std::size_t most_samples = 65536;
constexpr double reference_gain_db = 40.0;

// Types of messages, with the names of the protocol.
enum : std::uint32_t {
  connect_request = 2001,
  disconnect_request = 2002,
  ok_response = 2003,
  error_response = 2004,
  get_signal_length_request = 2005,
  get_signal_request = 2007,
  get_max_sample_value_request = 2009,
  get_min_sample_value_request = 2011,
  get_sampling_frequency_request = 2013,
  set_acquisition_time_request = 2015,
  set_active_receive_elements_request = 2016,
  set_active_transmit_elements_request = 2017,
  set_base_element_request = 2018,
  set_center_frequency_request = 2019,
  set_gain_request = 2020,
  set_receive_delays_request = 2021,
  set_sampling_frequency_request = 2022,
  set_transmit_delays_request = 2023,
  exec_pre_configuration_request = 2024,
  exec_post_configuration_request = 2025,
  exec_pre_loop_configuration_request = 2026,
  exec_post_loop_configuration_request = 2027,
};

/// Thrown for a request that is answered with an error.
struct Refusal {
  std::string why;
};

void require(bool holds, std::string why) {
  if (!holds) throw Refusal{std::move(why)};
}

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

void put(std::string& bytes, std::uint32_t value, int size = 4) {
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFFU);
}

std::uint32_t number(std::string_view values) {
  require(values.size() == 4, "the values have another length");
  return big_endian(values);
}

double real(std::string_view values, double low, double high) {
  const auto value = static_cast<double>(std::bit_cast<float>(number(values)));
  require(value >= low && value <= high, fmt::format("{} is out of range", value));
  return value;
}

std::string mask(std::string_view values, std::size_t elements) {
  require(values.size() >= 4 && values.size() == std::size_t{4} + big_endian(values), "the values have another length");
  std::string elements_of(values.substr(4));
  require(elements_of.size() <= elements,
          fmt::format("a mask of {} elements, of which there are {}", elements_of.size(), elements));
  require(elements_of.find_first_not_of("01") == std::string::npos, "a mask of other letters than 0 and 1");
  require(elements_of.find('1') != std::string::npos, "a mask without an element");
  return elements_of;
}

}  // namespace

SimulatedArray::SimulatedArray(SimulatorConfiguration scene) : scene_(std::move(scene)) {}

void SimulatedArray::greet() {
  heard_.clear();
  outbox.clear();
  hangs_up_ = connected_ = configuring_ = configured_ = false;
  settings_ = {};
  cycle_.reset();
  fired_.reset();
}

void SimulatedArray::send(std::uint32_t type, const std::string& values) {
  std::string bytes;
  put(bytes, type);
  put(bytes, static_cast<std::uint32_t>(values.size()));
  bytes += values;
  outbox.insert(outbox.end(), bytes.begin(), bytes.end());
}

bool SimulatedArray::hear(std::string_view text, SteadyTime /*now*/) {
  if (hangs_up_) return false;
  heard_ += text;
  while (!hangs_up_ && heard_.size() >= header_bytes) {
    const std::uint32_t type = big_endian(heard_);
    const std::size_t size = header_bytes + big_endian(std::string_view(heard_).substr(4));
    if (type < connect_request || type > exec_post_loop_configuration_request || size > longest_message) {
      hangs_up_ = true;
      doubt_ = fmt::format("hears a message {} of {} bytes, and hangs up", type, size);
      break;
    }
    if (heard_.size() < size) break;
    if (outbox.size() >= most_unsent) return true;
    const std::string values = heard_.substr(header_bytes, size - header_bytes);
    heard_.erase(0, size);
    try {
      follow(type, values);
    } catch (const Refusal& refusal) {
      std::string why;
      put(why, static_cast<std::uint32_t>(refusal.why.size()));
      send(error_response, why + refusal.why);
    }
  }
  return false;
}

void SimulatedArray::follow(std::uint32_t type, std::string_view values) {
  if (type == disconnect_request) {
    hangs_up_ = true;
    return;
  }
  if (type == connect_request) {
    require(number(values) == version, "Invalid protocol version.");
    connected_ = true;
    return send(ok_response, {});
  }
  require(connected_, "not connected");
  if (type >= set_acquisition_time_request) {
    set(type, values);
    send(ok_response, {});
  } else {
    get(type, values);
  }
}

void SimulatedArray::set(std::uint32_t type, std::string_view values) {
  const Settings before = settings_;
  const auto only_in_configuration = [&] {
    require(configuring_, "this is set between pre-configuration and post-configuration");
  };
  const std::size_t elements = scene_.element_count();
  switch (type) {
    case set_acquisition_time_request:
      only_in_configuration();
      settings_.acquisition_time = real(values, 1e-9, 1.0);
      break;
    case set_active_receive_elements_request:
      settings_.receive = mask(values, elements);
      break;
    case set_active_transmit_elements_request:
      settings_.transmit = mask(values, elements);
      return;
    case set_base_element_request:
      require(number(values) < elements, fmt::format("base element {}, of {} elements", number(values), elements));
      settings_.base_element = number(values);
      break;
    case set_center_frequency_request:
      only_in_configuration();
      require(values.size() == 8, "the values have another length");
      require(number(values.substr(4)) >= 1 && number(values.substr(4)) <= 100, "1 to 100 pulses");
      settings_.centre_frequency = real(values.substr(0, 4), 1e3, 1e9);
      break;
    case set_gain_request:
      only_in_configuration();
      settings_.gain = real(values, 0.0, 120.0);
      break;
    case set_sampling_frequency_request:
      only_in_configuration();
      settings_.sampling_frequency = real(values, 1e3, 1e9);
      break;
    case exec_pre_configuration_request:
      require(values.empty(), "the values have another length");
      configuring_ = true;
      configured_ = false;
      break;
    case exec_post_configuration_request:
      require(values.empty(), "the values have another length");
      only_in_configuration();
      require(settings_.sampling_frequency > 0.0 && settings_.acquisition_time > 0.0 && settings_.centre_frequency > 0.0 &&
                  !settings_.receive.empty(),
              "sampling frequency, acquisition time, centre frequency and receivers are to be set first");
      configuring_ = false;
      configured_ = true;
      break;
    case exec_pre_loop_configuration_request:
    case exec_post_loop_configuration_request:
      require(values.empty(), "the values have another length");
      require(configured_, "it has not been configured");
      break;
    default:
      throw Refusal{"delays are not simulated: elements fire alone"};
  }
  if (settings_ != before) cycle_.reset();
}

void SimulatedArray::get(std::uint32_t type, std::string_view values) {
  require(values.empty(), "the values have another length");
  std::string answer;
  switch (type) {
    case get_signal_length_request:
      require(configured_, "it has not been configured");
      put(answer, static_cast<std::uint32_t>(std::lround(settings_.acquisition_time * settings_.sampling_frequency)));
      break;
    case get_signal_request:
      return send_signal();
    case get_max_sample_value_request:
      put(answer, 2047, 2);
      break;
    case get_min_sample_value_request:
      put(answer, static_cast<std::uint32_t>(-2048), 2);
      break;
    case get_sampling_frequency_request:
      require(settings_.sampling_frequency > 0.0, "it has not been set");
      put(answer, std::bit_cast<std::uint32_t>(static_cast<float>(settings_.sampling_frequency)));
      break;
    default:
      throw Refusal{fmt::format("{} is an answer", type)};
  }
  send(type + 1, answer);
}

void SimulatedArray::send_signal() {
  require(configured_, "it has not been configured");
  require(std::count(settings_.transmit.begin(), settings_.transmit.end(), '1') == 1, "an element fires alone");
  const std::size_t elements = scene_.element_count();
  require(settings_.base_element + std::max(settings_.transmit.size(), settings_.receive.size()) <= elements,
          fmt::format("elements behind the last of {}", elements));
  const auto samples = static_cast<std::size_t>(std::lround(settings_.acquisition_time * settings_.sampling_frequency));
  require(samples >= 2 && samples <= most_samples, fmt::format("{} samples", samples));
  if (cycle_ == nullptr) {
    SimulatorConfiguration source =
        heard_scene(scene_, samples, Hertz(settings_.sampling_frequency), Seconds{}, settings_.gain - reference_gain_db);
    try {
      require(!source.sound, "a scene in which light makes sound");
      cycle_ = std::make_unique<FrameCycle>(std::move(source));
    } catch (const std::exception& error) {
      doubt_ = fmt::format("cannot fire: {}", error.what());
      throw Refusal{error.what()};
    }
  }
  const std::size_t element = settings_.base_element + settings_.transmit.find('1');
  if (fired_ && element <= *fired_) ++frame_;
  fired_ = element;
  const std::span<const std::byte> shot = cycle_->frame(frame_).subspan(2 * element * elements * samples, 2 * elements * samples);
  std::string signal;
  const auto active = static_cast<std::size_t>(std::count(settings_.receive.begin(), settings_.receive.end(), '1'));
  put(signal, static_cast<std::uint32_t>(active * samples));
  for (std::size_t k = 0; k < settings_.receive.size(); ++k) {
    if (settings_.receive[k] != '1') continue;
    const std::byte* at = shot.data() + 2 * (settings_.base_element + k) * samples;
    for (std::size_t n = 0; n < samples; ++n, at += 2) {
      std::int16_t count = 0;
      std::memcpy(&count, at, sizeof count);
      put(signal, static_cast<std::uint16_t>(count), 2);
    }
  }
  send(get_signal_request + 1, signal);
}

}  // namespace echoform::us_lab4a_simulator
