// How many volumes a second the OpenIGTLink server hands to its clients, against sockets alone.
#pragma once

#include <cstddef>

#include "benchmarks/statistics.hpp"
#include "benchmarks/turns.hpp"

namespace echoform::benchmarks {

struct OpenIgtlinkCase {
  std::size_t voxels = 128;   ///< along each edge, of a byte each, 1 .. 512
  std::size_t clients = 2;    ///< 1 .. 16
  std::size_t volumes = 100;  ///< in each turn, one published when all clients have the one before
  std::size_t rounds = 9;     ///< measured; one more is run first and forgotten
};

struct OpenIgtlinkRates {
  OpenIgtlinkCase measured;
  Spread sink;   ///< volumes a second, each to every client
  Spread bare;   ///< the same bytes by plain writes to the same clients, one after the other
  Spread ratio;  ///< sink over bare, of the two measurements of each round
  Turns turns;   ///< "sink" and "bare", in the order of measurement
};

/// Over loopback TCP; clients read messages whole and look at nothing but their types. Throws InputError if a number is out of
/// its range, RuntimeFault where a client loses its connection.
[[nodiscard]] OpenIgtlinkRates measure_openigtlink(const OpenIgtlinkCase& test);

}  // namespace echoform::benchmarks
