// Tests of operators that every implementation passes: on the CPU and on CUDA.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "operators/operator_site.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform::test {

class OnSite : public testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override {
    if (GetParam() == BackendKind::cuda) ECHOFORM_REQUIRE_GPU();
  }
  [[nodiscard]] static OperatorSite site(ThreadTeam& team) { return {team, GetParam(), 0}; }
};

inline std::string site_name(const testing::TestParamInfo<BackendKind>& info) {
  return info.param == BackendKind::cuda ? "cuda" : "cpu";
}

#define ECHOFORM_ON_SITES(suite) \
  INSTANTIATE_TEST_SUITE_P(Sites, suite, testing::Values(BackendKind::cpu, BackendKind::cuda), site_name)

}  // namespace echoform::test
