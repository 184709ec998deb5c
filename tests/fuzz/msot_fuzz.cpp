// The XML that describes a scan of iThera's MSOT, from memory, and the recording that it makes with a file of samples whose size
// is that of a few of the descriptions in the corpus.
#include <sstream>

#include "formats/msot_description.hpp"
#include "formats/recording_formats.hpp"
#include "tests/fuzz/recording_check.hpp"

namespace {

using namespace echoform;

constexpr std::size_t sample_bytes = 96;  // 2 pulses of 3 detectors and 8 samples, and others
constexpr formats::MsotLimits limits{.wavelengths = 16, .detectors = 64, .samples = 4096, .pulses = 256};

void check_description(const std::string& xml) {
  try {
    std::istringstream stream(xml);
    const formats::MsotDescription found = formats::read_msot_description(stream, "scan.msot", limits);
    fuzz::require(!found.wavelengths.empty() && found.wavelengths.size() <= limits.wavelengths, "wavelengths within the limit");
    fuzz::require(found.detectors.size() >= 2 && found.detectors.size() <= limits.detectors, "detectors within the limit");
    fuzz::require(found.samples >= 2 && found.samples <= limits.samples, "samples within the limit");
    fuzz::require(found.pulses.size() <= limits.pulses, "pulses within the limit");
    fuzz::require(std::isfinite(found.sample_rate) && found.sample_rate > 0.0, "a rate");
    for (const double wavelength : found.wavelengths) fuzz::require(wavelength > 0.0 && wavelength < 1e6, "wavelengths of light");
    for (const Direction& place : found.detectors) {
      const bool near = std::abs(place.x) <= 1.0 && std::abs(place.y) <= 1.0 && std::abs(place.z) <= 1.0;
      fuzz::require(near, "detectors within a metre");
    }
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::InputFile description(".msot");
  static const fuzz::InputFile samples(".bin");
  static const bool written = [] {
    samples.write(std::vector<std::uint8_t>(sample_bytes, 0xA5));
    return true;
  }();
  fuzz::require(written, "a file of samples");
  check_description(std::string(reinterpret_cast<const char*>(data), size));
  description.write({data, size});
  RecordingOptions options = fuzz::small_recordings;
  options.detectors = options.limits.elements;
  fuzz::check_recording([&] { return formats::open_as(formats::msot_format, description.path(), options); });
  return 0;
}
