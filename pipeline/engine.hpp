// The engine turns the samples of a slot into its images, on one backend.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/backend.hpp"
#include "pipeline/frame_slot.hpp"
#include "pipeline/imaging_plan.hpp"

namespace echoform {

struct EngineOptions {
  bool keep_analytic = false;  ///< also bring the complex image to the host
  bool display = true;         ///< make the compressed display image
};

class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual BackendKind backend() const noexcept = 0;
  [[nodiscard]] virtual const ImagingPlan& plan() const noexcept = 0;
  /// What images are formed on, for people: "cpu, avx512, 2 threads", "cuda, NVIDIA H200, half precision".
  [[nodiscard]] virtual std::string describe() const = 0;

  /// Allocates everything that a slot of this engine needs. At set-up only. RuntimeFault if the memory is not to be had.
  virtual void equip(FrameSlot& slot) = 0;

  /// Images the slot and calls `done(slot, ok)` once its outputs may be read: before returning on the CPU, from a thread of
  /// the engine on a GPU. Frames finish in the order of submission. Never allocates. One caller at a time.
  using Done = std::function<void(FrameSlot&, bool ok)>;
  virtual void submit(FrameSlot& slot, const Done& done) noexcept = 0;

  /// Bytes of memory that the engine holds besides the slots.
  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
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

/// Builds the engine for a plan: validates it, computes delay tables, plans transforms. InputError if the plan is not
/// possible (says how much memory it needs, where that is why); RuntimeFault if the backend is not to be had.
[[nodiscard]] std::unique_ptr<Engine> make_engine(std::shared_ptr<const ImagingPlan> plan, const BackendChoice& choice,
                                                  const EngineOptions& options);

}  // namespace echoform
