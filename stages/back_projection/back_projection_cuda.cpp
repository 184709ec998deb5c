#include "gpu/cuda_backend.hpp"
#include "gpu/on_device.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection/brick_plan.hpp"
#include "stages/back_projection/flat_geometry.hpp"
#include "stages/back_projection/projection_launch.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

using projection::BrickPlan;

projection::VoxelLine voxel_line(const BackProjectionOptions& options, const BrickPlan& plan, const projection::FlatFrame& frame,
                                 std::size_t k) {
  const std::size_t of = frame.of(static_cast<int>(k));
  const Axis& axis = *projection::axes_of(options.grid)[of];
  projection::VoxelLine line;
  line.count = static_cast<std::uint32_t>(axis.count);
  line.lanes = plan.lanes[k];
  line.warps = plan.warps[k];
  line.bricks = plan.bricks[k];
  line.step = projection::steps_of(options.grid)[of];
  line.spacing = static_cast<float>(axis.spacing().value * frame.samples_per_metre);
  line.middle = static_cast<float>(0.5 * static_cast<double>(axis.count - 1));
  return line;
}

class BackProjectionCuda final : public Stage {
 public:
  BackProjectionCuda(const BackProjectionOptions& options, Backend& backend) : options_(options), backend_(backend) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("back-projection");
    const BlockSpec output = back_projection_output(options_, input);
    plan_ = projection::plan_bricks(options_);
    const projection::FlatFrame frame = projection::flat_frame(options_, plan_.order);
    detectors_ = gpu::on_device(projection::flat_detectors(options_, frame), backend_);
    sums_ = {};
    if (plan_.groups > 1) sums_ = backend_.allocate(plan_.sums_bytes(options_), MemoryUse::working);
    input_lead_ = input.lead;
    work_ = {};
    work_.stride = stride_of(input);
    work_.last = static_cast<std::int32_t>(input.columns - 1);
    work_.detectors = static_cast<const FlatDetector*>(detectors_.data());
    work_.count = static_cast<std::uint32_t>(options_.detectors->size());
    work_.group_size = plan_.group_size;
    work_.batch = plan_.batch;
    work_.half_window = static_cast<std::int32_t>(plan_.half_window);
    for (std::size_t k = 0; k < 3; ++k) work_.lines[k] = voxel_line(options_, plan_, frame, k);
    work_.start = projection::flat_start(options_);
    work_.cosine_power = options_.cosine_power;
    work_.least_cosine = static_cast<float>(options_.least_cosine);
    work_.normalise = options_.normalise;
    work_.slows = options_.inclusion.has_value();
    if (options_.inclusion) work_.inclusion = projection::flat_inclusion(options_, frame);
    work_.voxels = options_.grid.pixels();
    if (plan_.groups > 1) {
      work_.sums = static_cast<float*>(sums_.data());
      work_.weights = options_.normalise ? work_.sums + plan_.groups * work_.voxels : nullptr;
    }
    const double apart = static_cast<double>(work_.lines[2].spacing) * plan_.threads(2);
    for (std::size_t j = 0; j < plan_.depth / 2; ++j) {
      const double distance = (static_cast<double>(j) + 0.5) * apart;
      work_.squares[j] = static_cast<float>(distance * distance);
    }
    return output;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    projection::ProjectionWork work = work_;
    work.samples = input.as<float>() + input_lead_;
    work.image = output.as<float>();
    launch_projection(work, plan_, options_.law, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return detectors_.size() + sums_.size(); }

 private:
  BackProjectionOptions options_;
  Backend& backend_;
  std::size_t input_lead_ = 0;
  BrickPlan plan_;
  Buffer detectors_;
  Buffer sums_;
  projection::ProjectionWork work_;
};

}  // namespace

std::unique_ptr<Stage> make_back_projection_cuda(const BackProjectionOptions& options, Backend& backend) {
  return std::make_unique<BackProjectionCuda>(options, backend);
}

}  // namespace echoform
