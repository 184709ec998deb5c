// The engine turns the samples of a slot into its images, on one backend.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/backend.hpp"
#include "pipeline/frame_slot.hpp"
#include "pipeline/imaging_setup.hpp"

namespace echoform {

struct EngineOptions {
  std::size_t slots = 1;      ///< how many will be equipped; the need of memory is estimated for these
  bool eager = false;         ///< GPU: queue stage by stage, each timed, instead of one graph a frame
  bool samples_read = false;  ///< the host reads slot.samples too: a GPU then takes plain pinned memory, not write-combined
  std::size_t device_memory_limit = 0;  ///< GPU: bytes of device memory that the engine may take; 0: all that is free
};

class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual BackendKind backend() const noexcept = 0;
  /// The setup that the engine was built for; retune() does not change it.
  [[nodiscard]] virtual const ImagingSetup& setup() const noexcept = 0;
  /// What images are formed on, in words: "cpu, avx512, 2 threads", "cuda, NVIDIA H200, half precision".
  [[nodiscard]] virtual std::string describe() const = 0;

  /// Allocates everything that a slot of this engine needs; the engine distinguishes slots by their index. At set-up only.
  /// Throws RuntimeFault if the memory is not available.
  virtual void equip(FrameSlot& slot) = 0;
  /// The same, except slot.samples, for a slot that has its samples from another engine of this backend.
  virtual void equip_outputs(FrameSlot& slot) { equip(slot); }

  /// Images the slot and calls `done(slot, ok)` once its outputs may be read: before returning on the CPU, from a thread of
  /// the engine on a GPU. Until then the slot's samples and outputs stay as they are; `done` is copied. Frames finish in the
  /// order of submission, with timings and counts of samples of their own. Never allocates if copying `done` does not (a
  /// pointer or two). One caller at a time.
  using Done = std::function<void(FrameSlot&, bool ok)>;
  virtual void submit(FrameSlot& slot, const Done& done) noexcept = 0;
  /// The number of frames that keep the engine busy. No more are handed to it, so that waiting frames can still give way to newer
  /// ones.
  [[nodiscard]] virtual std::size_t frames_at_once() const noexcept { return SIZE_MAX; }

  /// The slot is about to receive the shots of another frame: what shots_arrived() reported of it before is void. submit()
  /// does not need these two calls; with them a GPU uploads while the frame still arrives. For one slot the calls and
  /// submit() come one after the other; for several slots they come from any threads at once. Neither call allocates, and
  /// neither waits for the GPU or its driver, because connections would wait meanwhile.
  virtual void frame_opened(FrameSlot& /*slot*/) noexcept {}
  /// `rows` A-scans from `first_row` on are in place and stay as they are until the frame is done or given up.
  virtual void shots_arrived(FrameSlot& /*slot*/, std::size_t /*first_row*/, std::size_t /*rows*/) noexcept {}

  /// The envelope that the last finished frame shows as 0 dB in an output (given by its place in the recipe), where frames
  /// determine it. It is 0 where there was no frame yet, and where the output has no running reference.
  [[nodiscard]] virtual float reference(std::size_t /*output*/) const noexcept { return 0.0F; }
  /// Sets the running reference of an output to that of another engine. Values that are not positive are ignored. Call it
  /// while no frame is being imaged.
  virtual void resume(std::size_t /*output*/, float /*known*/) noexcept {}

  /// Images frames that are submitted from now on as `wanted` states, if every step that differs can take its new options
  /// without being built again. Earlier frames keep the earlier options. Delay tables, memory and what is queued stay, and
  /// a running reference goes on. Returns false, and changes nothing, where a new engine has to be built. Throws
  /// InputError, and changes nothing, if an option is out of its range. Must not run during submit().
  [[nodiscard]] virtual bool retune(const ImagingSetup& /*wanted*/) { return false; }

  /// Bytes of memory that the engine holds, without the slots.
  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
  /// The part of bytes() that lies in a device's own memory, which no limit on the host's memory counts.
  [[nodiscard]] virtual std::size_t device_bytes() const noexcept { return 0; }
};

/// The backend to use; "auto" in the configuration is a GPU where there is one, else the CPU.
struct BackendChoice {
  bool automatic = true;
  BackendKind kind = BackendKind::cpu;
  std::size_t threads = 0;  ///< of the CPU backend; 0: all that this process may use
  bool pin = false;         ///< each further thread of the CPU backend on a processor of its own
  int device = 0;           ///< of the CUDA backend, as `echoform info` counts them
  /// The process ends if the CUDA backend's device takes longer than this for one step of its work.
  std::chrono::nanoseconds gpu_timeout = std::chrono::seconds(5);
};

/// Submits the slot, waits until it is done, and returns whether it succeeded. For one frame at a time, such as those of a
/// recording.
[[nodiscard]] bool image_now(Engine& engine, FrameSlot& slot);

/// Builds the engine for a setup: computes delay tables and plans transforms. Throws InputError if the setup is not
/// possible (the error states how much memory it needs, where memory is the reason), and RuntimeFault if the backend is not
/// available.
[[nodiscard]] std::unique_ptr<Engine> make_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                                  const EngineOptions& options);

}  // namespace echoform
