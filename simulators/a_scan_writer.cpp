#include "simulators/a_scan_writer.hpp"

#include <algorithm>
#include <cstring>

#include "simulators/encode.hpp"
#include "simulators/simulator_configuration.hpp"

namespace echoform {

AScanWriter::AScanWriter(const SimulatorConfiguration& configuration, const Acquisition& acquisition, std::uint64_t frame,
                         const SoundOfRows& sound)
    : configuration_(configuration),
      acquisition_(acquisition),
      frame_(frame),
      sound_(sound),
      received_(acquisition.samples),
      received_back_(acquisition.samples),
      counts_(acquisition.samples),
      counts_back_(acquisition.samples) {}

void AScanWriter::receive(std::span<const float> signal, std::size_t source, std::size_t receiver, std::span<const std::byte> row,
                          std::vector<float>& received) const {
  std::ranges::copy(signal, received.begin());
  if (!sound_.samples.empty()) {
    const std::size_t index = static_cast<std::size_t>(row.data() - sound_.frame) / row.size();
    const std::span<const float> sound = sound_.samples.subspan(index * received.size(), received.size());
    for (std::size_t n = 0; n < received.size(); ++n) received[n] += sound[n];
  }
  if (configuration_.noise_rms > 0.0) {
    add_noise({configuration_.seed, frame_, static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(receiver)},
              configuration_.noise_rms, received);
  }
}

void AScanWriter::convert(std::span<const float> received, std::vector<std::int16_t>& counts) const {
  quantise12(received, static_cast<float>(1.0 / acquisition_.sample_scale), counts);
}

void AScanWriter::write(std::span<const float> signal, std::size_t source, std::size_t receiver, std::span<std::byte> row) {
  receive(signal, source, receiver, row, received_);
  if (!configuration_.quantised) {
    std::memcpy(row.data(), received_.data(), row.size());
    return;
  }
  convert(received_, counts_);
  encode_counts(counts_, acquisition_.encoding, acquisition_.sample_scale, row);
}

void AScanWriter::write_sum(std::span<const float> signal, std::size_t i, std::size_t j, std::span<std::byte> row) {
  receive(signal, i, j, row, received_);
  receive(signal, j, i, row, received_back_);
  if (!configuration_.quantised) {
    for (std::size_t n = 0; n < received_.size(); ++n) received_[n] += received_back_[n];
    std::memcpy(row.data(), received_.data(), row.size());
    return;
  }
  convert(received_, counts_);
  convert(received_back_, counts_back_);
  const bool packed = acquisition_.encoding == SampleEncoding::packed12;
  for (std::size_t n = 0; n < counts_.size(); ++n) {
    const int sum = counts_[n] + counts_back_[n];
    counts_[n] = static_cast<std::int16_t>(packed ? std::clamp(sum, converter_minimum, converter_maximum) : sum);
  }
  encode_counts(counts_, acquisition_.encoding, acquisition_.sample_scale, row);
}

}  // namespace echoform
