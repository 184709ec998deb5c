// What no engine on a GPU can pass: the copy of a frame's samples from pinned memory. Free of CUDA's headers.
#pragma once

#include <cstddef>
#include <memory>

#include "methods/tfm/plan.hpp"

namespace echoform::benchmarks {

/// Copies of one frame (of its gate's columns, where the plan has a gate) from staging memory to the device and nothing else.
/// The memory is taken once, so that copies may take turns with whatever is compared with them.
class CopyBound {
 public:
  explicit CopyBound(const ImagingPlan& plan);
  ~CopyBound();
  CopyBound(const CopyBound&) = delete;
  CopyBound& operator=(const CopyBound&) = delete;

  /// Copies a second: the median of `copies` of them, each between two events, after one that is not counted (the bus may
  /// sleep).
  [[nodiscard]] double copies_per_second(std::size_t copies = 4);
  /// Bytes that a copy moves.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Bytes of device memory that are in use now, by whomever.
[[nodiscard]] std::size_t device_bytes_in_use();

}  // namespace echoform::benchmarks
