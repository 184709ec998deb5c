#include "apps/crop_distance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <span>

#include "apps/recorded_frame.hpp"
#include "base/errors.hpp"
#include "methods/tfm/gate.hpp"
#include "methods/tfm/setup.hpp"

namespace echoform {
namespace {

/// Complex images by view.
std::vector<std::vector<std::complex<float>>> images_of(const ImagingPlan& plan, Recording& recording, std::size_t frame,
                                                        const BackendChoice& choice) {
  const auto engine = make_engine(
      make_imaging_setup(std::make_shared<ImagingPlan>(plan), {.complex_images = true, .display = false}), choice, {});
  FrameSlot slot;
  engine->equip(slot);
  read_recorded_frame(recording, frame, slot);
  if (!image_now(*engine, slot)) throw RuntimeFault("the backend could not image the frame");
  std::vector<std::vector<std::complex<float>>> images;
  const auto& outputs = engine->setup().recipe.outputs;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].description.kind != OutputKind::complex_image) continue;
    const auto* first = static_cast<const std::complex<float>*>(slot.outputs[k].data.data());
    images.emplace_back(first, first + outputs[k].description.grid.pixels());
  }
  return images;
}

}  // namespace

std::vector<std::string> crop_distance(const ImagingPlan& plan, std::size_t guard, Recording& recording, std::size_t frame,
                                       const BackendChoice& choice) {
  ImagingPlan whole = plan;
  whole.gate.reset();
  ImagingPlan cropped = whole;
  cropped.gate = choose_gate(whole, guard);
  if (!cropped.gate) return {"crop: the image needs the whole A-scan"};
  const auto expected = images_of(whole, recording, frame, choice);
  const auto found = images_of(cropped, recording, frame, choice);
  std::vector<std::string> lines;
  for (std::size_t view = 0; view < expected.size(); ++view) {
    double difference = 0.0;
    double norm = 0.0;
    float peak_before = 0.0F;
    float peak_after = 0.0F;
    for (std::size_t k = 0; k < expected[view].size(); ++k) {
      difference += std::norm(std::complex<double>(found[view][k]) - std::complex<double>(expected[view][k]));
      norm += std::norm(std::complex<double>(expected[view][k]));
      peak_before = std::max(peak_before, std::abs(expected[view][k]));
      peak_after = std::max(peak_after, std::abs(found[view][k]));
    }
    lines.push_back(fmt::format("view {}, cropped to samples {} to {} of {}: relative L2 distance {:.2e}, peak {:+.3f} dB",
                                plan.laws[view].view, cropped.gate->first, cropped.gate->first + cropped.gate->count - 1,
                                plan.acquisition.samples, norm > 0.0 ? std::sqrt(difference / norm) : 0.0,
                                peak_before > 0.0F ? 20.0 * std::log10(peak_after / peak_before) : 0.0));
  }
  return lines;
}

}  // namespace echoform
