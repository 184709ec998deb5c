#include <utility>
#include <vector>

#include "gpu/on_device.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/wall_filter/wall_filter.hpp"
#include "stages/wall_filter/wall_filter_launch.hpp"

namespace echoform {
namespace {

class WallFilterCuda final : public Stage {
 public:
  WallFilterCuda(WallFilterOptions options, Backend& backend) : options_(std::move(options)), backend_(backend) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("wall-filter");
    const BlockSpec output = wall_filter_output(options_, input, BackendKind::cuda);
    const std::vector<double> matrix = wall_filter_matrix(options_);
    matrix_re_ = gpu::on_device(std::vector<float>(matrix.begin(), matrix.end()), backend_);
    input_lead_ = 2 * input.lead;
    WallFilterSamples samples;
    samples.stride = 2 * stride_of(input);
    samples.quadrature = input.type == ElementType::planar_complex64 ? stride_of(input) : 0;
    samples.lines = input.rows / options_.ensemble;
    samples.ensemble = options_.ensemble;
    samples.ranges = input.columns;
    work_ = {};
    work_.samples = samples;
    work_.matrix_re = static_cast<const float*>(matrix_re_.data());
    work_.filtered = filtered_ensemble(options_);
    work_.out_stride = output.row_stride;
    if (options_.kind == WallFilterKind::svd) prepare_clutter();
    return output;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    WallFilterWork work = work_;
    work.samples.in = input.as<float>() + input_lead_;
    work.out = output.as<float2>();
    if (options_.kind == WallFilterKind::svd) {
      ClutterWork clutter = clutter_;
      clutter.samples = work.samples;
      launch_find_clutter(clutter, gpu::stream_of(queue));
    }
    launch_wall_filter(work, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return matrix_re_.size() + matrix_im_.size() + products_.size() + matrices_.size();
  }

 private:
  void prepare_clutter() {
    const std::size_t square = options_.ensemble * options_.ensemble;
    matrix_im_ = backend_.allocate(square * sizeof(float), MemoryUse::working);
    products_ = backend_.allocate(clutter_parts * square * sizeof(double2), MemoryUse::working);
    clutter_ = {};
    if (options_.ensemble > clutter_in_shared_memory) {
      matrices_ = backend_.allocate(2 * square * sizeof(double2), MemoryUse::working);
      clutter_.matrices = static_cast<double2*>(matrices_.data());
    }
    clutter_.components = options_.components;
    clutter_.products = static_cast<double2*>(products_.data());
    clutter_.matrix_re = static_cast<float*>(matrix_re_.data());
    clutter_.matrix_im = static_cast<float*>(matrix_im_.data());
    work_.matrix_im = clutter_.matrix_im;
  }

  WallFilterOptions options_;
  Backend& backend_;
  std::size_t input_lead_ = 0;  // in floats
  WallFilterWork work_;         // complete except for what changes with each frame
  ClutterWork clutter_;         // likewise, for svd
  Buffer matrix_re_;
  Buffer matrix_im_;  // for svd, as are those that follow
  Buffer products_;
  Buffer matrices_;  // for large ensembles
};

}  // namespace

std::unique_ptr<Stage> make_wall_filter_cuda(WallFilterOptions options, Backend& backend) {
  return std::make_unique<WallFilterCuda>(std::move(options), backend);
}

}  // namespace echoform
