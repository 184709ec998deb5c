// The stages on one GPU: their blocks, and one frame's way through them on a queue. For *_cuda.cpp files.
#pragma once

#include <vector>

#include "engines/chain.hpp"
#include "engines/device_need.hpp"
#include "gpu/stream.hpp"
#include "pipeline/engine.hpp"

namespace echoform {

struct CudaView : ViewChain {
  const ShownReference* reference = nullptr;  ///< where the reference of the frame last queued stands on the device
  std::size_t same_as = 0;  ///< the view whose images these are; its own number, or that of a mirrored view before it
};

/// Results of one view of one frame on the device.
struct DeviceResults {
  Buffer analytic;
  Buffer envelope;
  Buffer display;
};

/// What a frame has of its own on the device.
struct DeviceFrame {
  Buffer raw;
  std::vector<DeviceResults> results;  ///< by view; empty for views whose images are another's
  Buffer facts;
  /// Before the first and after each timed part of the computation: the whole of it or, eagerly, every stage.
  std::vector<gpu::Event> marks;
};

class CudaChain {
 public:
  /// Prepares every stage for received samples that lie as `raw` says. Setup and backend must outlive the chain.
  CudaChain(const ImagingSetup& setup, const BlockSpec& raw, Backend& backend);

  /// `estimate` with what the prepared stages take in the place of what was guessed of them.
  [[nodiscard]] DeviceNeed need(DeviceNeed estimate) const;
  /// Takes the memory between the stages: one set, since frames are computed one after the other.
  void allocate_blocks();
  /// Device memory taken up to now.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  [[nodiscard]] const std::vector<CudaView>& views() const noexcept { return views_; }
  /// The block of analytic signals.
  [[nodiscard]] const BlockSpec& analytic_signal() const noexcept { return analytic_signal_.output; }

  /// Every stage that a frame goes through, in order.
  template <class Visit>
  void for_each_step(const Visit& visit) const {
    visit(half_matrix_);
    visit(analytic_signal_);
    for (const CudaView& view : views_) {
      for (const PreparedStep* step : {&view.beamform, &view.envelope, &view.compression, &view.scan_conversion}) {
        if (step->stage) visit(*step);
      }
    }
  }

  /// Queues a frame from its raw samples to its results and facts (frame_facts.hpp). With `timed`, marks around every stage.
  void queue(const DeviceFrame& frame, ExecutionQueue& queue, bool timed) const noexcept;

 private:
  [[nodiscard]] PreparedStep add_step(std::string_view name, std::size_t view, const BlockSpec& input);
  [[nodiscard]] std::vector<PreparedStep*> steps_with_blocks();
  [[nodiscard]] const SampleQuality* quality_place() const noexcept;

  const ImagingPlan& plan_;
  const bool keep_complex_;
  const bool display_;
  Backend& backend_;
  PreparedStep half_matrix_;
  PreparedStep analytic_signal_;
  std::vector<CudaView> views_;
  Buffer references_;  // where the views' references stand, on the device
  std::size_t bytes_ = 0;
};

}  // namespace echoform
