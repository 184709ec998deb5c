#include "benchmarks/scan_gpu.hpp"

#include <functional>
#include <memory>

#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/scan_conversion/scan_conversion_words.hpp"

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

/// A graph of many frames, replayed.
class Replay {
 public:
  Replay(cudaStream_t stream, const std::function<void(std::size_t frame)>& frame)
      : stream_(stream), timer_(stream), graph_(capture(stream, frame)) {
    static_cast<void>(milliseconds());
  }
  /// Milliseconds of one frame.
  [[nodiscard]] double milliseconds() const {
    const double all = timer_([&] {
      for (int k = 0; k < replays; ++k) ECHOFORM_CUDA(cudaGraphLaunch(graph_.get(), stream_));
    });
    return all / (replays * static_cast<double>(frames_in_graph));
  }

 private:
  cudaStream_t stream_;
  Timer timer_;
  gpu::GraphExec graph_;
};

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

struct LargeGpuCopy::Implementation {
  static constexpr std::size_t bytes = std::size_t{1} << 30;

  std::unique_ptr<Backend> backend = make_cuda_backend();
  std::unique_ptr<ExecutionQueue> queue = backend->make_queue();
  Buffer from = backend->allocate(bytes, MemoryUse::working);
  Buffer to = backend->allocate(bytes, MemoryUse::working);
  Timer timer{gpu::stream_of(*queue)};
};

LargeGpuCopy::LargeGpuCopy() : implementation_(std::make_unique<Implementation>()) {
  static_cast<void>(bytes_per_second());
}
LargeGpuCopy::~LargeGpuCopy() = default;

double LargeGpuCopy::bytes_per_second() const {
  const Implementation& me = *implementation_;
  const double milliseconds = me.timer([&] {
    ECHOFORM_CUDA(cudaMemcpyAsync(me.to.data(), me.from.data(), me.bytes, cudaMemcpyDeviceToDevice, gpu::stream_of(*me.queue)));
  });
  return 2e3 * static_cast<double>(me.bytes) / milliseconds;
}

std::vector<ScanOnGpu> measure_scan_on_gpu(const PolarScanConversionOptions& options, const std::vector<std::uint8_t>& data,
                                           std::size_t rounds, const LargeGpuCopy& large_copy, std::vector<double>& large_rates) {
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

    const Buffer from = backend->allocate(figure.bytes / 2, MemoryUse::working);
    const Buffer to = backend->allocate(figure.bytes / 2, MemoryUse::working);
    const Replay kernel(stream, [&](std::size_t) { convert(0); });
    const Replay cold(stream, [&](std::size_t frame) { convert(frame % copies.size()); });
    const Replay copy(stream, [&](std::size_t) {
      ECHOFORM_CUDA(cudaMemcpyAsync(to.data(), from.data(), from.size(), cudaMemcpyDeviceToDevice, stream));
    });
    figure.turns = take_turns(rounds, {{"kernel", [&] { return kernel.milliseconds(); }},
                                       {"limit", [&] { return copy.milliseconds(); }},
                                       {"cold", [&] { return cold.milliseconds(); }},
                                       {"limit_large", [&] {
                                          large_rates.push_back(large_copy.bytes_per_second());
                                          return 1e3 * static_cast<double>(figure.bytes) / large_rates.back();
                                        }}});
    figure.kernel = figure.turns.spread("kernel");
    figure.cold = figure.turns.spread("cold");
    figure.limit = figure.turns.spread("limit");
    figure.limit_large = figure.turns.spread("limit_large");
    figure.ratio = figure.turns.ratio("limit", "kernel");
    figure.cold_ratio = figure.turns.ratio("limit_large", "cold");
    figure.launched = Timer(stream)([&] {
                        for (std::size_t k = 0; k < frames_in_graph; ++k) convert(0);
                      }) /
                      frames_in_graph;
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace echoform::benchmarks
