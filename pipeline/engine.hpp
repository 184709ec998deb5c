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
  std::size_t slots = 1;                ///< how many will be equipped: what the memory is reckoned for
  bool eager = false;                   ///< GPU: queue stage by stage, each timed, instead of one graph a frame
  bool samples_read = false;            ///< the host reads slot.samples too: GPU: plain pinned memory, not write-combined
  std::size_t device_memory_limit = 0;  ///< GPU: bytes of device memory that the engine may take; 0: all that is free
};

class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual BackendKind backend() const noexcept = 0;
  /// As it was built; retune() does not change it.
  [[nodiscard]] virtual const ImagingSetup& setup() const noexcept = 0;
  /// What images are formed on, for people: "cpu, avx512, 2 threads", "cuda, NVIDIA H200, half precision".
  [[nodiscard]] virtual std::string describe() const = 0;

  /// Allocates everything that a slot of this engine needs; slots are told apart by their index. At set-up only.
  /// RuntimeFault if the memory is not to be had.
  virtual void equip(FrameSlot& slot) = 0;
  /// The same for a slot that has its samples from another engine of this backend: everything but slot.samples.
  virtual void equip_outputs(FrameSlot& slot) { equip(slot); }

  /// Images the slot and calls `done(slot, ok)` once its outputs may be read: before returning on the CPU, from a thread of
  /// the engine on a GPU. Until then the slot's samples and outputs stay as they are; `done` is copied. Frames finish in the
  /// order of submission, with timings and counts of samples of their own. Never allocates if copying `done` does not (a
  /// pointer or two). One caller at a time.
  using Done = std::function<void(FrameSlot&, bool ok)>;
  virtual void submit(FrameSlot& slot, const Done& done) noexcept = 0;
  /// Frames that keep the engine busy: more are not handed to it, so that those which wait can still give way to newer ones.
  [[nodiscard]] virtual std::size_t frames_at_once() const noexcept { return SIZE_MAX; }

  /// A slot is about to receive the shots of another frame: what shots_arrived() said of it before is void. submit() does
  /// not need these two calls; with them a GPU uploads while the frame still arrives. For one slot the calls and submit()
  /// come one after the other; for several slots from any threads at once. Neither allocates, nor waits for the GPU or its
  /// driver: connections wait meanwhile.
  virtual void frame_opened(FrameSlot& /*slot*/) noexcept {}
  /// `rows` A-scans from `first_row` on are in place and stay as they are until the frame is done or given up.
  virtual void shots_arrived(FrameSlot& /*slot*/, std::size_t /*first_row*/, std::size_t /*rows*/) noexcept {}

  /// Envelope shown as 0 dB in the last finished frame of an output (its place in the recipe), as frames gave it; 0 where there
  /// was none yet, and where the output has no running reference.
  [[nodiscard]] virtual float reference(std::size_t /*output*/) const noexcept { return 0.0F; }
  /// The running reference of an output goes on from another engine's; values that are not positive are ignored. While no
  /// frame is in work.
  virtual void resume(std::size_t /*output*/, float /*known*/) noexcept {}

  /// Frames submitted from now on are imaged as `wanted` says, those before as they were, if every step that differs takes its
  /// new options as it is: delay tables, memory and what is queued stay, and a running reference goes on. False, and nothing
  /// changed, where an engine has to be built for it. Throws InputError, and nothing changes, if an option is out of its range.
  /// Not while submit() runs.
  [[nodiscard]] virtual bool retune(const ImagingSetup& /*wanted*/) { return false; }

  /// Bytes of memory that the engine holds besides the slots.
  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
  /// Of those, what lies in a device's own memory, which no limit on the host's counts.
  [[nodiscard]] virtual std::size_t device_bytes() const noexcept { return 0; }
};

/// "auto" in the configuration: a GPU where there is one, else the CPU.
struct BackendChoice {
  bool automatic = true;
  BackendKind kind = BackendKind::cpu;
  std::size_t threads = 0;  ///< of the CPU backend; 0: all that this process may use
  bool pin = false;         ///< each further thread of the CPU backend on a processor of its own
  int device = 0;           ///< of the CUDA backend, as `echoform info` counts them
  /// The process ends if the CUDA backend's device takes longer than this for one step of its work.
  std::chrono::nanoseconds gpu_timeout = std::chrono::seconds(5);
};

/// Submits the slot and waits until it is done. Whether it succeeded. For one frame at a time, as of a recording.
[[nodiscard]] bool image_now(Engine& engine, FrameSlot& slot);

/// Builds the engine for a setup: computes delay tables, plans transforms. InputError if the setup is not
/// possible (says how much memory it needs, where that is why); RuntimeFault if the backend is not to be had.
[[nodiscard]] std::unique_ptr<Engine> make_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                                  const EngineOptions& options);

}  // namespace echoform
