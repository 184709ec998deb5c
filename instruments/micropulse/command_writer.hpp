// What a MicroPulse is told, as lines of text without their ends: each goes out with a carriage return behind it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "instruments/micropulse/instrument_settings.hpp"

namespace echoform::micropulse {

/// The digitiser's rate; all else is at its defaults afterwards. Answered by 32 bytes.
[[nodiscard]] std::string reset_command(const InstrumentSettings& settings);

/// Test 256 + k fires event k: its delays are law k + 1 of transmission, its receivers law k + 1 of reception. All tests are
/// sweep 1, the only one that is enabled. `acquisition` comes from instrument_acquisition(). Delays are rounded to the nearest
/// ns.
[[nodiscard]] std::vector<std::string> setup_commands(const Acquisition& acquisition, const InstrumentSettings& settings);

/// What of the set-up differs between the two.
[[nodiscard]] std::vector<std::string> change_commands(const LiveSettings& before, const LiveSettings& after);

/// Makes it fire until it is stopped, or, where each frame is asked for, once.
[[nodiscard]] std::string_view start_command(Cycling cycling);
/// Stops it, and empties its buffer.
inline constexpr std::string_view stop_command = "STX 1";
/// Answered by a message of state and encoders; by then everything that was said before has been understood or refused.
inline constexpr std::string_view state_command = "STA";

/// The lines with their ends.
[[nodiscard]] std::string joined(const std::vector<std::string>& lines);

}  // namespace echoform::micropulse
