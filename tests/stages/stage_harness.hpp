// Runs a stage alone, on every implementation and team size that this machine offers.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "stages/stage.hpp"

namespace echoform::test {

/// A way in which a stage may run.
struct Implementation {
  SimdLevel level;
  std::size_t threads;
};

inline std::vector<Implementation> implementations() {
  std::vector<Implementation> all;
  for (const SimdLevel level : {SimdLevel::portable, SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > simd_level()) continue;
    for (const std::size_t threads : {1, 2, 3}) all.push_back({level, threads});
  }
  return all;
}

inline std::string implementation_name(const testing::TestParamInfo<Implementation>& info) {
  return std::string(to_string(info.param.level)) + "_" + std::to_string(info.param.threads);
}

class StageTest : public testing::TestWithParam<Implementation> {
 protected:
  [[nodiscard]] SimdLevel level() const { return GetParam().level; }
  [[nodiscard]] std::size_t threads() const { return GetParam().threads; }
  ThreadTeam team{GetParam().threads};
};

#define ECHOFORM_ALL_IMPLEMENTATIONS(Suite) \
  INSTANTIATE_TEST_SUITE_P(All, Suite, testing::ValuesIn(echoform::test::implementations()), echoform::test::implementation_name)

/// Memory for a block, 64-byte aligned, filled with a byte that no result may depend on, and with a guard behind it.
class TestBlock {
 public:
  explicit TestBlock(const BlockSpec& spec) : bytes_(spec.bytes()), memory_(bytes_ + guard + 64, filler) {
    auto place = reinterpret_cast<std::uintptr_t>(memory_.data());
    data_ = memory_.data() + (64 - place % 64) % 64;
  }
  template <class T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  [[nodiscard]] Block block() const { return {data_}; }
  [[nodiscard]] ConstBlock read() const { return {data_}; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] bool guard_intact() const {
    for (std::size_t n = 0; n < guard; ++n) {
      if (data_[bytes_ + n] != filler) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t guard = 128;
  static constexpr unsigned char filler = 0xA5;
  std::size_t bytes_;
  mutable std::vector<unsigned char> memory_;
  unsigned char* data_;
};

struct StageResult {
  BlockSpec spec;
  std::unique_ptr<TestBlock> block;
};

/// Prepares the stage for `input_spec` and processes one frame.
inline StageResult run_stage(Stage& stage, const BlockSpec& input_spec, const TestBlock& input, ThreadTeam& team) {
  StageResult result;
  result.spec = stage.prepare(input_spec);
  result.block = std::make_unique<TestBlock>(result.spec);
  stage.process(input.read(), result.block->block(), team);
  team.finish();
  EXPECT_TRUE(result.block->guard_intact());
  return result;
}

inline BlockSpec make_spec(ElementType type, std::size_t rows, std::size_t columns, std::size_t row_stride = 0) {
  BlockSpec spec;
  spec.type = type;
  spec.rows = rows;
  spec.columns = columns;
  spec.row_stride = row_stride;
  return spec;
}

/// The message of the InputError that `action` throws; empty if it throws none.
template <class Action>
std::string input_error_of(Action&& action);

}  // namespace echoform::test

#include "pipeline/errors.hpp"

template <class Action>
std::string echoform::test::input_error_of(Action&& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}
