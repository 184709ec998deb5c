// The simulated source: the frames that an instrument would send of a probe and a part, whatever it transmits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "simulators/event_synthesis.hpp"
#include "simulators/scatterer_synthesis.hpp"
#include "simulators/scatterers.hpp"
#include "simulators/scene_echoes.hpp"
#include "simulators/simulator_configuration.hpp"

namespace echoform {

class SoundSynthesis;

/// Makes frames. Frame k depends on the configuration and k alone: its reflectors on k modulo cycle_frames, its noise on k.
/// For a probe that moves, frames are those of its encoder's first count; FrameCycle makes the others.
///
/// An A-scan is the sum over the living elements that its event fires (acquisition/firings.hpp) of weight times echoes
/// (echo_model.hpp, scene_echoes.hpp), each a pulse (pulse.hpp), later by the element's delay. Those of tissue are added up as
/// scatterer_synthesis.hpp says, once for all frames as far as they stand still: that takes a float a sample of a frame.
///
/// Integer and quantised samples are the counts of a 12-bit converter: nearest count, held within -2048 .. 2047. HALF_SUMMED
/// adds the counts of (i, j) and (j, i), as an instrument does behind its converter; packed in 12 bits the sum is held
/// within the range once more. Every A-scan has noise of its own, the same in every kind of matrix and encoding. At several
/// positions each is a frame by itself, seen from there.
///
/// With `sound` an A-scan is the sound that a detector receives (sound_synthesis.hpp), with noise and converter as above.
class FmcSimulator {
 public:
  /// Validates, naming `where`. With a scene all travel times are found here: up to a second or so. Still tissue is synthesised
  /// here by all processors: some seconds for 1e5 scatterers.
  explicit FmcSimulator(SimulatorConfiguration configuration, std::string_view where = "[simulator]");

  [[nodiscard]] const SimulatorConfiguration& configuration() const noexcept { return configuration_; }
  [[nodiscard]] const Acquisition& acquisition() const noexcept { return acquisition_; }

  /// Phase of the phantom's cycle in frame `frame`.
  [[nodiscard]] double phase(std::uint64_t frame) const;
  /// Where everything is in frame `frame`. Names refer to this simulator.
  [[nodiscard]] std::vector<TruePosition> true_positions(std::uint64_t frame) const;

  /// Balls that make sound when light comes, those of vessels counted in; 0 of a source that transmits.
  [[nodiscard]] std::size_t sounding_balls() const;

  /// Scatterers of the tissue; empty without tissue.
  [[nodiscard]] const Scatterers& tissue() const noexcept { return *scatterers_; }

  /// Writes frame `frame` into `bytes` (acquisition().frame_bytes() of them). Safe from several threads at once. Allocates
  /// a few A-scans of scratch memory: not for the hot path, which takes its frames from a FrameCycle.
  void synthesise(std::uint64_t frame, std::span<std::byte> bytes) const;

 private:
  /// What a frame holds of one position.
  struct AtPosition {
    std::vector<std::uint32_t> events;  // of the frame
    std::shared_ptr<const FmcSimulator> simulator;
  };
  /// Simulates one position: `acquisition` states the events, `probe` the place in the part.
  FmcSimulator(SimulatorConfiguration configuration, Acquisition acquisition, Probe probe);
  void prepare();
  void prepare_tissue();
  /// Sound of the tissue in frame `frame`, for each sample; `moved` is where that is kept if it is another in every frame.
  [[nodiscard]] std::span<const float> sound_of_tissue(std::uint64_t frame, std::vector<float>& moved) const;

  SimulatorConfiguration configuration_;
  Acquisition acquisition_;
  Probe probe_;                                   // as it is placed
  std::shared_ptr<const SceneEchoes> scene_;      // null: EchoModel serves
  std::shared_ptr<const EventSynthesis> events_;  // null: elements fire one after the other
  std::shared_ptr<const Scatterers> scatterers_ = std::make_shared<const Scatterers>();
  // Used for tissue; null without any.
  std::shared_ptr<const ScattererSynthesis> synthesis_;
  std::shared_ptr<const std::vector<float>> still_sound_;
  std::shared_ptr<const SoundSynthesis> sound_;  // null: the source transmits
  std::vector<AtPosition> positions_;            // empty: the probe stays, and this simulator makes frames itself
};

}  // namespace echoform
