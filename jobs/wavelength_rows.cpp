#include "jobs/wavelength_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "acquisition/detectors.hpp"
#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "jobs/reconstruction_section.hpp"
#include "methods/wavelength_name.hpp"

namespace echoform {
namespace {

// Tolerance for files that round wavelengths.
constexpr double tolerance = 1e-4;

double nanometres(Metres wavelength) {
  return 1e9 * wavelength.value;
}

/// Chooses wavelengths, and states to which of them an event belongs.
class Chooser {
 public:
  Chooser(const Configuration& configuration, const Acquisition& acquisition, const NamedWavelengths& otherwise)
      : configuration_(configuration) {
    const auto& settings = section<ReconstructionSection>(configuration);
    for (const TransmitEvent& event : acquisition.events) {
      of_event_.push_back(std::get<PassiveEvent>(event.form).wavelength);
      known_.emplace(name_of_wavelength(of_event_.back()), of_event_.back());
    }
    light_of_.resize(of_event_.size());
    if (settings.wavelength) {
      add("[reconstruction] wavelength", *settings.wavelength);
    } else if (!settings.wavelengths.empty()) {
      for (const Metres wanted : settings.wavelengths) add("[reconstruction] wavelengths", wanted);
    } else if (!otherwise.wavelengths.empty()) {
      for (const Metres wanted : otherwise.wavelengths) add(otherwise.place, wanted);
    } else {
      add_all();
    }
  }

  [[nodiscard]] std::vector<WavelengthRows> rows(const Acquisition& acquisition) {
    const std::vector<Detector> detectors = detectors_of(acquisition);
    const auto pairs = FrameLayout(acquisition).pairs();
    for (std::size_t row = 0; row < pairs.size(); ++row) {
      if (const auto light = light_of_[pairs[row].event]; light && !detectors[row].dead) lights_[*light].rows.push_back(row);
    }
    for (const WavelengthRows& light : lights_) {
      if (light.rows.empty()) throw InputError("the frame", "dead elements alone", "one at least that records");
    }
    return std::move(lights_);
  }

 private:
  [[noreturn]] void refuse(std::string_view key, std::string_view found, std::string_view expected) const {
    throw InputError(configuration_.place(key), found, expected);
  }

  [[nodiscard]] std::string list() const {
    std::vector<double> values;
    for (const auto& [name, wavelength] : known_) values.push_back(nanometres(wavelength));
    std::ranges::sort(values);
    std::string text;
    for (const double value : values) text += fmt::format("{}{:g}", text.empty() ? "" : ", ", value);
    return text + " nm";
  }

  void add(std::string_view key, Metres wanted) {
    const auto distance = [wanted](const auto& known) { return std::abs(known.second.value / wanted.value - 1.0); };
    const auto nearest = std::ranges::min_element(known_, {}, distance);
    if (!(distance(*nearest) <= tolerance))
      refuse(key, fmt::format("{:g} nm", nanometres(wanted)), fmt::format("one of the wavelengths of the data: {}", list()));
    const auto& [name, wavelength] = *nearest;
    if (std::ranges::find(lights_, name, &WavelengthRows::name) != lights_.end())
      refuse(key, fmt::format("{:g} nm twice", nanometres(wanted)), "each once");
    lights_.push_back({name, wavelength, {}});
    for (std::size_t event = 0; event < of_event_.size(); ++event) {
      if (name_of_wavelength(of_event_[event]) == name) light_of_[event] = lights_.size() - 1;
    }
  }

  void add_all() {
    if (known_.size() > 1 && known_.contains(name_of_wavelength(Metres(0.0)))) {
      refuse("[reconstruction] wavelengths", "no such key, and events without a wavelength beside others",
             fmt::format("those that are taken, of {}", list()));
    }
    for (const auto& [name, wavelength] : known_) lights_.push_back({name, wavelength, {}});
    std::ranges::sort(lights_, {}, &WavelengthRows::wavelength);
    for (std::size_t event = 0; event < of_event_.size(); ++event) {
      const auto same = std::ranges::find(lights_, name_of_wavelength(of_event_[event]), &WavelengthRows::name);
      light_of_[event] = static_cast<std::size_t>(same - lights_.begin());
    }
  }

  const Configuration& configuration_;
  std::vector<Metres> of_event_;
  std::map<std::string, Metres> known_;
  std::vector<WavelengthRows> lights_;
  std::vector<std::optional<std::size_t>> light_of_;
};

}  // namespace

std::vector<WavelengthRows> rows_of_wavelengths(const Configuration& configuration, const Acquisition& acquisition,
                                                const NamedWavelengths& otherwise) {
  return Chooser(configuration, acquisition, otherwise).rows(acquisition);
}

}  // namespace echoform
