// A sink that keeps the newest frame's images, and counts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "formats/image_writer.hpp"
#include "pipeline/image_sink.hpp"

namespace echoform {

class LastImage final : public ImageSink {
 public:
  void plan_changed(std::shared_ptr<const ImagingPlan> plan) override;
  void publish(const FinishedFrame& frame) noexcept override;
  [[nodiscard]] std::string describe() const override { return "the newest image"; }

  /// Frames between the first and the last publication over the time between them; 0 before the second.
  [[nodiscard]] double images_per_second() const;
  [[nodiscard]] bool empty() const;
  [[nodiscard]] std::uint64_t sequence() const;
  /// The newest image of view `view` as a file; nothing may be published meanwhile.
  [[nodiscard]] ImageFile file(std::size_t view) const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const ImagingPlan> plan_;
  std::vector<std::vector<float>> envelopes_;  ///< one a view, of plan_'s size
  std::vector<float> references_;
  Compression compression_;  ///< of the newest frame
  std::uint64_t sequence_ = 0;
  std::uint64_t count_ = 0;
  SteadyTime first_{0};
  SteadyTime last_{0};
};

}  // namespace echoform
