#include "apps/black_images.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/value_scale.hpp"
#include "pipeline/scan.hpp"

namespace echoform {
namespace {

/// True if every level is 0 or 1. Level 0 is the lower end and below; or it means "no value", and then level 1 is the lower end.
bool is_black(const SlotOutput& image) {
  const auto* const levels = static_cast<const std::byte*>(image.data.data());
  return std::all_of(levels, levels + image.data.size(), [](std::byte level) { return level <= std::byte{1}; });
}

}  // namespace

BlackImages::BlackImages(std::string name) : name_(std::move(name)) {}

void BlackImages::setup_changed(std::shared_ptr<const ImagingSetup> /*setup*/) {
  looked_ = false;
}

void BlackImages::publish(const FinishedFrame& frame) noexcept {
  if (looked_) return;
  if (frame.setup.scan != nullptr && frame.setup.scan->record->counts().cells == 0) return;
  looked_ = true;
  const auto& outputs = frame.setup.recipe.outputs;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const OutputDescription& description = outputs[k].description;
    if (description.kind != OutputKind::display || shows_numbers(description.scale.kind)) continue;
    if (!is_black(frame.slot.outputs[k])) continue;
    spdlog::warn(
        "{}: view {}: the first image is black: frames hold no echo from where [grid] lies, or [output] reference_value is "
        "too high for them",
        name_, description.view);
  }
}

}  // namespace echoform
