// Where finished images go: publishers, the web viewer, recorders.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/counters.hpp"
#include "pipeline/frame_slot.hpp"
#include "pipeline/imaging_setup.hpp"

namespace echoform {

/// A finished frame, valid during the call of publish() only.
struct FinishedFrame {
  const FrameSlot& slot;
  const ImagingSetup& setup;  ///< setup of this frame: display settings and revision may differ from those last announced
  CounterSnapshot counters;
  WallTime publish_time{0};
  SteadyTime now{0};
};

/// A number that a sink reports about itself: in telemetry, in /metrics, on the viewer page.
struct SinkFigure {
  std::string name;  ///< lower-case letters, digits and _; base units
  std::string help;  ///< a sentence
  double value = 0.0;
  bool counts = false;  ///< whether it is a total since the start, which never falls; else it is the present value
};

class ImageSink {
 public:
  virtual ~ImageSink() = default;
  /// Called when a stream opens or an engine for another setup takes over, before the first frame of it; not where its stages
  /// are merely retuned (scale and revision: see FinishedFrame::setup).
  virtual void setup_changed(std::shared_ptr<const ImagingSetup> setup) = 0;
  /// The sender has gone, and slots and engine are released: memory for frames of the last setup may be released too.
  /// Another setup_changed() comes before the next frame.
  virtual void stream_ended() {}
  /// Frames have ended, and publish() is not called any more: finishes work that waits, however long that takes.
  virtual void finish() {}
  /// Passes the images on, or copies what it keeps. Never waits for a peer.
  virtual void publish(const FinishedFrame& frame) noexcept = 0;
  /// Whether the envelopes of the frame that is imaged next will be read; slot.envelope_wanted states whether a frame holds
  /// any. Called from another thread than publish(), for every frame, so it must be quick.
  [[nodiscard]] virtual bool wants_envelope() noexcept { return true; }
  /// Whether publish() ever reads slot.samples. Engines then put them where the host reads fast (EngineOptions::samples_read).
  /// It is the same for the sink's whole life.
  [[nodiscard]] virtual bool reads_samples() const noexcept { return false; }
  /// The figures have the same names for the sink's whole life. Called from any thread, about once a second.
  [[nodiscard]] virtual std::vector<SinkFigure> figures() const { return {}; }
  /// A line for people, while the server runs and when it ends: "recorded 512 frames"; empty: none. Called from any thread.
  [[nodiscard]] virtual std::string summary() const { return {}; }
  [[nodiscard]] virtual std::string describe() const = 0;
};

}  // namespace echoform
