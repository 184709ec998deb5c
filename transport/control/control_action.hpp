// What live control offers.
#pragma once

#include <functional>
#include <string>

#include "proto/control.pb.h"

namespace echoform {

/// What a request may ask for. Throws InputError to refuse, RuntimeFault where it fails: then nothing has changed.
struct ControlAction {
  std::string name;
  /// Whether it is answered at once: it waits for no other request and never long.
  bool quick = false;
  std::function<void(const wire::ControlRequest&, wire::ControlReply&)> run;
  /// False for one that the configuration leaves no use for: it is not offered, and `run` refuses it with the reason.
  bool available = true;
};

/// Stands for an action that needs something which the configuration lacks: refused with "NAME: found FOUND; expected EXPECTED".
[[nodiscard]] ControlAction unavailable_action(const std::string& name, const std::string& found, const std::string& expected);

}  // namespace echoform
