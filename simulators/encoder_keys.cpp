// Keys of the simulated probe's encoder.
#include "config/key_types.hpp"
#include "simulators/encoder_travel.hpp"
#include "simulators/simulator_keys.hpp"
#include "simulators/simulator_section.hpp"

namespace echoform {

void add_encoder_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  constexpr auto most = static_cast<double>(most_encoder_counts);
  k.push_back(integer(
      {"simulator", "encoder_first", "counts", "Of the probe's encoder in the first frame."}, within(-most, most),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.encoder.first; }));
  k.push_back(integer(
      {"simulator", "encoder_last", "counts", "Where the encoder stops and goes back to encoder_first, and so on."},
      within(-most, most), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.encoder.last; }));
  k.push_back(integer(
      {"simulator", "encoder_step", "counts",
       "By which the encoder goes on from frame to frame; 0: there is no encoder, and frames state no position."},
      within(0.0, most), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.encoder.step; }));
  k.push_back(integer(
      {"simulator", "encoder_pause", "frames", "That the encoder stands still at either end."},
      within(0.0, static_cast<double>(most_encoder_pause)),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.encoder.pause; }));
}

}  // namespace echoform
