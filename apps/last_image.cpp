#include "apps/last_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "offline/display_figure.hpp"
#include "pipeline/scan.hpp"

namespace echoform {

void LastImage::setup_changed(std::shared_ptr<const ImagingSetup> setup) {
  const std::lock_guard lock(mutex_);
  envelopes_.clear();
  for (std::size_t output = 0; output < setup->recipe.outputs.size(); ++output) {
    const OutputDescription& description = setup->recipe.outputs[output].description;
    if (description.kind != OutputKind::envelope) continue;
    envelopes_.push_back({output, description, std::vector<float>(description.grid.pixels())});
    Envelope& kept = envelopes_.back();
    kept.display = display_for_figures(setup->recipe, description.view);
    if (!kept.display) continue;
    kept.of_display = setup->recipe.outputs[*kept.display].description;
    kept.levels.resize(kept.of_display.grid.pixels());
  }
  empty_ = true;
  count_ = 0;
  cells_ = 0;
}

void LastImage::publish(const FinishedFrame& frame) noexcept {
  const std::lock_guard lock(mutex_);
  for (Envelope& envelope : envelopes_) {
    const SlotOutput& image = frame.slot.outputs[envelope.output];
    std::memcpy(envelope.pixels.data(), image.data.data(), std::min(image.data.size(), envelope.pixels.size() * sizeof(float)));
    envelope.reference = image.reference;
    if (!envelope.display) continue;
    const auto& levels = frame.slot.outputs[*envelope.display].data;
    std::memcpy(envelope.levels.data(), levels.data(), std::min(levels.size(), envelope.levels.size()));
  }
  scale_ = frame.setup.scale;
  sequence_ = frame.slot.sequence;
  empty_ = false;
  if (frame.slot.scan_cells && std::exchange(cells_, *frame.slot.scan_cells) == *frame.slot.scan_cells) return;
  if (count_ == 0) first_ = frame.now;
  last_ = frame.now;
  ++count_;
}

double LastImage::images_per_second() const {
  const std::lock_guard lock(mutex_);
  if (count_ < 2 || last_ <= first_) return 0.0;
  return static_cast<double>(count_ - 1) / std::chrono::duration<double>(last_ - first_).count();
}

bool LastImage::empty() const {
  const std::lock_guard lock(mutex_);
  return empty_;
}

std::uint64_t LastImage::sequence() const {
  const std::lock_guard lock(mutex_);
  return sequence_;
}

ImageFile LastImage::file(std::size_t view, bool for_figure) {
  const std::lock_guard lock(mutex_);
  ImageFile file;
  const Envelope& envelope = envelopes_[view];
  const bool display = for_figure && envelope.display.has_value();
  describe_pixels(file, envelope.description, scale_, static_cast<double>(envelope.reference));
  file.title = fmt::format("sequence {}", sequence_);
  file.view = envelope.description.view;
  if (display) {
    file.grid = envelope.of_display.grid;
    file.x = envelope.of_display.x;
    file.y = envelope.of_display.y;
    file.z = envelope.of_display.z;
    show_levels(file, envelope.levels, drawn_);
    return file;
  }
  file.grid = envelope.description.grid;
  file.x = envelope.description.x;
  file.y = envelope.description.y;
  file.z = envelope.description.z;
  file.lines = envelope.description.lines;
  file.envelope = envelope.pixels;
  return file;
}

}  // namespace echoform
