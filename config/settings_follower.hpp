// Who puts keys of an instrument in force while it runs.
#pragma once

#include <functional>
#include <string_view>

#include "config/configuration.hpp"

namespace echoform {

/// Whom keys of LiveEffect::instrument concern. They are live in the sections that somebody follows.
struct SettingsFollower {
  std::string_view section;
  /// Puts what the section says in force, and waits until it is. Throws InputError to refuse, RuntimeFault where it fails: then
  /// nothing has changed. Messages name the settings by `wanted`.
  std::function<void(const Configuration& wanted)> follow;
};

}  // namespace echoform
