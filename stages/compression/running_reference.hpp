// The value that is shown as 0 dB, or as the end of a scale of numbers, from frame to frame. Shared by the backends.
#pragma once

#include "pipeline/stage_options.hpp"
#include "stages/compression/compression_math.hpp"
#include "stages/compression/compression_options.hpp"

namespace echoform {

class RunningReference {
 public:
  /// Throws InputError if an option is out of its range.
  explicit RunningReference(const Compression& options);

  /// True for every Compression of the same scale, end and masked. Throws InputError if an option is out of its range.
  [[nodiscard]] bool accepts(const StageOptions& options) const;

  /// Whether follow() needs the peak of each frame.
  [[nodiscard]] bool follows_peaks() const noexcept;
  /// Whether that is the peak of magnitudes.
  [[nodiscard]] bool follows_magnitudes() const noexcept;
  /// Changes the options from the next frame on. Throws InputError, and nothing changes, if one is out of its range.
  void change(const Compression& options);
  /// Takes a frame's peak: finite, at least 0.
  void follow(float peak) noexcept;
  /// Continues from the reference of another stage. A fixed reference ignores the call, as does any reference if the value
  /// is not positive and finite.
  void resume(float reference) noexcept;
  /// Whether resume() would use `reference`.
  [[nodiscard]] bool can_resume(float reference) const noexcept;
  [[nodiscard]] float value() const noexcept;
  [[nodiscard]] ShownReference state() const noexcept;
  [[nodiscard]] CompressionCurve curve() const noexcept;
  [[nodiscard]] const ReferenceRule& rule() const noexcept { return rule_; }

 private:
  Compression options_;
  ReferenceRule rule_;
  double reference_ = 0.0;  // 0: none yet
};

}  // namespace echoform
