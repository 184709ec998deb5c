#include "formats/msot_description.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "formats/xml_reader.hpp"

namespace echoform::formats {
namespace {

constexpr double farthest_in_scanner = 1.0;  // metres: the size of a scanner; larger numbers would be in millimetres
constexpr double shortest_wavelength = 100;  // nanometres
constexpr double longest_wavelength = 1e5;   // nanometres
constexpr double greatest_energy = 1e5;      // millijoules
constexpr double least_rate = 0.001;         // MHz
constexpr double greatest_rate = 1e4;        // MHz
constexpr std::array axes{"1", "2", "3"};

class MsotParser final : private XmlReader {
 public:
  MsotParser(const std::string& file, const MsotLimits& limits) : XmlReader(file), limits_(limits) {}

  MsotDescription parse(std::istream& xml) {
    read(xml);
    if (found_.wavelengths.empty()) throw InputError(file(), "no WAVELENGTHS", "a WAVELENGTH for each pulse of a sweep");
    if (found_.detectors.size() < 2) {
      throw InputError(file(), fmt::format("{} PROJECTION in FRAME-DESC", found_.detectors.size()), "one a detector, at least 2");
    }
    if (found_.samples == 0) throw InputError(file(), "no RECORDED-LENGTH", "the samples of an A-scan");
    if (found_.sample_rate == 0.0) throw InputError(file(), "no SAMPLING-FREQUENCY", "the rate of samples in MHz");
    return std::move(found_);
  }

 private:
  void begin() override {
    if (attribute(normalisation) == "PerPulse") found_.normalised = true;
    if (name() == "DataModelScanFrame") {
      if (found_.pulses.size() >= limits_.pulses) refuse("more pulses", fmt::format("at most {}", limits_.pulses));
      found_.pulses.emplace_back();
    } else if (name() == "PROJECTION") {
      place_ = {};
    } else if (name() == "VALUE" && in_detector()) {
      axis_ = attribute("axis-ref");
    }
    if (!inside("DataModelScanFrame")) return;
    if (const auto ticks = attribute("timestamp")) found_.pulses.back().ticks = ticks_of(*ticks);
  }

  void end() override {
    if (name() == normalisation && text() == "PerPulse") found_.normalised = true;
    if (inside("DataModelScanFrame")) {
      end_of_pulse();
    } else if (name() == "WAVELENGTHS") {  // later ones, like a second FRAME-DESC, describe what was computed from the recording
      has_wavelengths_ = has_wavelengths_ || !found_.wavelengths.empty();
    } else if (name() == "FRAME-DESC") {
      has_detectors_ = has_detectors_ || !found_.detectors.empty();
    } else if (name() == "WAVELENGTH" && inside("WAVELENGTHS") && !has_wavelengths_) {
      if (found_.wavelengths.size() >= limits_.wavelengths)
        refuse("more wavelengths", fmt::format("at most {}", limits_.wavelengths));
      found_.wavelengths.push_back(number(shortest_wavelength, longest_wavelength));
    } else if (name() == "VALUE" && in_detector()) {
      take_coordinate();
    } else if (name() == "PROJECTION" && in_detector()) {
      take_detector();
    } else if (name() == "RECORDED-LENGTH" && found_.samples == 0) {
      const double samples = number(2.0, static_cast<double>(limits_.samples));
      if (samples != std::floor(samples)) refuse(fmt::format("{} samples", samples), "a whole number");
      found_.samples = static_cast<std::size_t>(samples);
    } else if (name() == "SAMPLING-FREQUENCY" && found_.sample_rate == 0.0) {
      found_.sample_rate = 1e6 * number(least_rate, greatest_rate);
    }
  }

  /// Ends an element within a DataModelScanFrame. An element without text states nothing.
  void end_of_pulse() {
    if (text().empty()) return;
    if (name() == "WAVELENGTH") found_.pulses.back().wavelength = number(shortest_wavelength, longest_wavelength);
    if (name() == "LASER-ENERGY") found_.pulses.back().energy = number(0.0, greatest_energy);
  }

  [[nodiscard]] bool in_detector() const { return !has_detectors_ && inside("FRAME-DESC") && inside("PROJECTION"); }

  void take_coordinate() {
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      if (axis_ != axes.at(axis)) continue;
      if (place_.at(axis)) refuse(fmt::format("a second VALUE of axis {}", axis + 1), "one of each axis");
      place_.at(axis) = number(-farthest_in_scanner, farthest_in_scanner);
      return;
    }
    refuse(axis_ ? fmt::format("axis-ref \"{}\"", *axis_) : "a VALUE without axis-ref", "1, 2 or 3");
  }

  void take_detector() {
    if (!place_[0] || !place_[1] || !place_[2]) refuse("a PROJECTION without all of its values", "3: its place in metres");
    if (found_.detectors.size() >= limits_.detectors) refuse("more detectors", fmt::format("at most {}", limits_.detectors));
    found_.detectors.push_back({*place_[0], *place_[1], *place_[2]});
  }

  /// The number in the element's text.
  [[nodiscard]] double number(double least, double greatest) const {
    const std::string_view stated = text();
    const char* end = stated.data() + stated.size();
    double value = 0.0;
    const auto [stop, error] = std::from_chars(stated.data(), end, value);
    if (error != std::errc() || stop != end || !(value >= least && value <= greatest)) {
      refuse(fmt::format("{} \"{}\"", name(), stated.substr(0, 40)), fmt::format("a number from {:g} to {:g}", least, greatest));
    }
    return value;
  }
  [[nodiscard]] std::uint64_t ticks_of(const std::string& stated) const {
    const char* end = stated.data() + stated.size();
    std::uint64_t ticks = 0;
    const auto [stop, error] = std::from_chars(stated.data(), end, ticks);
    if (error != std::errc() || stop != end) refuse(fmt::format("timestamp \"{}\"", stated.substr(0, 40)), "a number of 100 ns");
    return ticks;
  }
  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    throw InputError(where(), found, expected);
  }

  static constexpr std::string_view normalisation = "LEnergy-normalization";

  const MsotLimits& limits_;
  MsotDescription found_;
  std::array<std::optional<double>, axes.size()> place_{};  // axes of the PROJECTION
  std::optional<std::string> axis_;                         // axis of the VALUE
  bool has_wavelengths_ = false;
  bool has_detectors_ = false;
};

}  // namespace

MsotDescription read_msot_description(std::istream& xml, const std::string& file, const MsotLimits& limits) {
  return MsotParser(file, limits).parse(xml);
}

}  // namespace echoform::formats
