// Sample counts that several threads add to.
#pragma once

#include <atomic>

#include "pipeline/sample_quality.hpp"

namespace echoform {

class QualityCounter {
 public:
  void reset() noexcept {
    clipped_.store(0, std::memory_order_relaxed);
    invalid_.store(0, std::memory_order_relaxed);
  }
  /// Adds the counts. Sums of integers do not depend on the order of the threads.
  void add(const SampleQuality& seen) noexcept {
    if (seen.clipped != 0) clipped_.fetch_add(seen.clipped, std::memory_order_relaxed);
    if (seen.invalid != 0) invalid_.fetch_add(seen.invalid, std::memory_order_relaxed);
  }
  [[nodiscard]] SampleQuality read() const noexcept {
    return {clipped_.load(std::memory_order_relaxed), invalid_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<std::uint64_t> clipped_{0};
  std::atomic<std::uint64_t> invalid_{0};
};

}  // namespace echoform
