// The pixels of a view that rays reach. The others stay dark, whatever is there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "methods/tfm/plan.hpp"

namespace echoform {

/// One value for each pixel, in image order: 1 where rays of some living element that fires reach the pixel on transmit,
/// and rays of some living element that records reach it on receive; otherwise 0.
[[nodiscard]] std::vector<std::uint8_t> reached_pixels(const DelayLaw& law, const Acquisition& acquisition, const Grid& grid,
                                                       std::span<const std::uint32_t> chosen = {});

/// Whether any pixel is reached. This is fast where many are.
[[nodiscard]] bool reaches_any_pixel(const DelayLaw& law, const Acquisition& acquisition, const Grid& grid,
                                     std::span<const std::uint32_t> chosen = {});

/// The same for a view of a plan. With several positions, a pixel counts as reached if any of them reaches it.
[[nodiscard]] std::vector<std::uint8_t> reached_pixels(const ImagingPlan& plan, std::size_t view);
[[nodiscard]] bool reaches_any_pixel(const ImagingPlan& plan, std::size_t view);

/// Share of the pixels that is not reached, 0 to 1.
[[nodiscard]] double unreached_share(const std::vector<std::uint8_t>& reached);

/// The share of unreached pixels from which on there is a warning.
inline constexpr double unreached_worth_saying = 0.25;

/// A warning that names the views with an unreached share of at least that much; `shares` has one value a view of the plan.
/// Nothing where there is no such view.
[[nodiscard]] std::optional<std::string> unreached_warning(const ImagingPlan& plan, const std::vector<double>& shares);

}  // namespace echoform
