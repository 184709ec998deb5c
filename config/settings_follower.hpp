// Applies keys of an instrument while it runs.
#pragma once

#include <functional>
#include <string_view>

#include "config/configuration.hpp"

namespace echoform {

/// A follower of keys of LiveEffect::instrument. These are live in the sections that have a follower.
struct SettingsFollower {
  std::string_view section;
  /// Applies the section, and waits until it is in force. Throws InputError to refuse and RuntimeFault if it fails: then
  /// nothing has changed. Messages name the settings by `wanted`.
  std::function<void(const Configuration& wanted)> follow;
};

}  // namespace echoform
