// Runs a stage alone, on every implementation and team size that this machine offers, CPU and CUDA.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "cpu/cpu_backend.hpp"
#include "gpu/cuda_backend.hpp"
#include "pipeline/stage.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform::test {

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
  [[nodiscard]] std::size_t bytes_with_guard() const { return bytes_ + guard; }
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

/// A way in which a stage may run.
struct Implementation {
  SimdLevel level = SimdLevel::portable;  ///< CPU only
  std::size_t threads = 1;                ///< CPU only
  BackendKind backend = BackendKind::cpu;
};

inline std::vector<Implementation> implementations() {
  std::vector<Implementation> all;
  for (const SimdLevel level : {SimdLevel::portable, SimdLevel::avx2, SimdLevel::avx512}) {
    for (const std::size_t threads : {1, 2, 3}) all.push_back({level, threads, BackendKind::cpu});
  }
  // Always in the list, as is every instruction set: what a machine or a build lacks is seen as a skip.
  all.push_back({SimdLevel::portable, 1, BackendKind::cuda});
  return all;
}

/// Each instruction set once, on one thread, and CUDA: for sweeps, whose lookups no team changes.
inline std::vector<Implementation> instruction_sets() {
  std::vector<Implementation> all = implementations();
  std::erase_if(all, [](const Implementation& one) { return one.threads != 1; });
  return all;
}

inline std::string implementation_name(const testing::TestParamInfo<Implementation>& info) {
  if (info.param.backend == BackendKind::cuda) return "cuda";
  return std::string(to_string(info.param.level)) + "_" + std::to_string(info.param.threads);
}

class StageTest : public testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    if (on_cuda()) ECHOFORM_REQUIRE_GPU();
    if (level() > simd_level()) GTEST_SKIP() << "this processor has no " << to_string(level());
    backend_ = on_cuda() ? make_cuda_backend() : make_cpu_backend(threads());
    queue_ = backend_->make_queue();
  }
  [[nodiscard]] bool on_cuda() const { return GetParam().backend == BackendKind::cuda; }
  [[nodiscard]] SimdLevel level() const { return GetParam().level; }
  [[nodiscard]] std::size_t threads() const { return GetParam().threads; }
  [[nodiscard]] Backend& backend() { return *backend_; }
  [[nodiscard]] ExecutionQueue& queue() { return *queue_; }

  /// Prepares the stage for `input_spec` and processes `frames` frames of the same input; the last result.
  StageResult run(Stage& stage, const BlockSpec& input_spec, const TestBlock& input, int frames = 1);
  /// One more frame through a stage that run() has prepared.
  void run_again(Stage& stage, const TestBlock& input, const StageResult& result);
  /// A frame of several inputs through a stage that is prepared, into `output`.
  void run_inputs(Stage& stage, const std::vector<const TestBlock*>& inputs, const TestBlock& output);

 private:
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ExecutionQueue> queue_;
};

#define ECHOFORM_ALL_IMPLEMENTATIONS(Suite) \
  INSTANTIATE_TEST_SUITE_P(All, Suite, testing::ValuesIn(echoform::test::implementations()), echoform::test::implementation_name)

#define ECHOFORM_ALL_INSTRUCTION_SETS(Suite) \
  INSTANTIATE_TEST_SUITE_P(All, Suite, testing::ValuesIn(echoform::test::instruction_sets()), echoform::test::implementation_name)

inline StageResult StageTest::run(Stage& stage, const BlockSpec& input_spec, const TestBlock& input, int frames) {
  StageResult result;
  result.spec = stage.prepare(input_spec);
  result.block = std::make_unique<TestBlock>(result.spec);
  for (int frame = 0; frame < frames; ++frame) run_again(stage, input, result);
  return result;
}

inline void StageTest::run_again(Stage& stage, const TestBlock& input, const StageResult& result) {
  if (!on_cuda()) {
    stage.process(input.read(), result.block->block(), queue());
    queue().finish();
  } else {
    // The guard travels along, so that a kernel that writes too far is seen.
    const Buffer in = backend().allocate(input.bytes_with_guard(), MemoryUse::working);
    const Buffer out = backend().allocate(result.block->bytes_with_guard(), MemoryUse::working);
    copy_now(in.data(), input.read().data, input.bytes_with_guard());
    copy_now(out.data(), result.block->block().data, result.block->bytes_with_guard());
    stage.process({in.data()}, {out.data()}, queue());
    queue().finish();
    copy_now(result.block->block().data, out.data(), result.block->bytes_with_guard());
  }
  EXPECT_TRUE(result.block->guard_intact());
}

inline void StageTest::run_inputs(Stage& stage, const std::vector<const TestBlock*>& inputs, const TestBlock& output) {
  std::vector<ConstBlock> list;
  std::vector<Buffer> copies;
  if (!on_cuda()) {
    for (const TestBlock* input : inputs) list.push_back(input->read());
    stage.process(std::span<const ConstBlock>(list), output.block(), queue());
    queue().finish();
  } else {
    for (const TestBlock* input : inputs) {
      copies.push_back(backend().allocate(input->bytes_with_guard(), MemoryUse::working));
      copy_now(copies.back().data(), input->read().data, input->bytes_with_guard());
      list.push_back({copies.back().data()});
    }
    const Buffer out = backend().allocate(output.bytes_with_guard(), MemoryUse::working);
    copy_now(out.data(), output.read().data, output.bytes_with_guard());
    stage.process(std::span<const ConstBlock>(list), {out.data()}, queue());
    queue().finish();
    copy_now(output.block().data, out.data(), output.bytes_with_guard());
  }
  EXPECT_TRUE(output.guard_intact());
}

/// One frame through a CPU stage on one thread: what other implementations are compared with.
inline StageResult run_on_one_thread(Stage& stage, const BlockSpec& input_spec, const TestBlock& input) {
  StageResult result;
  result.spec = stage.prepare(input_spec);
  result.block = std::make_unique<TestBlock>(result.spec);
  ThreadTeam team(1);
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

/// Received samples; rows `row_bytes` apart, or without gaps.
inline BlockSpec make_raw_spec(SampleEncoding encoding, std::size_t rows, std::size_t columns, std::size_t row_bytes = 0) {
  BlockSpec spec = make_spec(ElementType::raw, rows, columns, row_bytes);
  spec.encoding = encoding;
  return spec;
}

}  // namespace echoform::test
