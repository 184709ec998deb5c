// Turns the sound at a receiver into the bytes of a row: adds noise, converts and encodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "simulators/noise.hpp"

namespace echoform {

struct SimulatorConfiguration;

/// Sound that is added to the rows of a frame, [row, sample]; none where it is empty.
struct SoundOfRows {
  std::span<const float> samples;
  const std::byte* frame = nullptr;  ///< where the frame's bytes begin
};

/// Writes rows of one frame.
class AScanWriter {
 public:
  AScanWriter(const SimulatorConfiguration& configuration, const Acquisition& acquisition, std::uint64_t frame,
              const SoundOfRows& sound = {});

  /// `signal` has a sample for each of the acquisition's, `row` its bytes of an A-scan. `source` tells the noise of A-scans of
  /// one receiver apart.
  void write(std::span<const float> signal, std::size_t source, std::size_t receiver, std::span<std::byte> row);
  /// Both directions of the pair (i, j), which have noise of their own, added up behind the converter.
  void write_sum(std::span<const float> signal, std::size_t i, std::size_t j, std::span<std::byte> row);

 private:
  void receive(std::span<const float> signal, std::size_t source, std::size_t receiver, std::span<const std::byte> row,
               std::vector<float>& received) const;
  void convert(std::span<const float> received, std::vector<std::int16_t>& counts) const;

  const SimulatorConfiguration& configuration_;
  const Acquisition& acquisition_;
  std::uint64_t frame_;
  SoundOfRows sound_;
  std::vector<float> received_;
  std::vector<float> received_back_;
  std::vector<std::int16_t> counts_;
  std::vector<std::int16_t> counts_back_;
};

}  // namespace echoform
