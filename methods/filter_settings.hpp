// [filter], and from it, the probe and the sampling to the options of the stages that filter, for every method.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "methods/setup_report.hpp"
#include "stages/filter/filter_options.hpp"

namespace echoform {

enum class FilterWish : std::uint8_t { automatic, mean, band, wiener, none };

/// The temporal filter of A-scans; what is absent follows from the probe (methods/filter_settings.hpp).
struct FilterSection {
  FilterWish kind = FilterWish::automatic;
  std::optional<std::array<Hertz, 2>> band;   ///< lower and upper edge
  std::optional<Hertz> skirt;                 ///< how wide the edges are, the upper one where upper_skirt is absent
  std::optional<Hertz> upper_skirt;           ///< how wide the upper edge is
  std::optional<std::array<Hertz, 2>> notch;  ///< centre and width
  std::string pulse_file;                     ///< empty: none; relative to the configuration's file
  double noise = FilterOptions().noise;
  std::optional<Seconds> mute;  ///< samples before it are left out; of no kind, and of each
};

/// -6 dB bandwidth of a pulse where none is stated, over its centre frequency.
inline constexpr double usual_bandwidth = 0.6;

/// What [filter] asks for of data like `acquisition`, overridden already. Where it leaves the kind or the band to the data, a
/// line that says what became of it is added to `notes`. Reads the file of a measured pulse. Throws InputError, naming the
/// configuration and the key, for options that are missing or out of range.
[[nodiscard]] FilterOptions resolve_filter(const ImagingSettings& settings, const Acquisition& acquisition,
                                           std::vector<std::string>& notes);

/// How many samples of each A-scan [filter] mute leaves out, from the first on: up to the first that is not before it, rounded up
/// to a multiple of 8, from which gates begin. Data like `acquisition`, overridden already. Where there are some, a line is added
/// to `notes`. Throws InputError, naming configuration and key, where fewer than two samples are left.
[[nodiscard]] std::size_t muted_samples(const ImagingSettings& settings, const Acquisition& acquisition,
                                        std::vector<std::string>& notes);

/// Of a filter in use, resolved from `configuration` for `acquisition`: a line for each key of [filter] that its kind does not
/// use, and one where next to nothing of the probe's band passes.
[[nodiscard]] std::vector<std::string> filter_warnings(const ImagingSettings& settings, const FilterOptions& options,
                                                       const Acquisition& acquisition);

/// The section that asks for just these options; `asked` has the name of the pulse's file.
[[nodiscard]] FilterSection filter_in_use(const FilterSection& asked, const FilterOptions& options);

/// The line "filter" of a report, and its values.
void report_filter(SetupReport& report, const FilterOptions& options);

}  // namespace echoform
