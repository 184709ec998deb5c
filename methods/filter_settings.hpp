// [filter], and the options of the stages that filter, which follow from it, the probe and the sampling. For every method.
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

/// The temporal filter of A-scans. Values that are absent follow from the probe.
struct FilterSection {
  FilterWish kind = FilterWish::automatic;
  std::optional<std::array<Hertz, 2>> band;   ///< lower and upper edge
  std::optional<Hertz> skirt;                 ///< width of the edges; of the upper one only where upper_skirt is absent
  std::optional<Hertz> upper_skirt;           ///< width of the upper edge
  std::optional<std::array<Hertz, 2>> notch;  ///< centre and width
  std::string pulse_file;                     ///< empty: none; relative to the configuration's file
  double noise = FilterOptions().noise;
  std::optional<Seconds> mute;  ///< samples before it are left out, whatever the kind
};

/// -6 dB bandwidth of a pulse where none is stated, over its centre frequency.
inline constexpr double usual_bandwidth = 0.6;

/// The filter that [filter] asks for, for data like `acquisition`, in which overrides have been applied. Where [filter]
/// leaves the kind or the band to the data, a line that states the choice is added to `notes`. Reads the file of a measured
/// pulse. Throws InputError, naming the configuration and the key, for options that are missing or out of range.
[[nodiscard]] FilterOptions resolve_filter(const ImagingSettings& settings, const Acquisition& acquisition,
                                           std::vector<std::string>& notes);

/// The number of samples that [filter] mute leaves out at the beginning of each A-scan: up to the first that is not before
/// it, rounded up to a multiple of 8, at which gates begin. Overrides have been applied to `acquisition`. If there are such
/// samples, a line is added to `notes`. Throws InputError, naming configuration and key, where fewer than two samples are
/// left.
[[nodiscard]] std::size_t muted_samples(const ImagingSettings& settings, const Acquisition& acquisition,
                                        std::vector<std::string>& notes);

/// Warnings about a filter in use, which was resolved from `settings` for `acquisition`: a line for each key of [filter]
/// that its kind does not use, and one where next to nothing of the probe's band passes.
[[nodiscard]] std::vector<std::string> filter_warnings(const ImagingSettings& settings, const FilterOptions& options,
                                                       const Acquisition& acquisition);

/// The section that asks for exactly these options; `asked` has the name of the pulse's file.
[[nodiscard]] FilterSection filter_in_use(const FilterSection& asked, const FilterOptions& options);

/// Adds the line "filter" and its values to a report.
void report_filter(SetupReport& report, const FilterOptions& options);

}  // namespace echoform
