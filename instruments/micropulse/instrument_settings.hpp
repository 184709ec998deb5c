// Settings of a Peak MicroPulse besides its events: docs/micropulse.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform::micropulse {

/// Bits of a sample; values are the numbers of the command DOF.
enum class SampleBits : std::uint8_t { eight = 1, ten = 2, twelve = 3, sixteen = 4 };

/// Whether the 10 or 12 bits of a sample are the low or the high ones of its 16. Drivers disagree about it.
enum class Justified : std::uint8_t { low, high };

/// How the instrument is made to fire.
enum class Cycling : std::uint8_t {
  buffered,    ///< by itself, through its own buffer, with a message of encoders in each cycle (STRS)
  unbuffered,  ///< by itself (STPS)
  single,      ///< each frame is asked for (CALS)
};

struct InstrumentSettings {
  unsigned sample_rate_mhz = 50;  ///< 10, 25, 40, 50, 80 or 100
  SampleBits bits = SampleBits::sixteen;
  Justified justified = Justified::high;
  Cycling cycling = Cycling::buffered;
  unsigned pulse_repetition = 5000;   ///< firings a second, 1 .. 55000
  double gain_db = 40.0;              ///< 0 .. 70, in steps of 0.25
  std::size_t gate_start = 0;         ///< first sample of an A-scan, counted from the firing
  unsigned pulse_voltage = 100;       ///< 50 .. 200 V in steps of 25
  unsigned pulse_width = 100;         ///< 20 .. 500 ns in steps of 2
  unsigned filter = 4;                ///< 1: 5 to 10 MHz, 2: 2 to 10, 3: 0.75 to 5, 4: 0.75 to 20
  unsigned smoothing = 0;             ///< second number of FRQS: 0 or 1
  unsigned averages_log2 = 0;         ///< 2 to this power firings are averaged, 0 .. 6
  unsigned first_channel = 1;         ///< of the instrument, at the probe's element 0; they follow each other
  std::vector<std::string> commands;  ///< of the user, a line each, behind the set-up
};

/// Settings that may change while the instrument fires, between two frames.
struct LiveSettings {
  unsigned pulse_repetition = 5000;
  double gain_db = 40.0;
  std::size_t gate_start = 0;
  std::size_t samples = 0;  ///< of an A-scan

  bool operator==(const LiveSettings&) const = default;
};

/// Maximum number of samples of an A-scan, without echo triggers.
inline constexpr std::size_t most_samples = 8000;
/// The first test of phased arrays, that of the first event.
inline constexpr std::uint32_t first_test = 256;
/// Maximum number of events. Test numbers are sent less one, in 11 bits.
inline constexpr std::size_t most_events = 2048 - (first_test - 1);
inline constexpr std::size_t longest_line = 1024;

[[nodiscard]] constexpr std::size_t bytes_per_sample(SampleBits bits) {
  return bits == SampleBits::eight ? 1 : 2;
}
[[nodiscard]] constexpr unsigned bit_count(SampleBits bits) {
  return bits == SampleBits::sixteen ? 16 : 6 + 2 * static_cast<unsigned>(bits);
}
/// Amplitude of one count of the decoded samples (sample_decoder.hpp): full scale is 1.
[[nodiscard]] double sample_scale(SampleBits bits, Justified justified);

/// Throws InputError, naming `where` and what the key is called in a configuration, for a setting out of the ranges above.
void validate(const InstrumentSettings& settings, std::string_view where);

/// The acquisition that an instrument with these settings sends when it is set up for `wanted`. Of `wanted` only probe,
/// events, matrix and samples are used; encoding, sample rate, start time and scale follow from the settings. Throws
/// InputError, naming `where`, for an acquisition that the instrument cannot make: too many events or samples, weights,
/// delays below 0 or beyond 25 us, codes, events without a transmitter, sums of both directions, or several positions of the
/// probe.
[[nodiscard]] Acquisition instrument_acquisition(Acquisition wanted, const InstrumentSettings& settings, std::string_view where);

[[nodiscard]] LiveSettings live_settings(const InstrumentSettings& settings, const Acquisition& acquisition);
/// Puts `live` into both settings and acquisition. Where it throws InputError, as instrument_acquisition() does, it changes
/// neither.
void put_live(const LiveSettings& live, InstrumentSettings& settings, Acquisition& acquisition, std::string_view where);

}  // namespace echoform::micropulse
