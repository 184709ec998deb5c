// Device groups of a build without CUDA code, or without NCCL.
#ifndef ECHOFORM_WITH_NCCL
#include "base/errors.hpp"
#include "gpu/device_group.hpp"

namespace echoform {
namespace {

constexpr const char* reason = "this build has no NCCL";

}  // namespace

std::string why_no_device_groups() {
  return reason;
}

std::string nccl_status() {
  return "not in this build";
}

DeviceGroupId make_device_group_id() {
  throw RuntimeFault(reason);
}

std::unique_ptr<DeviceGroup> make_device_group(const DeviceGroupId& /*id*/, std::size_t /*member*/, std::size_t /*members*/,
                                               int /*device*/, std::size_t /*most*/) {
  throw RuntimeFault(reason);
}

std::size_t device_group_bytes(std::size_t /*members*/, std::size_t /*most*/) {
  return 0;
}

}  // namespace echoform
#endif
