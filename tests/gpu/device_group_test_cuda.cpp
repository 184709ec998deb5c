// Sums of several GPUs: their order on one, and what they come to on as many as there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/device_group.hpp"
#include "gpu/device_probe.hpp"
#include "gpu/ordered_sum.hpp"
#include "gpu/stream_queue.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

/// Of many magnitudes, so that another order gives other sums.
std::vector<float> drawn(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> exponent(-20.0F, 20.0F);
  std::bernoulli_distribution negative;
  std::vector<float> values(count);
  for (float& value : values) value = std::exp2(exponent(random)) * (negative(random) ? -1.0F : 1.0F);
  return values;
}

std::vector<float> added(const std::vector<std::vector<float>>& terms) {
  std::vector<float> sums;
  for (std::size_t k = 0; k < terms[0].size(); ++k) {
    double total = 0.0;
    for (const auto& term : terms) total += static_cast<double>(term[k]);
    sums.push_back(static_cast<float>(total));
  }
  return sums;
}

TEST(DeviceGroups, SayWhyTheyAreNotToBeHad) {
  const std::string reason = why_no_device_groups();
  if (reason.empty()) {
    EXPECT_THAT(nccl_status(), StartsWith("2."));
    return;
  }
  EXPECT_THAT(reason, AnyOf(StartsWith("NCCL (libnccl.so.2) was not found: "), HasSubstr("no NCCL")));
  EXPECT_THROW(static_cast<void>(make_device_group_id()), RuntimeFault);
}

TEST(OrderedSum, IsThatOfTheHostBitForBit) {
  ECHOFORM_REQUIRE_GPU();
  const auto backend = make_cuda_backend();
  const auto queue = backend->make_queue();
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{3000017}}) {
    std::vector<std::vector<float>> terms;
    std::vector<float> all;
    for (unsigned term = 0; term < 5; ++term) {
      terms.push_back(drawn(count, term));
      all.insert(all.end(), terms.back().begin(), terms.back().end());
    }
    const auto parts = backend->allocate(all.size() * sizeof(float), MemoryUse::working);
    const auto sums = backend->allocate(count * sizeof(float), MemoryUse::working);
    copy_now(parts.data(), all.data(), parts.size());
    gpu::queue_ordered_sum(static_cast<const float*>(parts.data()), terms.size(), count, static_cast<float*>(sums.data()),
                           gpu::stream_of(*queue));
    queue->finish();
    std::vector<float> found(count);
    copy_now(found.data(), sums.data(), sums.size());
    EXPECT_EQ(found, added(terms)) << count;
  }
}

/// Each device of this machine a member, in a thread of its own.
TEST(DeviceGroups, EveryMemberHasTheSumsInTheirOrder) {
  ECHOFORM_REQUIRE_GPU();
  if (const std::string reason = why_no_device_groups(); !reason.empty()) GTEST_SKIP() << reason;
  const std::size_t members = probe_devices().devices.size();
  // Fewer values than members, and some that do not go into equal slices.
  const std::vector<std::size_t> counts{1, 1000003, 64};
  const std::size_t most = 1000003;
  const DeviceGroupId id = make_device_group_id();
  std::vector<std::vector<std::vector<float>>> found(members);
  {
    std::vector<std::jthread> threads;
    for (std::size_t member = 0; member < members; ++member) {
      threads.emplace_back([&, member] {
        const int device = static_cast<int>(member);
        const auto group = make_device_group(id, member, members, device, most);
        const auto backend = make_cuda_backend(device);
        const auto buffer = backend->allocate(most * sizeof(float), MemoryUse::working);
        for (const std::size_t count : counts) {
          std::vector<float> values = drawn(count, static_cast<unsigned>(member));
          copy_now(buffer.data(), values.data(), count * sizeof(float));
          group->sum(static_cast<float*>(buffer.data()), count);
          copy_now(values.data(), buffer.data(), count * sizeof(float));
          found[member].push_back(std::move(values));
        }
      });
    }
  }
  for (std::size_t k = 0; k < counts.size(); ++k) {
    std::vector<std::vector<float>> terms;
    for (std::size_t member = 0; member < members; ++member) terms.push_back(drawn(counts[k], static_cast<unsigned>(member)));
    const std::vector<float> expected = added(terms);
    for (std::size_t member = 0; member < members; ++member) EXPECT_EQ(found[member][k], expected) << "member " << member;
  }
}

}  // namespace
}  // namespace echoform
