// A test that needs a GPU says so by name where there is none. With ECHOFORM_REQUIRE_GPU=1 its absence is a failure.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "gpu/cuda_backend.hpp"

/// Skips the test if there is no GPU; fails it where the environment has ECHOFORM_REQUIRE_GPU=1. Use it in SetUp() or a
/// test's body, from which it returns.
#define ECHOFORM_REQUIRE_GPU()                                                                     \
  do {                                                                                             \
    if (const std::string reason = ::echoform::why_no_cuda(); !reason.empty()) {                   \
      const char* required = std::getenv("ECHOFORM_REQUIRE_GPU");                                  \
      if (required != nullptr && std::string_view(required) == "1") {                              \
        FAIL() << "ECHOFORM_REQUIRE_GPU=1, and there is no GPU to run on: " << reason;             \
      }                                                                                            \
      GTEST_SKIP() << "no GPU: " << reason;                                                        \
    }                                                                                              \
  } while (false)
