// What CUDA holds for adaptive weights along lines. For *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

#include "pipeline/backend.hpp"
#include "stages/scan_lines/adaptive_line_launch.hpp"
#include "stages/scan_lines/scan_lines.hpp"

namespace echoform::gpu {

/// Of weights that follow from sums.
class AdaptiveSumsOnDevice {
 public:
  explicit AdaptiveSumsOnDevice(Backend& backend) : backend_(backend) {}

  /// `pitch` as LineSetOnDevice has it.
  void prepare(const ScanLinesOptions& options, std::size_t pitch);
  /// From rows to lines and their facts.
  void process(const LineSums& sums, cudaStream_t stream) const noexcept;

  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  const float* keep(const std::vector<float>& numbers);
  float* keep_room(std::size_t numbers);

  Backend& backend_;
  LineSumsBeside beside_;
  std::vector<Buffer> held_;
};

}  // namespace echoform::gpu
