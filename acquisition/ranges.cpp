#include "acquisition/ranges.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"

namespace echoform {

void validate(const Material& material, std::string_view where) {
  for (const auto& [name, velocity] : {std::pair{"longitudinal velocity", material.longitudinal_velocity},
                                       std::pair{"shear velocity", material.shear_velocity}}) {
    if (velocity.value == 0.0 || (velocity >= minimum_velocity && velocity <= maximum_velocity)) continue;
    throw InputError(fmt::format("{} {}", where, name), fmt::format("{} m/s", velocity.value),
                     fmt::format("0 (unknown), or {:g} to {:g} m/s", minimum_velocity.value, maximum_velocity.value));
  }
}

}  // namespace echoform
