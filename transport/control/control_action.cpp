#include "transport/control/control_action.hpp"

#include "base/errors.hpp"

namespace echoform {

ControlAction unavailable_action(const std::string& name, const std::string& found, const std::string& expected) {
  return {name, true, [=](const auto&, auto&) { throw InputError(name, found, expected); }, false};
}

}  // namespace echoform
