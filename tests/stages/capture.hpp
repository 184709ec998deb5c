// Whether a stage may be part of a CUDA graph: then it neither waits nor allocates, on any device.
#pragma once

#include <string>

#include "base/errors.hpp"
#include "pipeline/stage.hpp"

#ifdef ECHOFORM_WITH_CUDA
#include "gpu/stream_queue.hpp"
#endif

namespace echoform::test {

#ifdef ECHOFORM_WITH_CUDA
/// One frame of a prepared CUDA stage as a graph. Throws RuntimeFault if it cannot be one.
inline gpu::GraphExec captured(Stage& stage, ConstBlock input, Block output, ExecutionQueue& queue) {
  const cudaStream_t stream = gpu::stream_of(queue);
  ECHOFORM_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  stage.process(input, output, queue);
  cudaGraph_t graph = nullptr;
  ECHOFORM_CUDA(cudaStreamEndCapture(stream, &graph));
  const gpu::Graph owned(graph);
  cudaGraphExec_t executable = nullptr;
  ECHOFORM_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  return gpu::GraphExec(executable);
}
#endif

/// Captures one frame of a prepared CUDA stage, runs the graph `runs` times and waits. An empty text if all went well.
inline std::string capture_and_run([[maybe_unused]] Stage& stage, [[maybe_unused]] ConstBlock input,
                                   [[maybe_unused]] Block output, [[maybe_unused]] ExecutionQueue& queue,
                                   [[maybe_unused]] int runs) {
#ifdef ECHOFORM_WITH_CUDA
  try {
    const gpu::GraphExec graph = captured(stage, input, output, queue);
    for (int run = 0; run < runs; ++run) ECHOFORM_CUDA(cudaGraphLaunch(graph.get(), gpu::stream_of(queue)));
    queue.finish();
    return {};
  } catch (const RuntimeFault& fault) {
    return fault.what();
  }
#else
  return "this build holds no CUDA code";
#endif
}

}  // namespace echoform::test
