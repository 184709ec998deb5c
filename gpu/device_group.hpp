// GPUs of several processes on one host, which sum the values in their memories.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace echoform {

/// An identifier that one process makes, and that all members of a group must have before they join it.
using DeviceGroupId = std::array<std::byte, 128>;

/// A sum, or joining, has failed in this process. Other processes may wait in it for ever, so they must be ended.
class DeviceGroupFault final : public std::exception {
 public:
  explicit DeviceGroupFault(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// All members make the same calls in the same order, each with a device of its own.
class DeviceGroup {
 public:
  virtual ~DeviceGroup() = default;
  DeviceGroup() = default;
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;

  /// Replaces each value in this member's device memory by the sum of those of all members. All members have equally many
  /// values, at most `most` of make_device_group(). Values are added in double precision and in the order of the members, so
  /// that the bits are the same from run to run and on every device. Earlier work of the device must be done; the sums are
  /// complete when the function returns. Throws DeviceGroupFault.
  virtual void sum(float* values, std::size_t count) = 0;
};

/// Why groups are not available, in one line: a build without NCCL, or no library; empty if they are. The call loads the
/// library.
[[nodiscard]] std::string why_no_device_groups();
/// "2.27.3", or why NCCL is not available, in one line.
[[nodiscard]] std::string nccl_status();

/// Throws RuntimeFault if groups are not available.
[[nodiscard]] DeviceGroupId make_device_group_id();
/// Returns when all members have joined; none of them may be left out, or share a device with another. Throws
/// DeviceGroupFault.
[[nodiscard]] std::unique_ptr<DeviceGroup> make_device_group(const DeviceGroupId& id, std::size_t member, std::size_t members,
                                                             int device, std::size_t most);
/// Bytes of device memory that a group holds for sums of so many values, excluding NCCL's own memory.
[[nodiscard]] std::size_t device_group_bytes(std::size_t members, std::size_t most);

}  // namespace echoform
