#include "methods/display_settings.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/errors.hpp"

namespace echoform {

void require_range(std::string_view where, std::string_view key, double value, const Interval& range) {
  if (!range.holds(value)) {
    throw InputError(fmt::format("{} {}", where, key), fmt::format("{}", value),
                     fmt::format("{} to {}", range.least, range.most));
  }
}

void validate(const Compression& compression, std::string_view where) {
  require_range(where, "dynamic_range_db", compression.dynamic_range_db, Compression::dynamic_ranges);
  require_range(where, "gain_db", compression.gain_db, Compression::gains);
  require_range(where, "running_fraction", compression.running_fraction, Compression::running_fractions);
  if (!(compression.reference_value > 0.0) || !std::isfinite(compression.reference_value)) {
    throw InputError(fmt::format("{} reference_value", where), fmt::format("{}", compression.reference_value),
                     "a positive number");
  }
}

DisplayScale scale_of(const Compression& compression) {
  DisplayScale scale{compression.dynamic_range_db, compression.gain_db, std::nullopt};
  if (compression.reference == ReferenceMode::fixed) scale.fixed_reference = compression.reference_value;
  return scale;
}

}  // namespace echoform
