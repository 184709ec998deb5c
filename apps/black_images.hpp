// Warns of streams whose images show nothing.
#pragma once

#include <memory>
#include <string>

#include "pipeline/image_sink.hpp"

namespace echoform {

/// Warns, once after each announcement of a setup, of views whose first image is black in the display: in decibels no pixel
/// above the lower end. In a scan the first image is the first to which a position has contributed.
class BlackImages final : public ImageSink {
 public:
  /// `name` of the configuration begins the lines.
  explicit BlackImages(std::string name);

  void setup_changed(std::shared_ptr<const ImagingSetup> setup) override;
  void publish(const FinishedFrame& frame) noexcept override;
  [[nodiscard]] bool wants_envelope() noexcept override { return false; }
  [[nodiscard]] std::string describe() const override { return "black images"; }

 private:
  const std::string name_;
  bool looked_ = false;  // of the publishing thread
};

}  // namespace echoform
