#include "instruments/micropulse/simulator/simulated_cycle.hpp"

#include <fmt/format.h>

#include <cstring>
#include <set>

#include "base/errors.hpp"
#include "instruments/simulated_scene.hpp"

namespace echoform::micropulse_simulator {
namespace {

constexpr std::string_view here = "MicroPulse simulator";
constexpr std::int64_t full_matrix_capture = 13;
constexpr std::int64_t unrectified = 1;

void require(bool holds, std::string_view found, std::string_view expected) {
  if (!holds) throw InputError(here, found, expected);
}

const Registers::Law& law_of(const std::map<std::int64_t, Registers::Law>& laws, const std::map<std::int64_t, std::int64_t>& of,
                             std::int64_t test, std::string_view direction) {
  const auto number = of.find(test);
  const auto law = number == of.end() ? laws.end() : laws.find(number->second);
  require(law != laws.end() && !law->second.empty(), fmt::format("test {} without a law that {}", test, direction),
          "laws of both directions with channels");
  return law->second;
}

TransmitEvent event_of(const Registers::Law& transmit, const Registers::Law& receive) {
  TransmitEvent event;
  if (transmit.size() == 1 && transmit.begin()->second == 0) {
    event.form = ElementEvent{static_cast<std::uint32_t>(transmit.begin()->first - 1)};
  } else {
    LawEvent law;
    for (const auto& [channel, delay] : transmit) {
      law.elements.push_back(static_cast<std::uint32_t>(channel - 1));
      law.delays.push_back(1e-9F * static_cast<float>(delay));
    }
    event.form = std::move(law);
  }
  for (const auto& [channel, delay] : receive) {
    require(delay == 0, fmt::format("a delay of {} ns in reception", delay), "none: channels are sent one by one");
    event.receivers.push_back(static_cast<std::uint32_t>(channel - 1));
  }
  return event;
}

}  // namespace

SimulatedCycle::SimulatedCycle(const Registers& registers, const SimulatorConfiguration& scene, const Habits& habits)
    : format_(registers.format), habits_(habits) {
  require(!scene.sound, "a scene in which light makes sound", "one that the probe transmits into");
  require(registers.mode == full_matrix_capture, fmt::format("mode {}", registers.mode),
          "mode 13, an A-scan a channel (AMP 0 13 n)");
  require(registers.rectifier == unrectified, "a rectified signal", "the whole signal (AWF 0 1)");
  require(registers.voltage > 0 && registers.width > 0, "no pulse", "its voltage and width (PAV, PAW)");
  require(registers.gate[1] > registers.gate[0], "no gate", "one (GAT)");
  require(registers.enabled.contains(1), "sweep 1 switched off", "it switched on (SWP 1 ..., ENAS 1)");

  const Hertz rate(1e6 * static_cast<double>(registers.rate));
  SimulatorConfiguration source = heard_scene(scene, static_cast<std::size_t>(registers.gate[1] - registers.gate[0]), rate,
                                              Seconds(static_cast<double>(registers.gate[0]) / rate.value),
                                              0.25 * static_cast<double>(registers.gain) - habits.reference_gain_db);
  for (const std::int64_t test : registers.sweeps.at(1)) {
    const auto& transmit = law_of(registers.transmit, registers.transmit_of, test, "transmits");
    const auto& receive = law_of(registers.receive, registers.receive_of, test, "receives");
    const auto elements = static_cast<std::int64_t>(source.element_count());
    require(transmit.rbegin()->first <= elements && receive.rbegin()->first <= elements,
            fmt::format("channels beyond {}", elements), "those that the scene's probe has elements for");
    source.events.push_back(event_of(transmit, receive));
    for (const auto& [channel, delay] : receive) {
      rows_.push_back({static_cast<std::uint32_t>(test), static_cast<std::uint32_t>(channel - 1)});
    }
  }
  const double firings = std::ldexp(static_cast<double>(source.events.size()), static_cast<int>(registers.averages));
  period_ = std::chrono::nanoseconds(std::llround(1e9 * firings / static_cast<double>(registers.repetition)));
  frames_ = std::make_unique<FrameCycle>(std::move(source));
}

void SimulatedCycle::write(std::uint64_t number, std::vector<std::uint8_t>& out) {
  const auto frame = frames_->frame(number);
  const std::size_t samples = frames_->acquisition().samples;
  const int bits = format_ == 4 ? 16 : 6 + 2 * static_cast<int>(format_);
  const std::size_t size = bits == 8 ? 1 : 2;
  const std::size_t message = 8 + size * samples;
  std::size_t at = out.size();
  out.resize(at + message * rows_.size());
  const std::byte* counts = frame.data();
  // Shifts from the 12 bits of the converter to the requested number of bits, and on to their place in the word.
  const int fewer = bits < 12 ? 12 - bits : 0;
  const int more = bits > 12 ? bits - 12 : 0;
  const int up = habits_.high_bits && size == 2 ? 16 - bits : 0;
  for (const Row& row : rows_) {
    const std::uint32_t test = row.test - 1;
    const std::uint32_t channel = row.channel + habits_.channel_base;
    const std::array<std::uint8_t, 8> header{0x1A,
                                             static_cast<std::uint8_t>(message),
                                             static_cast<std::uint8_t>(message >> 8),
                                             static_cast<std::uint8_t>(message >> 16),
                                             static_cast<std::uint8_t>(test),
                                             static_cast<std::uint8_t>((test >> 8 & 0x7) | 1U << 3),  // sweep 1
                                             static_cast<std::uint8_t>(format_ | (channel >> 8) << 5),
                                             static_cast<std::uint8_t>(channel)};
    std::memcpy(out.data() + at, header.data(), header.size());
    at += header.size();
    for (std::size_t n = 0; n < samples; ++n) {
      std::int16_t count = 0;
      std::memcpy(&count, counts, sizeof count);
      counts += sizeof count;
      const int raw = ((((count + 2048) >> fewer) << more) << up);
      out[at++] = static_cast<std::uint8_t>(raw);
      if (size == 2) out[at++] = static_cast<std::uint8_t>(raw >> 8);
    }
  }
}

}  // namespace echoform::micropulse_simulator
