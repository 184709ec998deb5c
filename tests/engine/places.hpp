// The engines that this build has, and what their tests do with them.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "delay_laws/delay_law.hpp"
#include "methods/tfm/setup.hpp"
#include "pipeline/engine.hpp"
#include "tests/engine/plain_image.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform::test {

/// An engine, and the path that it takes for an accuracy.
struct Place {
  std::string name;
  BackendKind backend = BackendKind::cpu;
  double accuracy = 1e-3;
  /// Tolerance of complex images, relative L2. CPU: the single-precision transform (2e-7), delays held to 2^-18 of a sample
  /// and sums of 49 terms of white noise, which reaches up to half the sampling rate, where an error of a delay costs most.
  /// GPU: what the plan's accuracy promises; the single-precision path serves all accuracies below 1e-3.
  double tolerance = 2e-5;
};
inline const Place cpu_place{"cpu", BackendKind::cpu, 1e-3, 2e-5};
inline const Place float_place{"cuda_float", BackendKind::cuda, 1e-4, 1e-4};
inline const Place half_place{"cuda_half", BackendKind::cuda, 1e-3, 1e-3};

inline std::vector<Place> cuda_places() {
  // Always in the list, so that a missing GPU, or a build without its code, is seen as a skip.
  return {float_place, half_place};
}
inline std::vector<Place> places() {
  std::vector<Place> all = cuda_places();
  all.insert(all.begin(), cpu_place);
  return all;
}

inline std::shared_ptr<ImagingPlan> make_plan(const Place& place, SampleEncoding encoding, MatrixKind matrix,
                                              const std::vector<std::string>& views, std::size_t samples = 191,
                                              std::size_t elements = 7) {
  auto plan = std::make_shared<ImagingPlan>();
  plan->accuracy = place.accuracy;
  Acquisition& a = plan->acquisition;
  a.probe = make_linear_probe(elements, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  a.encoding = encoding;
  a.matrix = matrix;
  a.samples = samples;
  a.sample_rate = Hertz(40e6);
  a.start_time = Seconds(0.2e-6);
  a.sample_scale = 0.25;
  plan->material = {MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
  plan->grid = {{Metres(-5.1e-3), Metres(5.3e-3), 21}, {Metres(1.03e-3), Metres(11.9e-3), 19}, {}};
  for (const auto& view : views) plan->laws.push_back(make_delay_law("contact", {a, plan->material, view}));
  return plan;
}

struct Imaged {
  FrameSlot slot;
  std::unique_ptr<Engine> engine;
  [[nodiscard]] const SlotOutput& output(OutputKind kind, std::size_t view = 0) const {
    const Recipe& recipe = engine->setup().recipe;
    return slot.outputs.at(recipe.find(recipe.views().at(view), kind).value());
  }
  [[nodiscard]] const std::complex<float>* complex(std::size_t view = 0) const {
    return static_cast<const std::complex<float>*>(output(OutputKind::complex_image, view).data.data());
  }
  [[nodiscard]] const float* envelope(std::size_t view = 0) const {
    return static_cast<const float*>(output(OutputKind::envelope, view).data.data());
  }
  [[nodiscard]] const std::uint8_t* display(std::size_t view = 0) const {
    return static_cast<const std::uint8_t*>(output(OutputKind::display, view).data.data());
  }
  [[nodiscard]] float reference(std::size_t view = 0) const { return output(OutputKind::display, view).reference; }
};

inline void put(const Frame& frame, FrameSlot& slot) {
  std::memcpy(slot.samples.data(), frame.bytes.data(), frame.bytes.size());
}

inline std::unique_ptr<Engine> engine_at(const Place& place, std::shared_ptr<const ImagingPlan> plan,
                                         const EngineOptions& options = {}, const OutputWish& wish = {.complex_images = true}) {
  return make_engine(make_imaging_setup(std::move(plan), wish), {.automatic = false, .kind = place.backend, .threads = 2},
                     options);
}

inline Imaged image_of(const Place& place, std::shared_ptr<const ImagingPlan> plan, const Frame& frame,
                       const EngineOptions& options = {}, const OutputWish& wish = {.complex_images = true}) {
  Imaged imaged;
  imaged.engine = engine_at(place, std::move(plan), options, wish);
  imaged.engine->equip(imaged.slot);
  put(frame, imaged.slot);
  EXPECT_TRUE(image_now(*imaged.engine, imaged.slot));
  return imaged;
}

/// Whether two frames have the same results, bit for bit.
inline void expect_same(const FrameSlot& a, const FrameSlot& b) {
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (std::size_t k = 0; k < a.outputs.size(); ++k) {
    const Buffer& one = a.outputs[k].data;
    const Buffer& other = b.outputs[k].data;
    ASSERT_EQ(one.size(), other.size());
    EXPECT_TRUE(one.size() == 0 || std::memcmp(one.data(), other.data(), one.size()) == 0) << k;
    EXPECT_EQ(a.outputs[k].reference, b.outputs[k].reference) << k;
  }
  EXPECT_EQ(a.clipped_samples, b.clipped_samples);
  EXPECT_EQ(a.invalid_samples, b.invalid_samples);
}

class EnginesAt : public testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (GetParam().backend == BackendKind::cuda) ECHOFORM_REQUIRE_GPU();
  }
};

inline std::string place_name(const testing::TestParamInfo<Place>& info) {
  return info.param.name;
}

}  // namespace echoform::test
