// The plain loops against which the speed of sums along lines is quoted. FROZEN: the figures in docs/performance.md are ratios to
// exactly this code with exactly these flags, so neither may be improved or worsened.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoform::reference {

/// Lines from the middle of a linear array; lengths in metres, angles in radians, times in seconds.
struct Lines {
  std::size_t lines = 0;  ///< `of_event` of each event, one behind the other
  std::size_t of_event = 1;
  std::size_t channels = 0;
  std::size_t samples = 0;
  std::size_t ranges = 0;
  const float* sine = nullptr;    ///< of each line's angle
  const float* cosine = nullptr;  ///< likewise
  const float* place = nullptr;   ///< of each channel along x
  const float* weight = nullptr;  ///< of each channel
  float range_spacing = 0.0F;     ///< the first range is 0
  float velocity = 0.0F;
  float sample_rate = 0.0F;  ///< sample 0 is at t = 0, where the wave leaves the middle of the array
};

/// out[line, range] of data[event, channel, sample]: the weighted mean over channels of samples at t = (r + |p - e|) / c, between
/// samples linear. Delays are worked out for every channel, one point at a time, OpenMP over lines on `threads` threads.
void sum_lines_loop(const Lines& task, const std::int16_t* data, float* out, int threads);

/// The same with samples 4 times as dense first: three FIR filters of `taps` coefficients [phase - 1, tap] around each sample,
/// taps at n - left ... `fine` holds 4 * samples floats for each of an event's channels and each thread.
void sum_upsampled_lines_loop(const Lines& task, const float* coefficients, std::size_t taps, std::size_t left,
                              const std::int16_t* data, float* fine, float* out, int threads);

}  // namespace echoform::reference
