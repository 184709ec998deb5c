// What CUDA holds for adaptive weights along lines. For *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "pipeline/backend.hpp"
#include "pipeline/stage.hpp"
#include "stages/adaptive_weights/weigh_channels.hpp"
#include "stages/scan_lines/adaptive_line_launch.hpp"
#include "stages/scan_lines/scan_lines.hpp"

namespace echoform::gpu {

class AdaptiveLinesOnDevice {
 public:
  explicit AdaptiveLinesOnDevice(Backend& backend) : backend_(backend) {}

  /// `pitch` as LineSetOnDevice has it; `rows`: those that are summed, without zeros before them.
  void prepare(const ScanLinesOptions& options, std::size_t pitch, const BlockSpec& rows);
  /// From rows to lines and their facts.
  void process(const LineSums& sums, ExecutionQueue& queue) const noexcept;

  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  void prepare_sums(const ScanLinesOptions& options, std::size_t pitch);
  void prepare_channels(const ScanLinesOptions& options, const BlockSpec& rows);
  void weigh_channels(const LineSums& sums, cudaStream_t stream) const noexcept;
  const float* keep(const std::vector<float>& numbers);
  float* keep_room(std::size_t bytes);

  Backend& backend_;
  std::vector<Buffer> held_;
  LineSumsBeside beside_;  // of weights that follow from sums
  // Of those that want channels.
  ChannelWeighing weighing_;
  ChannelSizes sizes_;
  LineChannels channels_;
  std::unique_ptr<Stage> analytic_;  // or none
  BlockSpec analytic_rows_;
  float* analytic_memory_ = nullptr;
};

}  // namespace echoform::gpu
