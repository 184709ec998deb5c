#include "apps/volume_preview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.hpp"
#include "transport/telemetry_report.hpp"

namespace echoform {

VolumePreview::VolumePreview(const Configuration& configuration, const Grid& grid, ImageQuantity quantity, ShownPart shown)
    : grid_(grid), quantity_(std::move(quantity)), part_(shown) {
  for (const SinkDoor& door : sink_doors()) {
    if (door.shows_iterates) sinks_.push_back(door.make(configuration));
  }
  announce("iteration 0");
}

std::vector<std::string> VolumePreview::invitations() const {
  std::vector<std::string> lines;
  for (const OpenSink& open : sinks_) lines.push_back(open.invitation);
  return lines;
}

void VolumePreview::begin(std::string name) {
  name_ = std::move(name) + ", ";
  of_others_ = last_;
}

void VolumePreview::show(std::span<const float> volume, std::size_t iteration, double residual) {
  last_ = of_others_ + iteration;
  if (!looked_at()) return;
  announce(fmt::format("{}iteration {}, residual {:.4g}", name_, iteration, residual));
  if (pixels_.empty()) {
    pixels_.resize(volume.size());
    slot_.outputs.resize(1);
    slot_.outputs[0].data = Buffer(pixels_.data(), volume.size_bytes(), [](void*) {});
  }
  float greatest = 0.0F;
  for (std::size_t k = 0; k < volume.size(); ++k) {
    pixels_[k] = shown_value(volume[k], part_);
    greatest = std::max(greatest, std::abs(volume[k]));
  }
  slot_.outputs[0].reference = greatest > 0.0F ? greatest : 1.0F;
  const SystemClock clock;
  FinishedFrame frame{slot_, *setup_, {}, clock.wall(), clock.steady()};
  slot_.sequence = last_;
  slot_.last_byte_time = frame.now;
  frame.counters.frames_received = frame.counters.frames_published = ++shown_;
  for (const OpenSink& open : sinks_) open.sink->publish(frame);
}

bool VolumePreview::looked_at() const {
  TelemetryReport told;
  for (const OpenSink& open : sinks_) {
    if (open.tell) open.tell(told);
  }
  return std::ranges::any_of(told.viewers, [](const auto& viewers) { return viewers.second > 0; });
}

void VolumePreview::announce(std::string view) {
  auto setup = std::make_shared<ImagingSetup>();
  OutputDescription description{std::move(view), OutputKind::envelope, grid_};
  description.pixels = quantity_.pixels;
  description.scale = quantity_.scale;
  setup->recipe.outputs.push_back({std::move(description), 0, 0});
  for (const OpenSink& open : sinks_) open.sink->setup_changed(setup);
  setup_ = std::move(setup);
}

}  // namespace echoform
