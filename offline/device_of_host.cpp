#include "offline/device_of_host.hpp"

#include <cstddef>

#include "gpu/device_probe.hpp"

namespace echoform {

void take_device_of_host(ImagingSection& imaging, const Communicator& communicator) {
  if (communicator.size() == 1) return;
  const std::size_t devices = probe_devices().devices.size();
  // A device that does not exist is refused later.
  if (const auto stated = static_cast<std::size_t>(imaging.device); stated < devices)
    imaging.device = static_cast<int>((stated + communicator.rank_on_host()) % devices);
}

}  // namespace echoform
