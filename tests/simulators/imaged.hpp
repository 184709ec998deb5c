// Images of a configuration's own simulated source: frame, plan and engine are made as the program makes them, on the CPU.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "methods/registry.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/setup.hpp"
#include "pipeline/engine.hpp"
#include "pipeline/scan.hpp"
#include "simulators/fmc_simulator.hpp"
#include "simulators/frame_cycle.hpp"

namespace echoform::test {

struct ImagedScene {
  std::shared_ptr<const ImagingPlan> plan;
  std::vector<std::vector<float>> envelopes;  ///< by view, [z, x], volumes [z, y, x]
};

/// Frame 0 of a simulated source, and what states it.
struct SourceFrame {
  Acquisition acquisition;
  Material material;
  std::vector<std::byte> bytes;
};

inline SourceFrame frame_of(const SimulatorConfiguration& source) {
  const FmcSimulator simulator(source);
  SourceFrame frame{simulator.acquisition(), source.material, std::vector<std::byte>(simulator.acquisition().frame_bytes())};
  simulator.synthesise(0, frame.bytes);
  return frame;
}

/// The frame as a server with this configuration images it.
inline ImagedScene image_scene(const Configuration& configuration, const SourceFrame& frame,
                               BackendKind backend = BackendKind::cpu) {
  ImagedScene imaged;
  imaged.plan = build_plan(configuration, frame.acquisition, frame.material);
  const auto engine =
      make_engine(make_imaging_setup(imaged.plan, {.display = false}), {.automatic = false, .kind = backend, .threads = 2}, {});
  FrameSlot slot;
  engine->equip(slot);
  std::memcpy(slot.samples.data(), frame.bytes.data(), frame.bytes.size());
  EXPECT_TRUE(image_now(*engine, slot));
  for (const SlotOutput& output : slot.outputs) {
    const auto* envelope = static_cast<const float*>(output.data.data());
    imaged.envelopes.emplace_back(envelope, envelope + imaged.plan->grid.pixels());
  }
  return imaged;
}

/// The frames of a probe that moves, all of its way, as a server with this configuration images them.
inline ImagedScene image_scan(const Configuration& configuration, FrameCycle& cycle) {
  ImagedScene imaged;
  const auto setup = resolve_imaging({.configuration = configuration,
                                      .acquisition = cycle.acquisition(),
                                      .stated = {cycle.simulator().configuration().material, {}},
                                      .wish = {.display = false}});
  auto plan = std::make_shared<ImagingPlan>(plan_of(*setup->scan->model));
  plan->grid = setup->scan->grid;
  imaged.plan = std::move(plan);
  const auto engine = make_engine(setup, {.automatic = false, .kind = BackendKind::cpu, .threads = 2}, {});
  FrameSlot slot;
  engine->equip(slot);
  for (std::uint64_t number = 0; number < cycle.frames(); ++number) {
    const auto frame = cycle.frame(number);
    std::memcpy(slot.samples.data(), frame.data(), frame.size());
    slot.position = cycle.position(number);
    EXPECT_TRUE(image_now(*engine, slot));
  }
  for (const SlotOutput& output : slot.outputs) {
    const auto* envelope = static_cast<const float*>(output.data.data());
    imaged.envelopes.emplace_back(envelope, envelope + imaged.plan->grid.pixels());
  }
  return imaged;
}

struct ScenePeak {
  double x = 0.0;
  double z = 0.0;
  float value = -1.0F;
  double y = 0.0;
};

/// The strongest pixel of a view within `reach` of a place along x and z, wherever across.
inline ScenePeak peak_of(const ImagedScene& imaged, std::size_t view, double x, double z, double reach) {
  ScenePeak peak;
  for (std::size_t pixel = 0; pixel < imaged.envelopes[view].size(); ++pixel) {
    const Point at = imaged.plan->grid.at(pixel);
    const float value = imaged.envelopes[view][pixel];
    if (std::abs(at.x.value - x) > reach || std::abs(at.z.value - z) > reach || !(value > peak.value)) continue;
    peak = {at.x.value, at.z.value, value, at.y.value};
  }
  return peak;
}

/// A quarter of the shortest wavelength in the part that a view has.
inline double quarter_wavelength(const ImagingPlan& plan, const std::string& view) {
  const bool shear = view.find('T') != std::string::npos;
  const MetresPerSecond velocity = shear ? plan.material.shear_velocity : plan.material.longitudinal_velocity;
  return 0.25 * (velocity / plan.acquisition.probe.centre_frequency).value;
}

}  // namespace echoform::test
