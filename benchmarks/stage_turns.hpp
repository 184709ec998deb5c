// How long a stage takes, against the copy of as many bytes within the backend's memory, which takes turns with it: a machine
// that others use too is not equally fast all the time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/statistics.hpp"
#include "benchmarks/turns.hpp"
#include "pipeline/backend.hpp"
#include "pipeline/block.hpp"

namespace echoform::benchmarks {

struct StageTime {
  std::string name;      ///< "half matrix", "fused, half path", "half matrix and cuFFT, float path" ...
  Spread seconds;        ///< a frame
  double bytes = 0.0;    ///< that must at least be read and written between device memory and chip
  Spread seconds_floor;  ///< bytes at the bandwidth of the copies that took turns with it
  Spread ratio;          ///< floor to seconds, of measurements next to each other
  Turns turns;           ///< seconds of a frame's "work" and of a "copy", in the order of measurement
};

/// `turns` has "work" and "copy" of `copied` bytes, read plus written.
[[nodiscard]] StageTime stage_time(std::string name, Turns turns, double bytes, double copied);

/// Bytes that a stage must read and write at least: the samples of its input, and all of its output.
[[nodiscard]] double stage_bytes(const BlockSpec& input, const BlockSpec& output);

using Progress = std::function<void(const std::string&)>;

/// Measures stages of one backend. A CUDA queue is timed by events.
class StageTurns {
 public:
  /// Copies are of `source`, which outlives this as backend and queue do; `frames` are timed, after two that are not.
  /// `progress` is called with the name of each measurement.
  StageTurns(Backend& backend, ExecutionQueue& queue, const Buffer& source, std::size_t frames, const Progress& progress);

  /// `work` queues a frame of a stage, or of several.
  [[nodiscard]] StageTime measure(const std::string& name, double bytes, const std::function<void()>& work);
  /// Read plus written, over all turns.
  [[nodiscard]] double copy_bytes_per_second() const;

 private:
  [[nodiscard]] Turns turns_on_cpu(const std::function<void()>& work);

  Backend& backend_;
  ExecutionQueue& queue_;
  const Buffer& source_;
  Buffer target_;
  std::size_t frames_;
  Progress progress_;
  std::vector<double> rates_;
};

#ifdef ECHOFORM_WITH_CUDA
/// Frames that are queued one behind the other, as in a stream of them, each between two events and each behind a copy, which is
/// timed alike.
[[nodiscard]] Turns turns_on_cuda(const Buffer& source, const Buffer& target, std::size_t frames, ExecutionQueue& queue,
                                  const std::function<void()>& work);
#endif

}  // namespace echoform::benchmarks
