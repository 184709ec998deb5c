#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "base/errors.hpp"
#include "pipeline/words.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/beamform/delay_tables.hpp"
#include "stages/beamform/law_checks.hpp"
#include "stages/beamform/tile_plan.hpp"

namespace echoform {
namespace {

using namespace beamform;  // the kernels and tables of this folder

// Window loads run past the last sample by up to a window's length.
constexpr std::size_t overrun = 64;

void require_input(const BeamformOptions& options, const BlockSpec& input) {
  const std::size_t samples = options.gate.count;
  const std::size_t rows = options.pairs.rows + options.rows_behind;
  if (input.type == ElementType::planar_complex64 && input.rows == rows && input.columns == samples &&
      input.row_stride >= input.columns + overrun) {
    return;
  }
  throw InputError(
      "beamform input",
      fmt::format("{} [{}, {}] with rows of {}", words::element_type.of(input.type), input.rows, input.columns, input.row_stride),
      fmt::format("planar complex64 [{}, {}] with rows of at least {}", rows, samples, samples + overrun));
}

class BeamformCpu final : public Stage {
 public:
  BeamformCpu(BeamformOptions options, Backend& backend, SimdLevel level, BeamformLookup lookup)
      : options_(std::move(options)), backend_(backend), kernels_(kernels_of(level)), lookup_(lookup) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("beamform");
    require_input(options_, input);
    const auto queue = backend_.make_queue();
    ThreadTeam& team = team_of(*queue);
    tables_ = make_delay_tables(options_, kernels_, backend_, team);
    if (lookup_ == BeamformLookup::gather) {
      for (Tile& tile : tables_.tiling.tiles) tile.window = Window::gather;
    }
    input_ = input;
    sums_stride_ = tile_sum_floats(tables_.tiling.most_patches, kernels_.lanes);
    sums_ = backend_.allocate(team.size() * sums_stride_ * sizeof(float), MemoryUse::working);
    return beamform_output(options_.grid);
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const auto* data = input.as<float>();
    auto* image = output.as<std::complex<float>>();
    team_of(queue).for_each(tables_.tiling.tiles.size(), 1, [&](std::size_t first, std::size_t last, std::size_t member) {
      for (std::size_t tile = first; tile < last; ++tile) image_tile(tile, data, image, member);
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return tables_.bytes() + sums_.size(); }

  /// Accepts other lookups among the same number of rows: the tables hold every source, whichever sources are looked up.
  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    const auto& wanted = options.as<BeamformOptions>();
    validate(wanted);
    BeamformOptions with_own = wanted;
    with_own.pairs.lookups = options_.pairs.lookups;
    return with_own == options_;
  }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_.pairs.lookups = options.get<BeamformOptions>()->pairs.lookups;
  }

 private:
  void image_tile(std::size_t index, const float* data, std::complex<float>* image, std::size_t member) const noexcept {
    const Tile& tile = tables_.tiling.tiles[index];
    const std::uint32_t lanes = kernels_.lanes;
    float* sums = static_cast<float*>(sums_.data()) + member * sums_stride_;
    std::fill_n(sums, std::size_t{2} * tile.patches * lanes, 0.0F);

    const LegTables& transmit = tables_.transmit;
    const LegTables& receive = tables_.inner();
    for (const PairRun& run : options_.pairs.lookups) {
      if (run.reversed) {
        sum_pairs(index, receive, transmit, run, data, sums);
      } else {
        sum_pairs(index, transmit, receive, run, data, sums);
      }
    }

    const float scale = options_.scale;
    const std::uint32_t* pixel = tables_.tiling.pixel.data() + tile.first_patch * lanes;
    for (std::uint32_t patch = 0; patch < tile.patches; ++patch) {
      const float* patch_sums = sums + std::size_t{2} * patch * lanes;
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const std::uint32_t place = pixel[patch * lanes + lane];
        if (place != Tiling::outside) image[place] = {scale * patch_sums[lane], scale * patch_sums[lanes + lane]};
      }
    }
  }

