// Device groups that use only NCCL's sends and receives: the order in which all-reduce adds terms is not specified.
#ifdef ECHOFORM_WITH_NCCL
#include "gpu/device_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/device_scope.hpp"
#include "gpu/loaded_library.hpp"
#include "gpu/nccl_library.hpp"
#include "gpu/ordered_sum.hpp"
#include "gpu/stream.hpp"

namespace echoform {

namespace gpu {
namespace {

NcclLibrary load_nccl() {
  const LoadedLibrary library("NCCL", "libnccl.so.2");
  NcclLibrary functions{};
  library.find("ncclGetVersion", functions.get_version);
  library.find("ncclGetUniqueId", functions.get_unique_id);
  library.find("ncclCommInitRank", functions.init_rank);
  library.find("ncclCommAbort", functions.abort);
  library.find("ncclCommGetAsyncError", functions.get_async_error);
  library.find("ncclGroupStart", functions.group_start);
  library.find("ncclGroupEnd", functions.group_end);
  library.find("ncclSend", functions.send);
  library.find("ncclRecv", functions.receive);
  library.find("ncclGetErrorString", functions.error_text);
  return functions;
}

}  // namespace

const NcclLibrary& nccl_library() {
  // A failure is not kept: the next call tries again.
  static const NcclLibrary library = load_nccl();
  return library;
}

}  // namespace gpu

namespace {

static_assert(sizeof(ncclUniqueId) == sizeof(DeviceGroupId));

std::string text_of(ncclResult_t error, const char* what) {
  return fmt::format("NCCL, {}: {} (error {})", what, gpu::nccl_library().error_text(error), static_cast<int>(error));
}

void require(ncclResult_t error, const char* what) {
  if (error != ncclSuccess) throw RuntimeFault("GPU: " + text_of(error, what));
}

/// The part of `count` values that one member adds up.
struct Slice {
  std::size_t first;
  std::size_t count;
};
Slice slice_of(std::size_t count, std::size_t member, std::size_t members) {
  const std::size_t each = (count + members - 1) / members;
  const std::size_t first = std::min(count, member * each);
  return {first, std::min(each, count - first)};
}

class NcclGroup final : public DeviceGroup {
 public:
  NcclGroup(const DeviceGroupId& id, std::size_t member, std::size_t members, int device, std::size_t most)
      : nccl_(gpu::nccl_library()), member_(member), members_(members), device_(device) {
    try {
      join(id, device, most);
    } catch (const RuntimeFault& fault) {
      throw DeviceGroupFault(fault.what());
    }
  }
  ~NcclGroup() override {
    // The communicator is aborted instead of closed in good order, since closing would wait for the other members.
    const gpu::DeviceScope scope(device_);
    if (communicator_ != nullptr) static_cast<void>(nccl_.abort(communicator_));
  }
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  void sum(float* values, std::size_t count) override {
    try {
      sum_slices(values, count);
    } catch (const RuntimeFault& fault) {
      throw DeviceGroupFault(fault.what());
    }
  }

 private:
  void join(const DeviceGroupId& id, int device, std::size_t most) {
    backend_ = make_cuda_backend(device);
    const gpu::DeviceScope scope(device);
    ECHOFORM_CUDA(scope.error());
    stream_ = gpu::make_stream();
    received_ = backend_->allocate(std::max<std::size_t>(1, device_group_bytes(members_, most)), MemoryUse::working);
    ncclUniqueId shared;
    std::memcpy(&shared, id.data(), sizeof(shared));
    require(nccl_.init_rank(&communicator_, static_cast<int>(members_), shared, static_cast<int>(member_)), "joining the group");
  }
  void sum_slices(float* values, std::size_t count) {
    const gpu::DeviceScope scope(device_);
    ECHOFORM_CUDA(scope.error());
    auto* const received = static_cast<float*>(received_.data());
    const Slice own = slice_of(count, member_, members_);
    // Slice k of each member goes to member k, which adds the slices of all. Then the sums go to all members.
    require(nccl_.group_start(), "beginning a group of calls");
    for (std::size_t other = 0; other < members_; ++other) {
      const Slice theirs = slice_of(count, other, members_);
      send(values + theirs.first, theirs.count, other);
      receive(received + other * own.count, own.count, other);
    }
    require(nccl_.group_end(), "exchanging terms");
    gpu::queue_ordered_sum(received, members_, own.count, values + own.first, stream_.get());
    require(nccl_.group_start(), "beginning a group of calls");
    for (std::size_t other = 0; other < members_; ++other) {
      if (other == member_) continue;
      const Slice theirs = slice_of(count, other, members_);
      send(values + own.first, own.count, other);
      receive(values + theirs.first, theirs.count, other);
    }
    require(nccl_.group_end(), "exchanging sums");
    ECHOFORM_CUDA(cudaStreamSynchronize(stream_.get()));
    ncclResult_t later = ncclSuccess;
    require(nccl_.get_async_error(communicator_, &later), "asking for errors");
    require(later, "a sum");
  }
  void send(const float* from, std::size_t count, std::size_t to) const {
    if (count > 0) require(nccl_.send(from, count, ncclFloat, static_cast<int>(to), communicator_, stream_.get()), "sending");
  }
  void receive(float* to, std::size_t count, std::size_t from) const {
    if (count > 0)
      require(nccl_.receive(to, count, ncclFloat, static_cast<int>(from), communicator_, stream_.get()), "receiving");
  }

  const gpu::NcclLibrary& nccl_;
  std::size_t member_;
  std::size_t members_;
  int device_;
  std::unique_ptr<Backend> backend_;
  gpu::Stream stream_;
  Buffer received_;  // every member's term of this member's slice
  ncclComm_t communicator_ = nullptr;
};

}  // namespace

std::string why_no_device_groups() {
  try {
    static_cast<void>(gpu::nccl_library());
    return {};
  } catch (const RuntimeFault& fault) {
    return fault.what();
  }
}

std::string nccl_status() {
  if (std::string reason = why_no_device_groups(); !reason.empty()) return reason;
  int version = 0;
  if (gpu::nccl_library().get_version(&version) != ncclSuccess) return "without an answer about its version";
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

DeviceGroupId make_device_group_id() {
  ncclUniqueId made;
  require(gpu::nccl_library().get_unique_id(&made), "naming a group");
  DeviceGroupId id;
  std::memcpy(id.data(), &made, sizeof(made));
  return id;
}

std::unique_ptr<DeviceGroup> make_device_group(const DeviceGroupId& id, std::size_t member, std::size_t members, int device,
                                               std::size_t most) {
  return std::make_unique<NcclGroup>(id, member, members, device, most);
}

std::size_t device_group_bytes(std::size_t members, std::size_t most) {
  return members * slice_of(most, 0, members).count * sizeof(float);
}

}  // namespace echoform
#endif
