// What the simulated source is made of: probe, events, part and converter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/rigid_motion.hpp"
#include "base/grid.hpp"
#include "simulators/echo_model.hpp"
#include "simulators/encoder_travel.hpp"
#include "simulators/phantom.hpp"
#include "simulators/scatterers.hpp"
#include "simulators/simulated_scene.hpp"
#include "simulators/sound_sources.hpp"
#include "simulators/transmit_sequence.hpp"

namespace echoform {

struct SimulatorConfiguration {
  std::size_t elements = 32;  ///< of a row
  Metres pitch{0.6e-3};
  Metres element_width{0.5e-3};     ///< 0 .. pitch; 0 is a point
  Metres radius;                    ///< of the arc on which the elements lie, pitch apart along it; 0: they lie in a plane
  std::size_t rows = 1;             ///< along y: more than one make a matrix array
  std::optional<Metres> row_pitch;  ///< absent: pitch
  Metres element_length;            ///< along y, 0 .. row_pitch; 0 is a point
  Hertz centre_frequency{5e6};
  double fractional_bandwidth = 0.6;  ///< -6 dB width of the amplitude spectrum over the centre frequency, 0.02 .. 2
  std::size_t samples = 1024;         ///< per A-scan
  Hertz sample_rate{40e6};            ///< more than twice the centre frequency
  Seconds start_time;
  Seconds time_offset;
  MatrixKind matrix = MatrixKind::full;
  TransmitSequence transmit;
  std::vector<TransmitEvent> events;  ///< of a frame, in place of those of `transmit`; empty: its
  /// Of the probe within a frame: all events are fired at each of them in turn. Empty: the probe stays.
  std::vector<Pose> positions;
  SampleEncoding encoding = SampleEncoding::int16;
  Material material{MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
  Spreading spreading = Spreading::cylindrical;
  bool directivity = true;
  std::vector<std::size_t> dead_elements;  ///< their pairs hold zeros
  /// Amplitude that reaches the converter's 2047, for each of the most elements that fire at once (by the sum of their weights'
  /// magnitudes): smaller is more gain, and beyond it samples saturate. Sample scale is full_scale / 2047 of one element. A
  /// scatterer of reflectivity 1 at 10 mm below an element gives amplitude 1 there.
  double full_scale = 1.0;
  double noise_rms = 0.002;  ///< amplitude, added once to every A-scan before the converter, however many elements fire
  /// Converter of 12 bits before the encoding. Without it float32 carries the amplitudes themselves.
  bool quantised = true;
  std::uint64_t seed = 1;         ///< of the noise
  std::size_t cycle_frames = 32;  ///< frames in the phantom's cycle: frame k shows it at phase k / cycle_frames
  EncoderTravel encoder;          ///< of the probe
  /// How the placed probe has been moved where the encoder counts so many; null: it stays, and the encoder counts for itself. A
  /// phantom that it moves over stands still.
  std::function<RigidMotion(EncoderCount)> motion;
  /// The part as it lies where the encoder counts so many, where it is turned rather than the probe goes on: what of the phantom
  /// is seen from there. Null: the phantom, always.
  std::function<Phantom(EncoderCount)> part;
  Phantom phantom = default_phantom(1);
  /// Tissue in addition to the phantom; it is simulated in contact and for longitudinal waves only. In each frame, moving
  /// scatterers are where they are frame / frame_rate seconds after the cycle began. They jump where the cycle begins anew,
  /// unless the cycle is a whole number of their turns.
  Tissue tissue;
  Hertz frame_rate{25.0};    ///< of the tissue's motion, > 0
  Hertz pulse_repetition;    ///< of the events of a frame: tissue moves on between them; 0: they are at once
  SimulatedScene scene;      ///< absent: straight longitudinal rays, by EchoModel; else SceneEchoes
  ProbePlacement placement;  ///< of the probe above the part; the acquisition states the probe as it is made, on z = 0
  /// Sound made by light, in place of transmission: light makes sound in balls, and detectors around them receive it.
  /// Settings of probe, events, phantom, tissue and scene are then not used, and refused if they are stated. Of the material
  /// only the longitudinal velocity is used.
  std::optional<SoundScene> sound;
  AcquisitionLimits limits;

  /// Number of elements of all rows. The element of a row and a column has the number row * elements + column.
  [[nodiscard]] std::size_t element_count() const { return elements * rows; }
};

/// The demo: every default, with `seed` for the noise and for the phantom's seeded scatterer.
[[nodiscard]] SimulatorConfiguration demo_simulator(std::uint64_t seed);

/// The grid that shows the demo's part: x = -20 .. 20 mm, z = 1 .. 45 mm.
[[nodiscard]] Grid demo_grid(std::size_t nx = 256, std::size_t nz = 256);

/// Throws InputError (naming `where` and the key) if anything is out of the ranges above or not finite, integer samples are asked
/// for without the converter, elements lie below the surface or reflectors outside of the part.
void validate(const SimulatorConfiguration& configuration, std::string_view where);
/// Removes from `part` the points and holes that lie outside of the part that the configuration describes, which validate()
/// would refuse.
void keep_inside(Phantom& part, const SimulatorConfiguration& configuration);

/// The probe where it is placed, at each of the configuration's positions; where it is placed, if there are none. Expects a valid
/// configuration.
[[nodiscard]] std::vector<Probe> probes_at_positions(const SimulatorConfiguration& configuration);

/// What the frames are. Expects a valid configuration.
[[nodiscard]] Acquisition acquisition_of(const SimulatorConfiguration& configuration);

/// The probe where it is placed, and where it moves: at its encoder's first count. Expects a valid configuration.
[[nodiscard]] Probe placed_probe(const SimulatorConfiguration& configuration);

}  // namespace echoform
