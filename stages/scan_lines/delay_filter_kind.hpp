// The family of fractional delays by name. A new filter needs a function that makes its coefficients for a place, and a row
// of the table in delay_filter_kind.cpp. Configuration, checks, responses, tests and `echoform bench filters` use the table.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "stages/scan_lines/delay_filter.hpp"

namespace echoform {

struct DelayFilterKind {
  std::string_view name;
  std::string_view meaning;
  /// Meaning of DelayFilterOptions::order_or_taps, "order" or "taps", with values from `least` to `most` in steps of `step`;
  /// empty where there is no choice.
  std::string_view size_name = "";
  std::size_t least = 0;
  std::size_t most = 0;
  std::size_t step = 1;
  std::size_t usual = 0;
  bool uses_kaiser_beta = false;
  double (*usual_kaiser_beta)(std::size_t order_or_taps) = nullptr;  ///< where it is used
  bool uses_band = false;
  /// Number of coefficients of a row.
  std::size_t (*taps)(std::size_t order_or_taps);
  /// Number of phases of the table. Where it is below tabulated_phases, the filter is by definition a straight line between
  /// them.
  std::size_t phases;
  bool upsampling = false;
  /// Writes the coefficients for `place`, counted from the sample `left`: 0 to 1 for an even number of taps, -0.5 to 0.5 for
  /// an odd one.
  void (*coefficients)(const DelayFilterOptions& options, double place, std::span<double> values);
  /// The delay-averaged response in closed form, or its limit for ever longer filters; null where there is none.
  double (*ideal_mean)(double frequency) = nullptr;

  [[nodiscard]] std::size_t size_of(const DelayFilterOptions& options) const {
    return options.order_or_taps != 0 ? options.order_or_taps : usual;
  }
};

inline constexpr std::size_t tabulated_phases = 512;

[[nodiscard]] std::span<const DelayFilterKind> delay_filter_kinds();

/// Throws InputError, with `where` before it, if there is no such kind.
[[nodiscard]] const DelayFilterKind& delay_filter_kind(std::string_view name, std::string_view where);

/// "lagrange 3", "windowed_sinc 8": the kind, and its order or taps where it has them. The options are valid.
[[nodiscard]] std::string name_of(const DelayFilterOptions& options);

}  // namespace echoform
