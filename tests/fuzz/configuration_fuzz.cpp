// A configuration, and the plan that it makes of a small acquisition. A plan that would need much memory is refused before any
// is taken, and before anything walks over its pixels.
#include <spdlog/spdlog.h>

#include "base/errors.hpp"
#include "config/configuration.hpp"
#include "methods/host_memory.hpp"
#include "methods/registry.hpp"
#include "pipeline/setup_memory.hpp"
#include "settings/reader.hpp"
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
    static_cast<void>(method_of(configuration).simulated_source(configuration));
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
  }
  // Rays through surfaces are sought one by one: what is allowed here must end within a fuzzer's patience.
  constexpr double most = 4e6;
  auto& limit = configuration.imaging.memory_limit;
  limit = std::min(limit.value_or(most), most);
  for (const ImagingUse use : {ImagingUse::recording, ImagingUse::live}) {
    try {
      const StatedByData stated{{MetresPerSecond(6000.0), MetresPerSecond(3000.0)}, {}};
      const auto setup = resolve_imaging({configuration, acquisition, stated, 2, use});
      fuzz::require(static_cast<double>(host_memory(*setup, 2, imaging_site(configuration))) <= most,
                    "a setup within its memory");
      const SampleGate gate = setup->gate;
      fuzz::require(gate.count >= 1 && gate.first + gate.count <= setup->acquisition.samples, "a gate within the A-scan");
    } catch (const InputError& error) {
      fuzz::require_one_line(error.what());
    }
  }
  return 0;
}
