// Which pixels of a view rays reach: the others stay dark, whatever is there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "methods/tfm/plan.hpp"

namespace echoform {

/// By pixel in image order: 1 where some living element that fires reaches it on transmit and some that records on receive, else
/// 0.
[[nodiscard]] std::vector<std::uint8_t> reached_pixels(const DelayLaw& law, const Acquisition& acquisition, const Grid& grid,
                                                       std::span<const std::uint32_t> chosen = {});

/// Whether that is so of any pixel: quick where it is of many.
[[nodiscard]] bool reaches_any_pixel(const DelayLaw& law, const Acquisition& acquisition, const Grid& grid,
                                     std::span<const std::uint32_t> chosen = {});

/// The same of a view of a plan; of several positions from where any of them reaches.
[[nodiscard]] std::vector<std::uint8_t> reached_pixels(const ImagingPlan& plan, std::size_t view);
[[nodiscard]] bool reaches_any_pixel(const ImagingPlan& plan, std::size_t view);

/// Share of the pixels that is not reached, 0 to 1.
[[nodiscard]] double unreached_share(const std::vector<std::uint8_t>& reached);

/// From this share on it is worth a warning.
inline constexpr double unreached_worth_saying = 0.25;

/// A line that names the views of which that much is not reached; `shares` by view of the plan. Nothing where none is.
[[nodiscard]] std::optional<std::string> unreached_warning(const ImagingPlan& plan, const std::vector<double>& shares);

}  // namespace echoform
