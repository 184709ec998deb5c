// Frames that are synthesised in advance and sent repeatedly, so that the simulated source runs as fast as it can send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulators/fmc_simulator.hpp"
#include "simulators/playback.hpp"

namespace echoform {

struct FrameCycleOptions {
  std::size_t threads = 0;                            ///< that synthesise; 0: one for each processor, at most one a frame
  std::size_t memory_limit = std::size_t{512} << 20;  ///< bytes that the frames may take
  /// Called with the number of frames begun and the total, from several threads.
  std::function<void(std::size_t begun, std::size_t of)> progress{};
};

/// The whole cycle of a simulator's phantom, in memory. Where cycle_frames frames do not fit, the cycle has as many as do:
/// the motion takes larger steps and still closes. For a probe that moves, the cycle is that of its encoder's travel to and
/// fro, with one frame for each position, over a phantom as it is at first.
class FrameCycle final : public FrameSource {
 public:
  /// Synthesises all frames. Throws InputError if not even one frame fits (for a probe that moves, if not all fit), or if
  /// the configuration is wrong; RuntimeFault where memory is lacking.
  explicit FrameCycle(SimulatorConfiguration configuration, const FrameCycleOptions& options = {});

  [[nodiscard]] const Acquisition& acquisition() const noexcept override { return simulator_.acquisition(); }
  [[nodiscard]] std::uint64_t frames() const noexcept override { return order_.size(); }
  [[nodiscard]] bool cyclic() const noexcept override { return true; }
  /// Any index: taken modulo frames(). The bytes stay valid as long as the cycle.
  [[nodiscard]] std::span<const std::byte> frame(std::uint64_t index) override;
  [[nodiscard]] std::optional<EncoderCount> position(std::uint64_t number) const override {
    return encoder_count(simulator_.configuration().encoder, number);
  }
  [[nodiscard]] std::string describe() const override;

  /// Its configuration holds the number of frames that the cycle really has.
  [[nodiscard]] const FmcSimulator& simulator() const noexcept { return simulator_; }
  /// Where everything is in frame `index`, taken modulo frames().
  [[nodiscard]] std::vector<TruePosition> true_positions(std::uint64_t index) const {
    return whole_ ? echoform::true_positions(*whole_, 0.0) : simulator_.true_positions(index);
  }
  /// Bytes that the frames take; fixed from construction on.
  [[nodiscard]] std::size_t bytes() const noexcept { return data_.size(); }

 private:
  std::optional<Phantom> whole_;  // of which every place sees a part
  FmcSimulator simulator_;
  std::size_t frame_bytes_;
  std::vector<std::size_t> order_;  // of the cycle's frames, by what data_ holds
  std::vector<std::byte> data_;
};

}  // namespace echoform
