#include "pipeline/imaging_setup.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"

namespace echoform {

void validate(const ImagingSetup& setup, std::string_view where) {
  const std::size_t samples = setup.acquisition.samples;
  const SampleGate& gate = setup.gate;
  if (gate.count < 2 || gate.count > samples || gate.first > samples - gate.count) {
    throw InputError(fmt::format("{} gate", where), fmt::format("{} samples from {} on", gate.count, gate.first),
                     fmt::format("at least 2 within the {} of an A-scan", samples));
  }
  if (setup.acquisition.encoding == SampleEncoding::packed12 && gate.first % 2 != 0) {
    throw InputError(fmt::format("{} gate", where), fmt::format("first sample {}", gate.first),
                     "an even one: packed samples come in pairs");
  }
  validate(setup.recipe, where);
}

bool same_frames(const ImagingSetup& a, const ImagingSetup& b) {
  return a.acquisition == b.acquisition && a.gate == b.gate;
}

}  // namespace echoform
