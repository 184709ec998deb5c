// Adaptive weights along lines: what the kernels sum for them, and what becomes of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/scan_lines/line_kernels.hpp"
#include "stages/scan_lines/line_set.hpp"

namespace echoform::scan_lines {

/// What follows from the weights of a line's receivers, [line, range]; empty where the kind has no use for it.
struct AdaptiveTables {
  std::vector<float> weight;  ///< as PointSums has it
  std::vector<float> pairs;   ///< likewise
  std::vector<float> cosine;  ///< as LineTask has it

  [[nodiscard]] std::size_t bytes() const { return (weight.size() + pairs.size() + cosine.size()) * sizeof(float); }
};
/// `ranges` as the kernels have them, padded.
[[nodiscard]] AdaptiveTables make_adaptive_tables(ChannelSums sums, const LineSet& lines, std::size_t ranges);
/// Bytes of them, before they are made.
[[nodiscard]] std::size_t adaptive_tables_bytes(ChannelSums sums, const LineSet& lines, std::size_t ranges);

class AdaptiveLines {
 public:
  /// Of "none", which nobody finishes a line by.
  AdaptiveLines() = default;
  /// Valid options; `ranges` as the kernels have them, padded; for at most `members` threads.
  AdaptiveLines(const AdaptiveOptions& options, bool normalise, const LineSet& lines, std::size_t ranges, std::size_t members);

  [[nodiscard]] const AdaptiveKind& kind() const { return *kind_; }
  /// Where the kernel of kind().sums_of is to write beside the sums of a line.
  void point(LineTask& task, std::size_t line, std::size_t member) noexcept;
  /// The same for quadrature samples, of which the channels are kept as well.
  void point_quadrature(LineTask& task, std::size_t member) noexcept;
  /// From what the kernel of `task` wrote to the `count` values of the line; `divisor` as LineTables has it.
  void finish(const LineTask& task, std::size_t line, std::size_t member, const float* divisor, std::size_t count,
              float* out) noexcept;

  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Of them, before they are made.
  [[nodiscard]] static std::size_t bytes_of(const AdaptiveOptions& options, const LineSet& lines, std::size_t ranges,
                                            std::size_t members);

 private:
  struct Scratch {
    std::vector<float> beside;    // second and low sums, results, and what they are worked out in
    std::vector<float> channels;  // [receiver, range], with analytic signals twice
    std::vector<float> gathered;  // [point, receiver] of one range's window, likewise
    std::vector<float> weights;   // of those heard there
    std::vector<std::uint32_t> heard;
    std::vector<double> workspace;

    [[nodiscard]] std::size_t bytes() const noexcept;
  };
  /// How many of each there are.
  struct Sizes {
    std::size_t beside = 0;
    std::size_t channels = 0;
    std::size_t gathered = 0;
    std::size_t receivers = 0;
    std::size_t workspace = 0;
  };
  static Sizes sizes_of(const AdaptiveOptions& options, const LineSet& lines, std::size_t ranges);

  /// Gathers what is heard at a range, and returns it.
  ChannelWindow window_at(const LineTask& task, std::size_t range, std::size_t count, Scratch& scratch) const noexcept;
  void finish_channels(const LineTask& task, const float* divisor, std::size_t count, Scratch& scratch, const float* weight,
                       float* out) const noexcept;
  [[nodiscard]] float scaled(float value, float weight) const noexcept;

  AdaptiveOptions options_;
  const AdaptiveKind* kind_ = adaptive_kinds().data();
  bool normalise_ = true;
  std::size_t ranges_ = 0;
  std::size_t receivers_ = 0;  // of the longest event
  AdaptiveTables tables_;
  std::vector<Scratch> scratch_;
};

}  // namespace echoform::scan_lines
