// What the source of a MicroPulse carries, against a bare reader of the same bytes.
#pragma once

#include <cstddef>

#include "benchmarks/statistics.hpp"
#include "benchmarks/turns.hpp"

namespace echoform::benchmarks {

struct MicropulseCase {
  std::size_t elements = 64;                             ///< of a full matrix, 1 .. 256
  std::size_t samples = 1000;                            ///< of 16 bits, in an A-scan, 2 .. 8000
  std::size_t bytes_per_round = std::size_t{256} << 20;  ///< sent in each round to each reader, rounded up to whole frames
  std::size_t rounds = 15;                               ///< measured; one more is run first and forgotten
  double bytes_per_second = 0.0;                         ///< at which the instrument sends; 0: as fast as it is read
};

struct MicropulseRates {
  MicropulseCase measured;
  std::size_t frame_bytes = 0;  ///< of a frame with its headers
  Spread source;                ///< bytes of the stream per second, through the source into slots
  Spread bare;                  ///< the same, by a loop of reads
  Spread ratio;                 ///< source over bare, of the two measurements of each round
  Turns turns;                  ///< "source" and "bare", in the order of measurement
};

/// Over loopback TCP an instrument that is nothing but a sender answers to the set-up and sends frames as fast as they are read,
/// alternately to the source, with an intake that only counts, and to a plain loop of recv() into as much memory. The clock runs
/// from its first byte to the last shot, or the last byte. Throws InputError if a number is out of its range.
[[nodiscard]] MicropulseRates measure_micropulse(const MicropulseCase& test);

}  // namespace echoform::benchmarks
