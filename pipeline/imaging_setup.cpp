#include "pipeline/imaging_setup.hpp"

#include <fmt/format.h>

#include "acquisition/sample_encodings.hpp"
#include "base/errors.hpp"

namespace echoform {

void validate(const ImagingSetup& setup, std::string_view where) {
  const std::size_t samples = setup.acquisition.samples;
  const SampleGate& gate = setup.gate;
  if (gate.count < 2 || gate.count > samples || gate.first > samples - gate.count) {
    throw InputError(fmt::format("{} gate", where), fmt::format("{} samples from {} on", gate.count, gate.first),
                     fmt::format("at least 2 within the {} of an A-scan", samples));
  }
  if (const std::size_t together = facts_of(setup.acquisition.encoding).together; gate.first % together != 0) {
    throw InputError(fmt::format("{} gate", where), fmt::format("first sample {}", gate.first),
                     fmt::format("a multiple of {}: so many samples are packed together", together));
  }
  validate(setup.recipe, where);
}

bool same_frames(const ImagingSetup& a, const ImagingSetup& b) {
  return a.acquisition == b.acquisition && a.gate == b.gate;
}

}  // namespace echoform
