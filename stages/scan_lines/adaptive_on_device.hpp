// Device memory and kernels of adaptive weights along lines on CUDA. For *_cuda.cpp files.
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

  /// Prepares for lines of `pitch`, as in LineSetOnDevice. `rows` describes the rows that are summed, without leading zeros.
  void prepare(const ScanLinesOptions& options, std::size_t pitch, const BlockSpec& rows);
  /// Computes lines and their facts from rows.
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
  // The following members are for weights that need channels.
  ChannelWeighing weighing_;
  ChannelSizes sizes_;
  LineChannels channels_;
  std::unique_ptr<Stage> analytic_;  // or null
  BlockSpec analytic_rows_;
  float* analytic_memory_ = nullptr;
};

}  // namespace echoform::gpu
