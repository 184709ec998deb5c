// Rates of the sources of frames, against those of a bare receiver of the same library for the same bytes from the same
// sender.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "benchmarks/statistics.hpp"
#include "benchmarks/turns.hpp"

namespace echoform::benchmarks {

struct IngestCase {
  std::size_t connections = 1;                           ///< 1 .. 8
  std::size_t shot_bytes = std::size_t{64} << 10;        ///< payload of one shot; a multiple of 64, at least 128
  std::size_t bytes_per_round = std::size_t{256} << 20;  ///< sent in each round to each receiver, rounded up to whole frames
  std::size_t rounds = 15;                               ///< measured; one more is run first and forgotten
  std::size_t io_threads = 2;                            ///< of both receivers
};

struct IngestRates {
  IngestCase measured;
  Spread source;  ///< bytes of payload per second into slots, through the source
  Spread bare;    ///< the same, received by a bare loop of reads
  Spread ratio;   ///< source over bare, of the two measurements of each round
  Turns turns;    ///< "source" and "bare", in the order of measurement
};

/// Sends frames of 32 shots over loopback TCP, alternately to the source with an intake that only counts and to the bare
/// receiver, which takes turns in going first. Both put the payloads into the same amount of memory with the same number of
/// threads and connections. The clock runs from the first frame to the moment when the receiver has closed. Throws
/// InputError if a number is out of its range.
[[nodiscard]] IngestRates measure_ingest(const IngestCase& test);

/// The same over ZeroMQ: the PULL source against a bare loop that receives the messages of such a socket and forgets them. One
/// connection; the clock runs until the last message is taken.
[[nodiscard]] IngestRates measure_zeromq_ingest(const IngestCase& test);

/// What is sent in a round. Throws InputError if a number of the case is out of its range.
struct IngestFrames {
  explicit IngestFrames(const IngestCase& test);
  Acquisition acquisition;
  std::size_t frames = 0;
  std::vector<std::byte> frame;  ///< sent again and again
};
/// Rates of both, in bytes per second, over the rounds of the case.
[[nodiscard]] IngestRates ingest_rates(const IngestCase& test, const std::function<double()>& through_source,
                                       const std::function<double()>& bare);

}  // namespace echoform::benchmarks
