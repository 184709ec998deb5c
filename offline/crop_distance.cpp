#include "offline/crop_distance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "offline/recorded_frame.hpp"

namespace echoform {
namespace {

/// Names of views with their complex images.
std::vector<std::pair<std::string, std::vector<std::complex<float>>>> images_of(const std::shared_ptr<const ImagingSetup>& setup,
                                                                                Recording& recording, std::size_t frame,
                                                                                const BackendChoice& choice) {
  const auto engine = make_engine(setup, choice, {});
  FrameSlot slot;
  engine->equip(slot);
  read_recorded_frame(recording, frame, slot);
  if (!image_now(*engine, slot)) throw RuntimeFault("the backend could not image the frame");
  std::vector<std::pair<std::string, std::vector<std::complex<float>>>> images;
  const auto& outputs = engine->setup().recipe.outputs;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].description.kind != OutputKind::complex_image) continue;
    const auto* first = static_cast<const std::complex<float>*>(slot.outputs[k].data.data());
    images.emplace_back(outputs[k].description.view, std::vector(first, first + outputs[k].description.grid.pixels()));
  }
  return images;
}

}  // namespace

std::vector<std::string> crop_distance(const Method& method, const ImagingRequest& request, Recording& recording,
                                       std::size_t frame, const BackendChoice& choice) {
  ImagingRequest wanted = request;
  wanted.wish = {.complex_images = true, .display = false};
  wanted.crop = false;
  const auto whole = method.resolve(task_of(method, wanted));
  wanted.crop = true;
  const auto cropped = method.resolve(task_of(method, wanted));
  const SampleGate& gate = cropped->gate;
  if (gate == whole->gate) return {"crop: the image needs the whole A-scan"};
  const auto expected = images_of(whole, recording, frame, choice);
  const auto found = images_of(cropped, recording, frame, choice);
  if (expected.empty()) return {"crop: the method makes no complex images to compare"};
  std::vector<std::string> lines;
  for (std::size_t view = 0; view < expected.size(); ++view) {
    double difference = 0.0;
    double norm = 0.0;
    float peak_before = 0.0F;
    float peak_after = 0.0F;
    for (std::size_t k = 0; k < expected[view].second.size(); ++k) {
      difference += std::norm(std::complex<double>(found[view].second[k]) - std::complex<double>(expected[view].second[k]));
      norm += std::norm(std::complex<double>(expected[view].second[k]));
      peak_before = std::max(peak_before, std::abs(expected[view].second[k]));
      peak_after = std::max(peak_after, std::abs(found[view].second[k]));
    }
    lines.push_back(fmt::format("view {}, cropped to samples {} to {} of {}: relative L2 distance {:.2e}, peak {:+.3f} dB",
                                expected[view].first, gate.first, gate.first + gate.count - 1, cropped->acquisition.samples,
                                norm > 0.0 ? std::sqrt(difference / norm) : 0.0,
                                peak_before > 0.0F ? 20.0 * std::log10(peak_after / peak_before) : 0.0));
  }
  return lines;
}

}  // namespace echoform
