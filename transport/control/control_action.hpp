// An action that live control offers.
#pragma once

#include <functional>
#include <string>

#include "proto/control.pb.h"

namespace echoform {

/// An action that a control request may name. `run` throws InputError to refuse the request, RuntimeFault where the action
/// fails; in both cases nothing has changed.
struct ControlAction {
  std::string name;
  /// Whether the action is answered at once, without waiting for other requests. It must never wait long.
  bool quick = false;
  std::function<void(const wire::ControlRequest&, wire::ControlReply&)> run;
  /// False for an action that this configuration cannot use: it is not offered, and `run` refuses it with the reason.
  bool available = true;
};

/// A placeholder for an action that needs something which the configuration lacks. It refuses every request with "NAME:
/// found FOUND; expected EXPECTED".
[[nodiscard]] ControlAction unavailable_action(const std::string& name, const std::string& found, const std::string& expected);

}  // namespace echoform
