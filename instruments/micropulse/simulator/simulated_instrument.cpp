#include "instruments/micropulse/simulator/simulated_instrument.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/errors.hpp"

namespace echoform::micropulse_simulator {
namespace {

constexpr std::uint8_t type_mp6 = 0x50;
constexpr std::uint32_t buffer_bytes = 1U << 27;
/// The longest delay behind its schedule that the instrument catches up with; it skips longer ones.
constexpr SteadyTime most_late = std::chrono::milliseconds(500);

/// The argument of a command with exactly one argument.
std::optional<std::int64_t> only(const Command& command) {
  return command.arguments.size() == 1 ? command.arguments[0] : std::nullopt;
}

}  // namespace

SimulatedInstrument::SimulatedInstrument(SimulatorConfiguration scene, const Habits& habits)
    : scene_(std::move(scene)), habits_(habits) {
  registers_.channels = static_cast<std::int64_t>(scene_.element_count());
}

void SimulatedInstrument::greet() {
  parser_ = {};
  outbox.clear();
  firing_ = Firing::none;
  due_.reset();
}

bool SimulatedInstrument::hear(std::string_view text, SteadyTime now) {
  parser_.take(text);
  made_ = false;
  while (const auto command = parser_.next()) {
    follow(*command, now);
    if (made_) return true;
  }
  return false;
}

void SimulatedInstrument::complain(Complaint complaint) {
  ++complaints_;
  outbox.insert(outbox.end(), {0x06, static_cast<std::uint8_t>(complaint)});
}

void SimulatedInstrument::send_info() {
  std::array<std::uint8_t, 32> info{};
  info[0] = 0x23;
  info[2] = static_cast<std::uint8_t>(registers_.channels);
  info[4] = type_mp6;
  info[7] = static_cast<std::uint8_t>(registers_.format);
  info[8] = 50;
  info[9] = static_cast<std::uint8_t>(registers_.rate);
  info[10] = 1;
  info[17] = static_cast<std::uint8_t>((registers_.channels >> 8) + 1);
  outbox.insert(outbox.end(), info.begin(), info.end());
}

void SimulatedInstrument::send_state() {
  const EncoderCount count = encoder_count(scene_.encoder, number_).value_or(0);
  std::array<std::uint8_t, 18> state{0x15};
  for (std::size_t byte = 0; byte < 3; ++byte) state[2 + byte] = static_cast<std::uint8_t>(count >> (8 * byte));
  for (std::size_t byte = 0; byte < 4; ++byte) state[14 + byte] = static_cast<std::uint8_t>(buffer_bytes >> (8 * byte));
  outbox.insert(outbox.end(), state.begin(), state.end());
}

void SimulatedInstrument::reset(const Command& command) {
  constexpr std::array<std::int64_t, 6> rates{10, 25, 40, 50, 80, 100};
  const auto rate = only(command);
  if (!rate || std::find(rates.begin(), rates.end(), *rate) == rates.end()) return complain(Complaint::out_of_limits);
  const auto channels = registers_.channels;
  registers_ = {};
  registers_.channels = channels;
  registers_.rate = *rate;
  cycle_.reset();
  number_ = 0;
  firing_ = Firing::none;
  due_.reset();
  send_info();
}

void SimulatedInstrument::fire(Firing firing, SteadyTime now) {
  try {
    if (cycle_ == nullptr) {
      made_ = true;  // also set when making it fails: either takes time
      cycle_ = std::make_unique<SimulatedCycle>(registers_, scene_, habits_);
    }
  } catch (const std::exception& error) {
    doubt_ = std::string("cannot fire: ") + error.what();
    return complain(Complaint::conflict);
  }
  firing_ = firing;
  due_ = now + cycle_->period();
}

void SimulatedInstrument::stop(bool flush) {
  firing_ = Firing::none;
  due_.reset();
  if (!flush) return;
  // Filler bytes, then the message that the flush is done.
  outbox.insert(outbox.end(), {0x00, 0x00, 0x00, 0x00, 0x2D, 0x05, 0x00, 0x00, 0x03});
}

void SimulatedInstrument::speak(SteadyTime now) {
  if (!due_) return;
  if (cycle_ == nullptr) {
    // One or more commands have changed the settings since the last cycle; the new cycle starts one period from now.
    due_.reset();
    return fire(std::exchange(firing_, Firing::none), now);
  }
  if (firing_ == Firing::free_with_state) send_state();
  cycle_->write(number_++, outbox);
  if (firing_ == Firing::once_with_end) outbox.insert(outbox.end(), {0x01, 0x01});
  if (firing_ == Firing::once || firing_ == Firing::once_with_end) {
    firing_ = Firing::none;
    due_.reset();
    return;
  }
  *due_ += cycle_->period();
  if (now - *due_ > most_late) due_ = now;
}

void SimulatedInstrument::follow(const Command& command, SteadyTime now) {
  if (command.complaint) return complain(*command.complaint);
  const std::string& name = command.mnemonic;
  const auto argument = only(command);
  if (name == "RST") return reset(command);
  if (name == "STA") return command.arguments.empty() ? send_state() : complain(Complaint::out_of_limits);
  if (name == "STS") return argument == -1 ? send_info() : complain(Complaint::out_of_limits);
  if (name == "STX") {
    if (!command.arguments.empty() && argument != 1) return complain(Complaint::out_of_limits);
    return stop(argument == 1);
  }
  if (name == "CALS" || name == "STPS" || name == "STRS") {
    const bool all = name == "CALS" && argument == 0;
    if (!all && argument != 1) return complain(Complaint::out_of_limits);
    return fire(name == "STPS"   ? Firing::free
                : name == "STRS" ? Firing::free_with_state
                : all            ? Firing::once_with_end
                                 : Firing::once,
                now);
  }
  if (const auto complaint = registers_.set(command)) return complain(*complaint);
  cycle_.reset();  // an instrument that is firing continues with the new settings
}

}  // namespace echoform::micropulse_simulator
