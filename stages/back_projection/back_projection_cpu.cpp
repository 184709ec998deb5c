#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.hpp"
#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection/brick_plan.hpp"
#include "stages/back_projection/flat_geometry.hpp"
#include "stages/back_projection/projection_kernels.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

// The limit exists because places are counted in single precision.
constexpr std::size_t most_samples_of_row = std::size_t{1} << 24;

[[noreturn]] void refuse(std::string_view what, const std::string& found, const std::string& expected) {
  throw InputError(fmt::format("back-projection stage, {}", what), found, expected);
}

/// One axis of the grid: places in samples from the middle, and the distance of neighbours in the image.
struct VoxelAxis {
  std::vector<float> places;
  std::size_t step = 1;
};

class BackProjectionCpu final : public Stage {
 public:
  BackProjectionCpu(const BackProjectionOptions& options, SimdLevel level)
      : options_(options), kernel_(projection::kernel_of(level)) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("back-projection");
    output_ = back_projection_output(options_, input);
    place_voxels();
    detectors_ = projection::flat_detectors(options_, frame_);
    if (options_.inclusion) inclusion_ = projection::flat_inclusion(options_, frame_);
    call_ = projection::Call{};
    call_.stride = stride_of(input);
    call_.detectors = detectors_.data();
    call_.count = detectors_.size();
    call_.law = options_.law;
    call_.start = projection::flat_start(options_);
    call_.last = static_cast<float>(input.columns - 1);
    const std::vector<float>& lanes = axes_[0].places;
    call_.spacing = lanes.size() > 1 ? (lanes.back() - lanes.front()) / static_cast<float>(lanes.size() - 1) : 0.0F;
    call_.reach = std::max(std::abs(lanes.front()), std::abs(lanes.back()));
    call_.cosine_power = options_.cosine_power;
    call_.least_cosine = static_cast<float>(options_.least_cosine);
    call_.normalise = options_.normalise;
    call_.inclusion = options_.inclusion ? &inclusion_ : nullptr;
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    projection::Call call = call_;
    call.samples = input.as<float>();
    const std::size_t tiles = blocks_[0] * blocks_[1] * blocks_[2];
    team_of(queue).for_each(tiles, 1, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      projection::Tile tile;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below, 9 KiB
      for (std::size_t k = first; k < last; ++k) {
        const std::array<std::size_t, 3> from{k % blocks_[0] * sizes_[0], k / blocks_[0] % blocks_[1] * sizes_[1],
                                              k / (blocks_[0] * blocks_[1]) * sizes_[2]};
        fill(tile, from);
        kernel_.run(call, tile);
        write(tile, from, output.as<float>());
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return detectors_.size() * sizeof(FlatDetector); }

 private:
  /// Lanes run along x, or along the longest axis where there are few voxels along x.
  void place_voxels() {
    const Grid& grid = options_.grid;
    const auto axes = projection::axes_of(grid);
    const auto steps = projection::steps_of(grid);
    std::array<int, 3> order{0, 1, 2};
    if (grid.x.count < kernel_.lanes) {
      const auto longest = std::ranges::max_element(axes, {}, [](const Axis* axis) { return axis->count; });
      std::swap(order[0], order[static_cast<std::size_t>(longest - axes.begin())]);
    }
    frame_ = projection::flat_frame(options_, order);
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t of = frame_.of(static_cast<int>(k));
      axes_[k].step = steps[of];
      axes_[k].places.resize(axes[of]->count);
      for (std::size_t n = 0; n < axes[of]->count; ++n) {
        axes_[k].places[n] = static_cast<float>((axes[of]->at(n).value - frame_.middle[of]) * frame_.samples_per_metre);
      }
    }
    // Compact tiles read only a few samples of each row.
    constexpr std::size_t side = 8;
    static_assert(side * side == projection::most_rows);
    sizes_[0] = kernel_.lanes;
    sizes_[1] = std::min(axes_[1].places.size(), axes_[2].places.size() > 1 ? side : projection::most_rows);
    sizes_[2] = std::min(axes_[2].places.size(), projection::most_rows / sizes_[1]);
    for (std::size_t k = 0; k < 3; ++k) blocks_[k] = (axes_[k].places.size() + sizes_[k] - 1) / sizes_[k];
  }

  void fill(projection::Tile& tile, const std::array<std::size_t, 3>& from) const noexcept {
    const std::vector<float>& lanes = axes_[0].places;
    for (std::size_t n = 0; n < kernel_.lanes; ++n) {
      // Lanes beyond the grid's end repeat the last voxel, since there may be a detector at a place without a voxel. Their sums
      // are not read.
      tile.lane[n] = lanes[std::min(from[0] + n, lanes.size() - 1)];
    }
    tile.rows = 0;
    for (std::size_t third = from[2]; third < end_of(2, from); ++third) {
      for (std::size_t second = from[1]; second < end_of(1, from); ++second) {
        tile.second[tile.rows] = axes_[1].places[second];
        tile.third[tile.rows] = axes_[2].places[third];
        ++tile.rows;
      }
    }
  }

