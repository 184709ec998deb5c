#include "offline/settled_backend.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "engines/engine_registry.hpp"
#include "gpu/device_probe.hpp"
#include "methods/host_memory.hpp"
#include "methods/registry.hpp"

namespace echoform {
namespace {

std::string on_the_cpu(BackendWish wish, const std::string& reason) {
  return wish == BackendWish::automatic ? fmt::format("images are formed on the CPU; not on a GPU: {}", reason) : std::string();
}

}  // namespace

std::string settled_backend(Configuration& configuration) {
  ImagingSection& imaging = configuration.imaging;
  require_backend(configuration);
  const BackendWish wish = imaging.backend;
  if (const std::string reason = why_not_on_gpu(configuration); !reason.empty()) {
    imaging.backend = BackendWish::cpu;
    return on_the_cpu(wish, reason);
  }
  const BackendDecision decision = decide_backend(backend_choice(imaging));
  if (decision.kind == BackendKind::cuda) {
    const GpuProbe gpu = probe_devices();
    const auto device = static_cast<std::size_t>(imaging.device);
    imaging.backend = BackendWish::cuda;
    return fmt::format("images are formed on GPU {}, {}", device,
                       device < gpu.devices.size() ? gpu.devices[device].name : std::string());
  }
  imaging.backend = BackendWish::cpu;
  return on_the_cpu(wish, decision.why_no_gpu);
}

}  // namespace echoform
