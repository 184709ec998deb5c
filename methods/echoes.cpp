#include "methods/echoes.hpp"

#include "base/errors.hpp"

namespace echoform {

void require_echoes(const Acquisition& acquisition) {
  if (!all_passive(acquisition.events)) return;
  throw InputError("data: transmit events", "passive events in which nobody transmits",
                   "events that transmit, or the method for them ([imaging] method)");
}

}  // namespace echoform