  void write(const projection::Tile& tile, const std::array<std::size_t, 3>& from, float* image) const noexcept {
    std::size_t row = 0;
    for (std::size_t third = from[2]; third < end_of(2, from); ++third) {
      for (std::size_t second = from[1]; second < end_of(1, from); ++second, ++row) {
        float* const to = image + third * axes_[2].step + second * axes_[1].step;
        for (std::size_t n = from[0]; n < end_of(0, from); ++n) {
          const std::size_t lane = row * kernel_.lanes + n - from[0];
          float value = tile.sums[lane];
          if (options_.normalise) value = tile.weights[lane] != 0.0F ? value / tile.weights[lane] : 0.0F;
          to[n * axes_[0].step] = value;
        }
      }
    }
  }

  [[nodiscard]] std::size_t end_of(std::size_t axis, const std::array<std::size_t, 3>& from) const noexcept {
    return std::min(from[axis] + sizes_[axis], axes_[axis].places.size());
  }

  BackProjectionOptions options_;
  projection::KernelChoice kernel_;
  BlockSpec output_;
  projection::FlatFrame frame_;
  std::array<VoxelAxis, 3> axes_;
  std::array<std::size_t, 3> sizes_{};   // size of a tile
  std::array<std::size_t, 3> blocks_{};  // tiles along each axis
  std::vector<FlatDetector> detectors_;
  FlatInclusion inclusion_{};
  projection::Call call_;
};

}  // namespace

projection::KernelChoice projection::kernel_of(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return {&project_avx512, 16};
  if (level == SimdLevel::avx2) return {&project_avx2, 8};
#endif
  return {&project_portable, 1};
}

void validate(const BackProjectionOptions& options) {
  const auto require = [](double value, std::string_view what, const char* unit) {
    if (!(value > 0.0) || !std::isfinite(value)) refuse(what, fmt::format("{} {}", value, unit), "above 0");
  };
  validate(options.grid, "back-projection stage, grid");
  require(options.velocity.value, "velocity", "m/s");
  require(options.sample_rate.value, "sample rate", "Hz");
  if (!std::isfinite(options.start_time.value)) {
    refuse("start time", fmt::format("{} s", options.start_time.value), "a finite one");
  }
  if (!options.detectors || options.detectors->empty()) refuse("detectors", "none", "one at least");
  for (const ProjectionDetector& detector : *options.detectors) {
    if (!std::isfinite(detector.weight)) refuse("weight", fmt::format("{}", detector.weight), "a finite one");
  }
  if (options.inclusion) {
    require(options.inclusion->velocity.value, "velocity of the inclusion", "m/s");
    for (const Metres radius : options.inclusion->radii) require(radius.value, "radius of the inclusion", "m");
  }
  if (options.cosine_power > BackProjectionOptions::most_cosine_power) {
    refuse("cosine power", fmt::format("{}", options.cosine_power),
           fmt::format("0 to {}", BackProjectionOptions::most_cosine_power));
  }
  if (!(options.least_cosine >= -1.0 && options.least_cosine <= 1.0)) {
    refuse("least cosine", fmt::format("{}", options.least_cosine), "-1 to 1");
  }
}

BlockSpec back_projection_output(const BackProjectionOptions& options, const BlockSpec& input) {
  require_block(input, "back-projection", {ElementType::float32});
  if (input.columns < 2 || input.columns > most_samples_of_row) {
    refuse("input samples", fmt::format("{}", input.columns), fmt::format("2 to {}", most_samples_of_row));
  }
  for (const ProjectionDetector& detector : *options.detectors) {
    if (detector.row < input.rows) continue;
    refuse("detectors", fmt::format("one of row {}", detector.row), fmt::format("of 0 to {}", input.rows - 1));
  }
  BlockSpec output;
  output.type = ElementType::float32;
  output.rows = options.grid.z.count * options.grid.y.count;
  output.columns = options.grid.x.count;
  output.row_stride = output.columns;
  output.sub_blocks = options.grid.y.count;
  return output;
}

std::unique_ptr<Stage> make_back_projection_cpu(const BackProjectionOptions& options, SimdLevel level) {
  return std::make_unique<BackProjectionCpu>(options, level);
}

constinit const StageKind back_projection_stage{
    .name = "back-projection",
    .cpu = [](const StageOptions& options, Backend&) { return make_back_projection_cpu(options.as<BackProjectionOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_back_projection_cuda(options.as<BackProjectionOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<BackProjectionOptions>();
          validate(wanted);
          StageStatement statement{back_projection_output(wanted, inputs.only("back-projection")), {}};
          if (site.backend == BackendKind::cuda) {
            const projection::BrickPlan plan = projection::plan_bricks(wanted);
            statement.memory.device = plan.detector_bytes(wanted) + plan.sums_bytes(wanted);
          } else {
            statement.memory.host = wanted.detectors->size() * sizeof(FlatDetector);
          }
          return statement;
        },
};

}  // namespace echoform