  void sum_pairs(std::size_t index, const LegTables& outer_leg, const LegTables& inner_leg, const PairRun& run, const float* data,
                 float* sums) const noexcept {
    const std::uint32_t outer = run.event;
    const Tile& tile = tables_.tiling.tiles[index];
    const std::size_t outer_entry = tile.first_patch * outer_leg.sources;
    const std::size_t inner_entry = tile.first_patch * inner_leg.sources;
    const std::size_t lanes = kernels_.lanes;
    const auto reals = [](const Buffer& buffer, std::size_t place) -> const float* {
      return buffer ? static_cast<const float*>(buffer.data()) + place : nullptr;
    };
    const auto wholes = [](const Buffer& buffer, std::size_t place) {
      return static_cast<const std::int32_t*>(buffer.data()) + place;
    };
    TileTask task{};
    task.patches = tile.patches;
    task.sources = inner_leg.sources;
    task.outer_sources = outer_leg.sources;
    task.outer_offset = reals(outer_leg.offset, (outer_entry + outer) * lanes);
    task.outer_base = wholes(outer_leg.base, outer_entry + outer);
    task.outer_top = wholes(outer_leg.top, outer_entry + outer);
    task.outer_weight = reals(outer_leg.weight, (outer_entry + outer) * lanes);
    task.inner_offset = reals(inner_leg.offset, inner_entry * lanes);
    task.inner_base = wholes(inner_leg.base, inner_entry);
    task.inner_top = wholes(inner_leg.top, inner_entry);
    task.inner_weight = reals(inner_leg.weight, inner_entry * lanes);
    task.inner_first = run.receiver;
    task.inner_last = run.receiver + run.count;
    task.inner_low = wholes(inner_leg.low, index * inner_leg.sources);
    task.inner_high = wholes(inner_leg.high, index * inner_leg.sources);
    task.outer_low = *wholes(outer_leg.low, index * outer_leg.sources + outer);
    task.outer_high = *wholes(outer_leg.high, index * outer_leg.sources + outer);
    task.rows = data + run.row * 2 * input_.row_stride;
    task.row_pitch = 2 * input_.row_stride;
    task.quadrature = input_.row_stride;
    task.samples = static_cast<std::int32_t>(input_.columns);
    task.sums = sums;
    const bool linear = options_.interpolation == Interpolation::linear;
    kernels_.kernels[static_cast<int>(tile.window)][linear][tables_.weighted][tile.checked](task);
  }

  BeamformOptions options_;
  Backend& backend_;
  const KernelSet& kernels_;
  BeamformLookup lookup_;
  DelayTables tables_;
  BlockSpec input_;
  Buffer sums_;
  std::size_t sums_stride_ = 0;
};

}  // namespace

BlockSpec beamform_output(const Grid& grid) {
  BlockSpec output;
  output.type = ElementType::complex64;
  output.rows = grid.z.count * grid.y.count;
  output.columns = grid.x.count;
  output.row_stride = output.columns;
  output.sub_blocks = grid.y.count;
  return output;
}

std::unique_ptr<Stage> make_beamform_cpu(BeamformOptions options, Backend& backend, SimdLevel level, BeamformLookup lookup) {
  return std::make_unique<BeamformCpu>(std::move(options), backend, std::min(level, simd_level()), lookup);
}

constinit const StageKind beamform_stage{
    .name = "beamform",
    .cpu = [](const StageOptions& options,
              Backend& backend) { return make_beamform_cpu(options.as<BeamformOptions>(), backend); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_beamform_cuda(options.as<BeamformOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<BeamformOptions>();
          validate(wanted);
          check_directivity(wanted);
          const BlockSpec& input = inputs.only("beamform");
          StageStatement statement{beamform_output(wanted.grid), {}};
          StageMemory& memory = statement.memory;
          if (site.backend == BackendKind::cuda) {
            memory.device = tile_table_bytes(wanted, input.type == ElementType::complex_half_slope);
            memory.of_pixels = memory.device;
            return statement;
          }
          require_input(wanted, input);
          const std::uint32_t lanes = kernels_of(simd_level()).lanes;
          const std::size_t members = team_size(site);
          memory.of_pixels = delay_table_bytes(wanted, lanes, members);
          memory.host =
              memory.of_pixels + members * tile_sum_floats(most_patches_of(wanted.grid, lanes, members), lanes) * sizeof(float);
          return statement;
        },
};

}  // namespace echoform
