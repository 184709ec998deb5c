#include "benchmarks/scan_gpu.hpp"

#include <functional>
#include <memory>

#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "pipeline/words.hpp"

namespace echoform::benchmarks {
namespace {

constexpr std::size_t frames_in_graph = 40;
constexpr int replays = 10;

/// Work on a stream, timed by events.
class Timer {
 public:
  explicit Timer(cudaStream_t stream) : stream_(stream) {}

  /// Milliseconds of `work`.
  double operator()(const std::function<void()>& work) const {
    ECHOFORM_CUDA(cudaEventRecord(begin_.get(), stream_));
    work();
    ECHOFORM_CUDA(cudaEventRecord(end_.get(), stream_));
    ECHOFORM_CUDA(cudaEventSynchronize(end_.get()));
    float milliseconds = 0.0F;
    ECHOFORM_CUDA(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    return milliseconds;
  }

 private:
  cudaStream_t stream_;
  gpu::Event begin_ = gpu::make_event(true);
  gpu::Event end_ = gpu::make_event(true);
};

gpu::GraphExec capture(cudaStream_t stream, const std::function<void(std::size_t frame)>& frame) {
  ECHOFORM_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (std::size_t k = 0; k < frames_in_graph; ++k) frame(k);
  cudaGraph_t graph = nullptr;
  ECHOFORM_CUDA(cudaStreamEndCapture(stream, &graph));
  const gpu::Graph owned(graph);
  cudaGraphExec_t executable = nullptr;
  ECHOFORM_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  return gpu::GraphExec(executable);
}

/// Milliseconds a frame of a replayed graph of frames.
Spread replayed(cudaStream_t stream, std::size_t rounds, const std::function<void(std::size_t frame)>& frame) {
  const gpu::GraphExec graph = capture(stream, frame);
  const Timer timer(stream);
  const auto replay = [&] {
    for (int k = 0; k < replays; ++k) ECHOFORM_CUDA(cudaGraphLaunch(graph.get(), stream));
  };
  static_cast<void>(timer(replay));
  std::vector<double> times;
  for (std::size_t round = 0; round < rounds; ++round) times.push_back(timer(replay) / (replays * frames_in_graph));
  return spread_of(std::move(times));
}

/// A stage with its image.
struct Copy {
  std::unique_ptr<Stage> stage;
  Buffer image;
};

std::size_t second_level_cache() {
  int device = 0;
  int bytes = 0;
  ECHOFORM_CUDA(cudaGetDevice(&device));
  ECHOFORM_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
  return static_cast<std::size_t>(bytes);
}

}  // namespace

double measure_gpu_copy() {
  const auto backend = make_cuda_backend();
  const auto queue = backend->make_queue();
  const cudaStream_t stream = gpu::stream_of(*queue);
  constexpr std::size_t bytes = std::size_t{1} << 30;
  const Buffer from = backend->allocate(bytes, MemoryUse::working);
  const Buffer to = backend->allocate(bytes, MemoryUse::working);
  const Timer timer(stream);
  std::vector<double> rates;
  for (int round = 0; round < 6; ++round) {
    const double milliseconds =
        timer([&] { ECHOFORM_CUDA(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream)); });
    if (round > 0) rates.push_back(2e3 * static_cast<double>(bytes) / milliseconds);
  }
  return spread_of(std::move(rates)).median;
}

std::vector<ScanOnGpu> measure_scan_on_gpu(const PolarScanConversionOptions& options, const std::vector<std::uint8_t>& data,
                                           std::size_t rounds, double copy_bandwidth) {
  const auto backend = make_cuda_backend();
  const auto queue = backend->make_queue();
  const cudaStream_t stream = gpu::stream_of(*queue);
  BlockSpec spec;
  spec.type = ElementType::uint8;
  spec.rows = options.beams;
  spec.columns = options.samples;
  const Buffer input = backend->allocate(spec.bytes(), MemoryUse::working);
  copy_now(input.data(), data.data(), data.size());

  std::vector<ScanOnGpu> figures;
  for (const ScanInterpolation how : {ScanInterpolation::cubic, ScanInterpolation::bilinear, ScanInterpolation::nearest}) {
    PolarScanConversionOptions wanted = options;
    wanted.interpolation = how;
    ScanOnGpu figure;
    figure.interpolation = words::scan_interpolation.of(how);
    std::vector<Copy> copies;
    do {
      Copy copy{make_polar_scan_conversion_cuda(wanted, *backend), {}};
      const BlockSpec out = copy.stage->prepare(spec);
      copy.image = backend->allocate(out.bytes(), MemoryUse::working);
      figure.bytes = copy.stage->bytes() + spec.bytes() + out.bytes();
      copies.push_back(std::move(copy));
    } while (copies.size() * figure.bytes < 2 * second_level_cache());
    const auto convert = [&](std::size_t k) { copies[k].stage->process({input.data()}, {copies[k].image.data()}, *queue); };

    figure.kernel = replayed(stream, rounds, [&](std::size_t) { convert(0); });
    figure.cold = replayed(stream, rounds, [&](std::size_t frame) { convert(frame % copies.size()); });
    figure.launched = Timer(stream)([&] {
                        for (std::size_t k = 0; k < frames_in_graph; ++k) convert(0);
                      }) /
                      frames_in_graph;
    const Buffer from = backend->allocate(figure.bytes / 2, MemoryUse::working);
    const Buffer to = backend->allocate(figure.bytes / 2, MemoryUse::working);
    figure.limit = replayed(stream, rounds, [&](std::size_t) {
                     ECHOFORM_CUDA(cudaMemcpyAsync(to.data(), from.data(), from.size(), cudaMemcpyDeviceToDevice, stream));
                   }).median;
    figure.limit_large = 1e3 * static_cast<double>(figure.bytes) / copy_bandwidth;
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace echoform::benchmarks
