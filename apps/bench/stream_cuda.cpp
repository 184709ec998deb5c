// `stream` on the GPU: by default 128 elements x 4096 samples, on 1, 2 and 4 connections.
#include "apps/bench/stream_case.hpp"
#include "benchmarks/copy_bound.hpp"
#include "methods/tfm/section.hpp"

namespace echoform::bench {

Outcome stream_cuda(const Options& options, LiveLine& progress) {
  Scenario scene = scene_of(options, 128, 4096);
  tfm(scene.configuration).accuracy = accuracies_of(options).front();
  benchmarks::StreamCase test;
  test.backend = {false, BackendKind::cuda};
  test.connections = {1, 2, 4};
  test.engine_frames = 200;
  test.device_bytes = benchmarks::device_bytes_in_use;
  return run_stream(options, scene, test, progress);
}

}  // namespace echoform::bench
