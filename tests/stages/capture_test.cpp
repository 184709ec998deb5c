// On CUDA a stage's work for a frame can be captured into a graph, which nothing that allocates or waits can, and the graph
// gives the bits of the direct way.
#include <gtest/gtest.h>

#ifdef ECHOFORM_WITH_CUDA
#include "gpu/stream_queue.hpp"
#endif
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/unpack/unpack.hpp"
#include "tests/stages/pairing_of.hpp"
#include "tests/stages/raw_frames.hpp"

namespace echoform::test {
namespace {

class Capture : public StageTest {
 protected:
  /// A second frame of the same input, on CUDA from a graph, has the bits of the first.
  void expect_same_again(Stage& stage, const BlockSpec& spec, const TestBlock& input) {
    const StageResult first = run(stage, spec, input);
    const TestBlock again(first.spec);
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) {
      const cudaStream_t stream = gpu::stream_of(queue());
      const Buffer in = backend().allocate(input.bytes_with_guard(), MemoryUse::working);
      const Buffer out = backend().allocate(again.bytes_with_guard(), MemoryUse::working);
      copy_now(in.data(), input.read().data, input.bytes_with_guard());
      copy_now(out.data(), again.read().data, again.bytes_with_guard());
      ECHOFORM_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
      stage.process({in.data()}, {out.data()}, queue());
      cudaGraph_t captured = nullptr;
      ECHOFORM_CUDA(cudaStreamEndCapture(stream, &captured));
      const gpu::Graph graph(captured);
      cudaGraphExec_t executable = nullptr;
      ECHOFORM_CUDA(cudaGraphInstantiate(&executable, captured, 0));
      const gpu::GraphExec owner(executable);
      for (int frame = 0; frame < 2; ++frame) ECHOFORM_CUDA(cudaGraphLaunch(executable, stream));
      queue().finish();
      copy_now(again.block().data, out.data(), again.bytes_with_guard());
    }
#endif
    if (!on_cuda()) {
      stage.process(input.read(), again.block(), queue());
      queue().finish();
    }
    EXPECT_TRUE(again.guard_intact());
    EXPECT_EQ(std::memcmp(first.block->read().data, again.read().data, again.bytes()), 0);
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(Capture);

TEST_P(Capture, RawSamples) {
  for (const ElementType type : {ElementType::int16, ElementType::packed12, ElementType::float32}) {
    const RawFrame frame = make_raw_frame(type, 16, 320, 0, 1);  // no padding, which is not written
    std::unique_ptr<Stage> unpack = make_unpack_cpu(1.5, level());
    std::unique_ptr<Stage> pairing = make_pairing_cpu(pairing_of({.elements = 4, .dead = {2}, .scale = 1.5}), level());
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) {
      unpack = make_unpack_cuda(1.5, backend());
      pairing = make_pairing_cuda(pairing_of({.elements = 4, .dead = {2}, .scale = 1.5}), backend());
    }
#endif
    expect_same_again(*unpack, frame.spec, *frame.block);
    expect_same_again(*pairing, frame.spec, *frame.block);
    const SampleQuality seen = unpack->facts().quality.value();
    EXPECT_EQ(seen, (SampleQuality{frame.clipped, frame.invalid}));
  }
}

TEST_P(Capture, AnalyticSignal) {
  for (const std::size_t samples : {320, 321, 1031, 4096}) {
    const RawFrame rows = make_raw_frame(ElementType::float32, 7, samples, 1, 1);
    for (std::size_t n = 0; n < 7 * rows.spec.row_stride; ++n) {
      rows.block->as<float>()[n] = static_cast<float>(n * 2654435761u >> 20 & 0xfff) - 2048.0F;
    }
    std::vector<std::unique_ptr<Stage>> stages;
    if (!on_cuda()) stages.push_back(make_analytic_signal_cpu(threads(), level()));
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) {
      for (const bool half : {false, true}) {
        stages.push_back(make_analytic_signal_cuda({half, false, HilbertRoute::automatic}, backend()));
        stages.push_back(make_analytic_signal_cuda({half, false, HilbertRoute::cufft}, backend()));
      }
    }
#endif
    for (const auto& stage : stages) expect_same_again(*stage, rows.spec, *rows.block);
  }
}

}  // namespace
}  // namespace echoform::test
