#include "stages/unpack/sample_scale.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/errors.hpp"

namespace echoform {

void require_sample_scale(double sample_scale, std::string_view stage) {
  const float single = static_cast<float>(sample_scale);
  if (!std::isfinite(single) || std::fpclassify(single) != FP_NORMAL) {
    throw InputError(fmt::format("{} stage, sample scale", stage), fmt::format("{}", sample_scale),
                     "a number other than 0 that single precision can hold");
  }
}

}  // namespace echoform
