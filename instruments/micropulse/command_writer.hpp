// The commands for a MicroPulse, as lines of text without line ends. Each line is sent with a carriage return behind it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "instruments/micropulse/instrument_settings.hpp"

namespace echoform::micropulse {

/// The command that resets the instrument and sets the digitiser's rate. Everything else has its default afterwards. The
/// instrument answers with 32 bytes.
[[nodiscard]] std::string reset_command(const InstrumentSettings& settings);

/// Test 256 + k fires event k: its delays are law k + 1 of transmission, its receivers law k + 1 of reception. All tests are
/// sweep 1, the only one that is enabled. `acquisition` comes from instrument_acquisition(). Delays are rounded to the nearest
/// ns.
[[nodiscard]] std::vector<std::string> setup_commands(const Acquisition& acquisition, const InstrumentSettings& settings);

/// The commands for the settings that differ between the two.
[[nodiscard]] std::vector<std::string> change_commands(const LiveSettings& before, const LiveSettings& after);

/// The command that makes the instrument fire until it is stopped, or once, where each frame is requested.
[[nodiscard]] std::string_view start_command(Cycling cycling);
/// Stops the instrument, and empties its buffer.
inline constexpr std::string_view stop_command = "STX 1";
/// The instrument answers with a message of state and encoders. By then it has accepted or refused all earlier commands.
inline constexpr std::string_view state_command = "STA";

/// The lines with their ends.
[[nodiscard]] std::string joined(const std::vector<std::string>& lines);

}  // namespace echoform::micropulse
