// The settings of a simulated MicroPulse.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "instruments/micropulse/simulator/command_parser.hpp"

namespace echoform::micropulse_simulator {

/// Defaults are those after a reset.
struct Registers {
  /// Delays in ns by channel.
  using Law = std::map<std::int64_t, std::int64_t>;

  std::int64_t channels = 128;  ///< of the instrument, for arrays
  std::int64_t rate = 50;       ///< MHz
  std::int64_t format = 1;      ///< of DOF
  std::int64_t repetition = 1000;
  std::map<std::int64_t, Law> transmit, receive;                 ///< laws by number; those of reception with delays of 0 alone
  std::map<std::int64_t, std::int64_t> transmit_of, receive_of;  ///< laws by test
  std::map<std::int64_t, std::vector<std::int64_t>> sweeps;      ///< tests
  std::set<std::int64_t> enabled;                                ///< sweeps
  std::int64_t gain = 0;                                         ///< quarters of a dB
  std::array<std::int64_t, 2> gate{0, 0};
  std::int64_t voltage = 0;  ///< 0: no pulses
  std::int64_t width = 0;
  std::int64_t rectifier = 0;
  std::int64_t mode = 0;
  std::int64_t averages = 0;  ///< a power of two: its exponent

  /// Carries out a command that sets something and gets no answer. Returns what is wrong with a command that cannot be
  /// carried out, and then changes nothing. RST is not among these commands: a reset makes a new object.
  [[nodiscard]] std::optional<Complaint> set(const Command& command);
};

}  // namespace echoform::micropulse_simulator
