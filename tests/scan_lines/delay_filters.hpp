// The whole family of fractional delays, for tests that hold for each.
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "stages/scan_lines/delay_filter_kind.hpp"

namespace echoform {

/// Prints options in gtest's messages.
inline void PrintTo(const DelayFilterOptions& options, std::ostream* out) {
  *out << name_of(options);
}

}  // namespace echoform

namespace echoform::test {

inline DelayFilterOptions delay_filter(std::string kind, std::size_t order_or_taps = 0, double kaiser_beta = 5.0) {
  DelayFilterOptions options;
  options.kind = std::move(kind);
  options.order_or_taps = order_or_taps;
  options.kaiser_beta = kaiser_beta;
  return options;
}

/// The name of a case of a suite: "lagrange_3".
struct DelayFilterName {
  template <class Info>
  std::string operator()(const Info& info) const {
    std::string name = name_of(info.param);
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
  }
};

/// Every kind in each of its sizes.
inline std::vector<DelayFilterOptions> all_delay_filters() {
  std::vector<DelayFilterOptions> all;
  for (const DelayFilterKind& kind : delay_filter_kinds()) {
    for (std::size_t size = kind.least; size <= kind.most; size += kind.step) {
      all.push_back(delay_filter(std::string(kind.name), size));
    }
  }
  return all;
}

}  // namespace echoform::test
