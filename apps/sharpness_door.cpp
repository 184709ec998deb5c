#include "apps/sharpness_door.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "methods/registry.hpp"
#include "pipeline/recipe.hpp"

namespace echoform {
namespace {

using SharpnessClock = std::chrono::steady_clock;

/// Evaluates the first envelope of a frame from time to time only, because a sink that reads envelopes makes them be copied to
/// the host.
class SharpnessSink final : public ImageSink {
 public:
  void setup_changed(std::shared_ptr<const ImagingSetup> /*setup*/) override { next_.store(0, std::memory_order_relaxed); }
  void publish(const FinishedFrame& frame) noexcept override {
    if (!frame.slot.envelope_wanted || !due()) return;
    const std::vector<RecipeOutput>& outputs = frame.setup.recipe.outputs;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const OutputDescription& description = outputs[k].description;
      if (description.kind != OutputKind::envelope) continue;
      const auto* const values = static_cast<const float*>(frame.slot.outputs[k].data.data());
      sharpness_.store(sharpness_of({values, description.grid.pixels()}), std::memory_order_relaxed);
      break;
    }
    next_.store((SharpnessClock::now() + interval).time_since_epoch().count(), std::memory_order_relaxed);
  }
  [[nodiscard]] bool wants_envelope() noexcept override { return due(); }
  [[nodiscard]] std::vector<SinkFigure> figures() const override {
    return {{"sharpness", "Variance of the image's magnitudes over the square of their mean: largest at the right velocity.",
             sharpness_.load(std::memory_order_relaxed), false}};
  }
  [[nodiscard]] std::string describe() const override { return "how sharp images are"; }

 private:
  static constexpr std::chrono::milliseconds interval{200};
  [[nodiscard]] bool due() const noexcept {
    return SharpnessClock::now().time_since_epoch().count() >= next_.load(std::memory_order_relaxed);
  }

  std::atomic<double> sharpness_{0.0};
  std::atomic<SharpnessClock::rep> next_{0};
};

}  // namespace

double sharpness_of(std::span<const float> values) {
  double sum = 0.0;
  double squares = 0.0;
  for (const float value : values) {
    const double magnitude = std::isfinite(value) ? std::abs(static_cast<double>(value)) : 0.0;
    sum += magnitude;
    squares += magnitude * magnitude;
  }
  if (!(sum > 0.0)) return 0.0;
  return static_cast<double>(values.size()) * squares / (sum * sum) - 1.0;
}

OpenSink open_sharpness(const Configuration& configuration) {
  if (!method_of(configuration).tells_sharpness()) return {};
  return std::make_shared<SharpnessSink>();
}

}  // namespace echoform
