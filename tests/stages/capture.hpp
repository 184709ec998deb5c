// Whether a stage may be part of a CUDA graph: then it neither waits nor allocates, on any device.
#pragma once

#include <string>

#include "pipeline/stage.hpp"

#ifdef ECHOFORM_WITH_CUDA
#include "gpu/stream_queue.hpp"
#endif

namespace echoform::test {

/// Captures one frame of a prepared CUDA stage, runs the graph `runs` times and waits. An empty text if all went well.
inline std::string capture_and_run([[maybe_unused]] Stage& stage, [[maybe_unused]] ConstBlock input,
                                   [[maybe_unused]] Block output, [[maybe_unused]] ExecutionQueue& queue,
                                   [[maybe_unused]] int runs) {
#ifdef ECHOFORM_WITH_CUDA
  const cudaStream_t stream = gpu::stream_of(queue);
  cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  stage.process(input, output, queue);
  cudaGraph_t graph = nullptr;
  error = cudaStreamEndCapture(stream, &graph);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  const gpu::Graph owned(graph);
  cudaGraphExec_t executable = nullptr;
  error = cudaGraphInstantiate(&executable, graph, 0);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  const gpu::GraphExec owned_executable(executable);
  for (int run = 0; run < runs && error == cudaSuccess; ++run) error = cudaGraphLaunch(executable, stream);
  queue.finish();
  return error == cudaSuccess ? std::string() : cudaGetErrorString(error);
#else
  return "this build holds no CUDA code";
#endif
}

}  // namespace echoform::test
