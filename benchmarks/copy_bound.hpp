// What no engine on a GPU can pass: the copy of a frame's samples from pinned memory. Free of CUDA's headers.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "pipeline/imaging_plan.hpp"

namespace echoform::benchmarks {

/// Copies of one frame (of its gate's columns, where the plan has a gate) from staging memory to the device and nothing else.
/// The memory is taken once; measure() may be called before and after whatever is compared with it.
class CopyBound {
 public:
  explicit CopyBound(const ImagingPlan& plan);
  ~CopyBound();
  CopyBound(const CopyBound&) = delete;
  CopyBound& operator=(const CopyBound&) = delete;

  /// Adds `copies` measurements.
  void measure(std::size_t copies);
  /// Bytes that a copy moves.
  [[nodiscard]] std::size_t bytes() const;
  /// The least seconds of a copy so far, and all of them.
  [[nodiscard]] double best() const;
  [[nodiscard]] const std::vector<double>& seconds() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Bytes of device memory that are in use now, by whomever.
[[nodiscard]] std::size_t device_bytes_in_use();

}  // namespace echoform::benchmarks
