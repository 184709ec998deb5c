// [input.micropulse]: a Peak MicroPulse as a source of frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"

namespace echoform {

/// What a MicroPulse is set up to fire in a frame.
enum class MicropulseFirings : std::uint8_t {
  fmc,       ///< every element in turn, all receive
  hmc,       ///< the same, each pair once
  elements,  ///< those of `fire` in turn
  plane,     ///< plane waves
};
enum class MicropulseCycling : std::uint8_t { buffered, unbuffered, single };
enum class MicropulseJustified : std::uint8_t { low, high };

namespace words {
inline constexpr auto micropulse_firings = make_words(
    Word<MicropulseFirings>{MicropulseFirings::fmc, "fmc"}, Word<MicropulseFirings>{MicropulseFirings::hmc, "hmc"},
    Word<MicropulseFirings>{MicropulseFirings::elements, "elements"}, Word<MicropulseFirings>{MicropulseFirings::plane, "plane"});
inline constexpr auto micropulse_cycling = make_words(Word<MicropulseCycling>{MicropulseCycling::buffered, "buffered"},
                                                      Word<MicropulseCycling>{MicropulseCycling::unbuffered, "unbuffered"},
                                                      Word<MicropulseCycling>{MicropulseCycling::single, "single"});
inline constexpr auto micropulse_justified = make_words(Word<MicropulseJustified>{MicropulseJustified::low, "low"},
                                                        Word<MicropulseJustified>{MicropulseJustified::high, "high"});
}  // namespace words

struct MicropulseSection {
  std::string connect;  ///< empty: no such instrument
  // The probe.
  std::size_t elements = 64;
  Metres pitch{0.6e-3};
  std::optional<Metres> element_width;  ///< absent: unknown
  Hertz centre_frequency{5e6};
  std::size_t first_channel = 1;
  std::size_t channel_base = 0;
  // A frame.
  MicropulseFirings transmit = MicropulseFirings::fmc;
  std::vector<std::size_t> fire;
  std::array<double, 2> angles{-20.0, 20.0};  ///< first and last, degrees
  std::size_t events = 16;
  Hertz sample_rate{50e6};
  std::size_t gate_start = 0;  ///< samples
  std::size_t samples = 2000;
  std::size_t bits = 16;
  MicropulseJustified justified = MicropulseJustified::high;
  // How it is fired and received.
  MicropulseCycling cycling = MicropulseCycling::buffered;
  std::size_t pulse_repetition = 5000;
  std::size_t averages = 1;
  double gain = 40.0;  ///< dB
  std::size_t pulse_voltage = 100;
  Seconds pulse_width{100e-9};
  std::size_t filter = 4;
  std::size_t smoothing = 0;
  std::size_t encoder_axis = 0;  ///< 0: none
  std::vector<std::string> commands;
  // Patience.
  Seconds reset_wait{3.0};
  Seconds answer_timeout{10.0};
  Seconds silence_timeout{5.0};
};

}  // namespace echoform
