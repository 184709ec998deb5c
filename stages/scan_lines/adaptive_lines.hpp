// Adaptive weights along lines: the sums that kernels form for them, and the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/scan_lines/line_kernels.hpp"
#include "stages/scan_lines/line_set.hpp"

namespace echoform::scan_lines {

/// Tables that follow from the weights of a line's receivers, [line, range]. A table is empty where the kind does not need it.
struct AdaptiveTables {
  std::vector<float> weight;  ///< as in PointSums
  std::vector<float> pairs;   ///< likewise
  std::vector<float> cosine;  ///< as in LineTask

  [[nodiscard]] std::size_t bytes() const { return (weight.size() + pairs.size() + cosine.size()) * sizeof(float); }
};
/// Makes the tables. `ranges` is the padded number of ranges of the kernels.
[[nodiscard]] AdaptiveTables make_adaptive_tables(ChannelSums sums, const LineSet& lines, std::size_t ranges);
/// Bytes of the tables, before they are made.
[[nodiscard]] std::size_t adaptive_tables_bytes(ChannelSums sums, const LineSet& lines, std::size_t ranges);

class AdaptiveLines {
 public:
  /// Adaptive weights of the kind "none", which never finish a line.
  AdaptiveLines() = default;
  /// `options` are valid, and `ranges` is the padded number of ranges of the kernels. At most `members` threads use the object.
  AdaptiveLines(const AdaptiveOptions& options, bool normalise, const LineSet& lines, std::size_t ranges, std::size_t members);

  [[nodiscard]] const AdaptiveKind& kind() const { return *kind_; }
  /// Sets where the kernel of kind().sums_of writes its additional sums of a line.
  void point(LineTask& task, std::size_t line, std::size_t member) noexcept;
  /// The same for quadrature samples, whose channels are kept as well.
  void point_quadrature(LineTask& task, std::size_t member) noexcept;
  /// Computes the `count` values of the line from the results of `task`'s kernel. `divisor` is that of LineTables.
  void finish(const LineTask& task, std::size_t line, std::size_t member, const float* divisor, std::size_t count,
              float* out) noexcept;

  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Value of bytes(), known before anything is allocated.
  [[nodiscard]] static std::size_t bytes_of(const AdaptiveOptions& options, const LineSet& lines, std::size_t ranges,
                                            std::size_t members);

 private:
  struct Scratch {
    std::vector<float> beside;    // second and low sums, results, and workspace
    std::vector<float> channels;  // [receiver, range], with analytic signals twice
    std::vector<float> gathered;  // [point, receiver] of one range's window, likewise
    std::vector<float> weights;   // weights of the receivers that contribute there
    std::vector<std::uint32_t> heard;
    std::vector<double> workspace;

    [[nodiscard]] std::size_t bytes() const noexcept;
  };
  /// Sizes of the members of Scratch.
  struct Sizes {
    std::size_t beside = 0;
    std::size_t channels = 0;
    std::size_t gathered = 0;
    std::size_t receivers = 0;
    std::size_t workspace = 0;
  };
  static Sizes sizes_of(const AdaptiveOptions& options, const LineSet& lines, std::size_t ranges);

  /// Gathers the channels that contribute at a range, and returns them.
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
