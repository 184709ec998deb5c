#include "gpu/memory_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.hpp"
#include "gpu/bandwidth.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/device_probe.hpp"

namespace echoform {
namespace {

template <class Action>
std::string fault_of(Action&& action) {
  try {
    action();
  } catch (const RuntimeFault& fault) {
    return fault.what();
  }
  return {};
}

TEST(DeviceMemoryReport, SaysWhatIsNeededAndWhatWouldFit) {
  const DeviceMemory memory{8'100'000'000, 16'000'000'000};
  EXPECT_EQ(fault_of([&] { require_memory(memory, 1, 12'300'000'000, "2 slots, or 404 x 404 pixels"); }),
            "GPU 1: too little device memory: needs 12.30 GB, 8.10 of 16.00 GB free; would fit: 2 slots, or 404 x 404 pixels");
  EXPECT_EQ(fault_of([&] { require_memory(memory, 0, 12'300'000'000, ""); }),
            "GPU 0: too little device memory: needs 12.30 GB, 8.10 of 16.00 GB free");
  EXPECT_EQ(fault_of([&] { require_memory(memory, 0, memory.free, ""); }), "");
}

TEST(GpuDoor, SaysWhyThereIsNone) {
  const GpuProbe probe = probe_devices();
  if (!probe.devices.empty()) GTEST_SKIP() << "there is a GPU";
  EXPECT_NE(probe.status, "");
  EXPECT_EQ(why_no_cuda(), probe.status);
  EXPECT_EQ(fault_of([] { (void)make_cuda_backend(); }), "backend cuda: " + probe.status);
  EXPECT_NE(fault_of([] { (void)device_memory(0); }), "");
  EXPECT_NE(measure_bandwidth(0).problem, "");
}

}  // namespace
}  // namespace echoform
