// A stage turns blocks into the next block. It knows only its options and its blocks. Each stage has a folder of its own:
//   stages/NAME/NAME.hpp        what it does, its options, its kind
//   stages/NAME/NAME_math.hpp   arithmetic shared by host and device, where there is any
//   stages/NAME/NAME_cpu.cpp    and, with the GPU backend, NAME_cuda.cpp and *.cu
// A recipe uses a stage by naming its kind (pipeline/recipe.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "pipeline/backend.hpp"
#include "pipeline/block.hpp"
#include "pipeline/sample_quality.hpp"
#include "pipeline/shown_reference.hpp"
#include "pipeline/stage_options.hpp"

namespace echoform {

/// Descriptions of a stage's inputs: one, or a list.
class InputSpecs {
 public:
  InputSpecs(const BlockSpec& one) : list_(&one, 1) {}          // NOLINT: most stages have one input
  InputSpecs(std::span<const BlockSpec> list) : list_(list) {}  // NOLINT

  [[nodiscard]] std::size_t size() const { return list_.size(); }
  [[nodiscard]] const BlockSpec& operator[](std::size_t index) const { return list_[index]; }
  /// The only one. Throws InputError, naming `stage`, if there are more or none.
  [[nodiscard]] const BlockSpec& only(std::string_view stage) const;

 private:
  std::span<const BlockSpec> list_;
};

/// The blocks that go with InputSpecs.
class InputBlocks {
 public:
  InputBlocks(const void* one) : one_{one} {}  // NOLINT: most stages have one input
  InputBlocks(ConstBlock one) : one_(one) {}   // NOLINT
  InputBlocks(Block one) : one_{one.data} {}   // NOLINT
  InputBlocks(std::span<const ConstBlock> list) : list_(list), one_(list.empty() ? ConstBlock{} : list.front()) {}  // NOLINT

  [[nodiscard]] ConstBlock operator[](std::size_t index) const { return index == 0 ? one_ : list_[index]; }
  template <class T>
  [[nodiscard]] const T* as() const {
    return one_.as<T>();
  }

 private:
  std::span<const ConstBlock> list_;
  ConstBlock one_;
};

/// The memory that a stage needs in addition to its input and output blocks, in bytes.
struct StageMemory {
  std::size_t host = 0;
  std::size_t device = 0;
  std::size_t of_pixels = 0;  ///< the part of both that grows with the number of pixels: tables of delays
};

/// Where a stage is to run, as far as its memory depends on that.
struct StageSite {
  StageSite(BackendKind on, std::size_t team = 0) : backend(on), threads(team) {}  // NOLINT: a kind of backend is a site

  BackendKind backend;
  std::size_t threads;  ///< of the CPU's queues; 0: as many as the process may use
};

/// A statement about a stage before it is prepared.
struct StageStatement {
  BlockSpec output;
  StageMemory memory;
};

/// What a stage found out about the frame that it processed last; most find out nothing.
struct StageFacts {
  std::optional<SampleQuality> quality;
  std::optional<ShownReference> reference;
};

/// Where these facts lie in a device's memory once process() is done there. Engines with several frames under way copy them
/// on the same queue.
struct DeviceFacts {
  std::optional<std::size_t> quality;  ///< offset in the output block
  const ShownReference* reference = nullptr;
};

class Stage {
 public:
  virtual ~Stage() = default;

  /// Validates the inputs and allocates all that process() will need. Returns the description of the output, whose memory
  /// the caller provides. May throw InputError (the input is not for this stage) or RuntimeFault (no memory).
  [[nodiscard]] virtual BlockSpec prepare(const InputSpecs& inputs) = 0;

  /// Queues the work for one frame. Never allocates, blocks or synchronises; `output` may not overlap an input.
  virtual void process(const InputBlocks& inputs, Block output, ExecutionQueue& queue) noexcept = 0;

  /// Bytes that the stage holds after prepare(), where they are worth counting: tables, large scratch.
  [[nodiscard]] virtual std::size_t bytes() const noexcept { return 0; }

  /// The facts about the frame last processed. Read them once the queue has finished that frame.
  [[nodiscard]] virtual StageFacts facts() const noexcept { return {}; }
  [[nodiscard]] virtual DeviceFacts device_facts() const noexcept { return {}; }
  /// Forgets the frames that it has processed: the next frame on `queue` is its first. It concerns stages that keep images
  /// from frame to frame. On the CPU it must not be called while a frame is processed.
  virtual void restart(ExecutionQueue& /*queue*/) noexcept {}
  /// Goes on from what another stage of this kind knew, for example when settings change between two frames. Must not be
  /// called while a frame is processed.
  virtual void resume(const StageFacts& /*facts*/) noexcept {}

  /// Whether retune() accepts these options; if not, the stage has to be made anew for them. Throws InputError if an option
  /// is out of its range.
  [[nodiscard]] virtual bool accepts(const StageOptions& /*options*/) const { return false; }
  /// Takes options that it accepts, for frames that are processed from now on. Work that is already on `queue` keeps its
  /// earlier options. Must not be called while process() runs.
  virtual void retune(const StageOptions& /*options*/, ExecutionQueue& /*queue*/) noexcept {}
};

/// The kind of a stage: its name and how each backend makes it. Each stage has one constant of this type in its header.
struct StageKind {
  using Make = std::unique_ptr<Stage> (*)(const StageOptions& options, Backend& backend);
  using State = StageStatement (*)(const StageOptions& options, const InputSpecs& inputs, const StageSite& site);

  std::string_view name;  ///< "analytic-signal"
  Make cpu = nullptr;     ///< null: not on this backend, or not in this build
  Make cuda = nullptr;
  /// What prepare() would return and how much memory it would take, without taking any. Where the memory is not known
  /// before the work is done, the stage's header states whether this is more or less than the real need. Throws InputError
  /// as prepare() does for inputs.
  State state = nullptr;
};

/// Throws InputError if the backend has no such stage. The backend outlives the stage.
[[nodiscard]] std::unique_ptr<Stage> make_stage(const StageKind& kind, const StageOptions& options, Backend& backend);

}  // namespace echoform
