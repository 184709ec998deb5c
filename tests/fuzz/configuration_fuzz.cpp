// A configuration, and the plan that it makes of a small acquisition. A plan that would need much memory is refused before any
// is taken, and before anything walks over its pixels.
#include <spdlog/spdlog.h>

#include "base/errors.hpp"
#include "config/configuration.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/simulated_scene.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  spdlog::set_level(spdlog::level::off);
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(4, Metres(0.6e-3), Metres(0.53e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = 256;
  acquisition.sample_rate = Hertz(40e6);
  Configuration configuration;
  try {
    configuration = parse_configuration(fuzz::Input(data, size).text(), "fuzz.toml");
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
    return 0;
  }
  static_cast<void>(backend_choice(configuration.imaging));
  try {
    static_cast<void>(simulator_configuration(configuration));
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
  }
  // Rays through surfaces are sought one by one: what is allowed here must end within a fuzzer's patience.
  constexpr double most = 4e6;
  auto& limit = configuration.imaging.memory_limit;
  limit = std::min(limit.value_or(most), most);
  for (const PlanUse use : {PlanUse::recording, PlanUse::live}) {
    try {
      const auto plan = build_plan(configuration, acquisition, {MetresPerSecond(6000.0), MetresPerSecond(3000.0)}, 2, use);
      fuzz::require(memory_needed(*plan, 2, imaged_by(configuration.imaging)) <= most, "a plan within its memory");
      const SampleGate range = plan->imaged_samples();
      fuzz::require(range.count >= 1 && range.first + range.count <= plan->acquisition.samples, "a gate within the A-scan");
    } catch (const InputError& error) {
      fuzz::require_one_line(error.what());
    }
  }
  return 0;
}
