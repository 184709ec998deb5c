// A sink that keeps the newest frame's images, and counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "formats/image_writer.hpp"
#include "pipeline/image_sink.hpp"

namespace echoform {

class LastImage final : public ImageSink {
 public:
  void setup_changed(std::shared_ptr<const ImagingSetup> setup) override;
  void publish(const FinishedFrame& frame) noexcept override;
  [[nodiscard]] std::string describe() const override { return "the newest image"; }

  /// Frames between the first and the last publication over the time between them; 0 before the second. In a scan only
  /// frames with a new position count; the others are published, but image nothing.
  [[nodiscard]] double images_per_second() const;
  [[nodiscard]] bool empty() const;
  [[nodiscard]] std::uint64_t sequence() const;
  /// The newest image of view `view` as a file, for figures the display image where display_for_figures() has it so; nothing may
  /// be published meanwhile, and the next call takes its values away.
  [[nodiscard]] ImageFile file(std::size_t view, bool for_figure = false);

 private:
  mutable std::mutex mutex_;
  /// An envelope among the outputs, and its newest image.
  struct Envelope {
    std::size_t output = 0;
    OutputDescription description;
    std::vector<float> pixels;
    float reference = 1.0F;
    std::optional<std::size_t> display{};  ///< the output that figures show instead
    OutputDescription of_display{};
    std::vector<std::byte> levels{};
  };
  std::vector<Envelope> envelopes_;  ///< one a view
  std::vector<float> drawn_;         ///< values of the file of a display image
  DisplayScale scale_;               ///< of the newest frame
  std::uint64_t sequence_ = 0;
  bool empty_ = true;
  std::uint64_t count_ = 0;
  std::uint64_t cells_ = 0;  ///< of a scan, at the last frame that counted
  SteadyTime first_{0};
  SteadyTime last_{0};
};

}  // namespace echoform
