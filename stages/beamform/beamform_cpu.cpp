#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "base/errors.hpp"
#include "pipeline/words.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/beamform/delay_tables.hpp"

namespace echoform {
namespace {

using namespace beamform;  // the kernels and tables of this folder

// Window loads run past the last sample by up to a window's length.
constexpr std::size_t overrun = 64;

class BeamformCpu final : public Stage {
 public:
  BeamformCpu(const ImagingPlan& plan, std::size_t view, Backend& backend, SimdLevel level, BeamformLookup lookup)
      : plan_(plan), view_(view), backend_(backend), kernels_(kernels_of(level)), lookup_(lookup) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("beamform");
    const std::size_t rows = beamform_input_rows(input.matrix, plan_.acquisition.elements());
    const std::size_t samples = plan_.imaged_samples().count;
    if (input.type != ElementType::planar_complex64 || input.rows != rows || input.columns != samples ||
        input.row_stride < input.columns + overrun) {
      throw InputError("beamform input",
                       fmt::format("{} [{}, {}] with rows of {}", words::element_type.of(input.type), input.rows, input.columns,
                                   input.row_stride),
                       fmt::format("planar complex64 [{}, {}] with rows of at least {}", rows, samples, samples + overrun));
    }
    const auto queue = backend_.make_queue();
    ThreadTeam& team = team_of(*queue);
    tables_ = make_delay_tables(plan_, view_, kernels_, backend_, team);
    if (input.matrix == MatrixKind::half_summed && !tables_.shared) {
      throw InputError("beamform input", "a summed half matrix", "half or full: the law or the weights tell (i, j) from (j, i)");
    }
    if (lookup_ == BeamformLookup::gather) {
      for (Tile& tile : tables_.tiling.tiles) tile.window = Window::gather;
    }
    input_ = input;
    const std::size_t floats = std::size_t{2} * tables_.tiling.most_patches * kernels_.lanes;
    sums_stride_ = (floats + 15) / 16 * 16;
    sums_ = backend_.allocate(team.size() * sums_stride_ * sizeof(float), MemoryUse::working);

    return beamform_output(plan_.grid);
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const auto* data = input.as<float>();
    auto* image = output.as<std::complex<float>>();
    team_of(queue).for_each(tables_.tiling.tiles.size(), 1, [&](std::size_t first, std::size_t last, std::size_t member) {
      for (std::size_t tile = first; tile < last; ++tile) image_tile(tile, data, image, member);
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return tables_.bytes() + sums_.size(); }

 private:
  void image_tile(std::size_t index, const float* data, std::complex<float>* image, std::size_t member) const noexcept {
    const Tile& tile = tables_.tiling.tiles[index];
    const std::uint32_t lanes = kernels_.lanes;
    const auto n = static_cast<std::uint32_t>(plan_.acquisition.elements());
    float* sums = static_cast<float*>(sums_.data()) + member * sums_stride_;
    std::fill_n(sums, std::size_t{2} * tile.patches * lanes, 0.0F);

    const auto sum = [&](const LegTables& outer_leg, std::uint32_t outer, const LegTables& inner_leg, std::uint32_t first,
                         std::uint32_t last, std::size_t row) {
      if (first >= last) return;
      sum_pairs(index, outer_leg, outer, inner_leg, first, last, data + row * 2 * input_.row_stride, sums);
    };
    const LegTables& transmit = tables_.transmit;
    const LegTables& receive = tables_.inner();
    for (std::uint32_t i = 0; i < n; ++i) {
      switch (input_.matrix) {
        case MatrixKind::full:
          sum(transmit, i, receive, 0, n, std::size_t{i} * n);
          break;
        case MatrixKind::half_summed:
          sum(transmit, i, receive, i, n, half_matrix_index(i, i, n));
          break;
        case MatrixKind::half:
          sum(transmit, i, receive, i, n, half_matrix_index(i, i, n));
          sum(receive, i, transmit, i + 1, n, half_matrix_index(i, i, n) + 1);
          break;
      }
    }

    const float scale = 1.0F / (static_cast<float>(n) * static_cast<float>(n));
    const std::uint32_t* pixel = tables_.tiling.pixel.data() + tile.first_patch * lanes;
    for (std::uint32_t patch = 0; patch < tile.patches; ++patch) {
      const float* patch_sums = sums + std::size_t{2} * patch * lanes;
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const std::uint32_t place = pixel[patch * lanes + lane];
        if (place != Tiling::outside) image[place] = {scale * patch_sums[lane], scale * patch_sums[lanes + lane]};
      }
    }
  }

  void sum_pairs(std::size_t index, const LegTables& outer_leg, std::uint32_t outer, const LegTables& inner_leg,
                 std::uint32_t first, std::uint32_t last, const float* rows, float* sums) const noexcept {
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
    task.inner_first = first;
    task.inner_last = last;
    task.inner_low = wholes(inner_leg.low, index * inner_leg.sources);
    task.inner_high = wholes(inner_leg.high, index * inner_leg.sources);
    task.outer_low = *wholes(outer_leg.low, index * outer_leg.sources + outer);
    task.outer_high = *wholes(outer_leg.high, index * outer_leg.sources + outer);
    task.rows = rows;
    task.row_pitch = 2 * input_.row_stride;
    task.quadrature = input_.row_stride;
    task.samples = static_cast<std::int32_t>(input_.columns);
    task.sums = sums;
    const bool linear = plan_.interpolation == Interpolation::linear;
    kernels_.kernels[static_cast<int>(tile.window)][linear][tables_.weighted][tile.checked](task);
  }

  const ImagingPlan& plan_;
  std::size_t view_;
  Backend& backend_;
  const KernelSet& kernels_;
  BeamformLookup lookup_;
  DelayTables tables_;
  BlockSpec input_;
  Buffer sums_;
  std::size_t sums_stride_ = 0;
};

}  // namespace

std::size_t beamform_input_rows(MatrixKind matrix, std::size_t elements) {
  return matrix == MatrixKind::full ? elements * elements : elements * (elements + 1) / 2;
}

BlockSpec beamform_output(const Grid& grid) {
  BlockSpec output;
  output.type = ElementType::complex64;
  output.rows = grid.z.count * grid.y.count;
  output.columns = grid.x.count;
  output.row_stride = output.columns;
  output.sub_blocks = grid.y.count;
  return output;
}

std::unique_ptr<Stage> make_beamform_cpu(const ImagingPlan& plan, std::size_t view, Backend& backend, SimdLevel level,
                                         BeamformLookup lookup) {
  return std::make_unique<BeamformCpu>(plan, view, backend, std::min(level, simd_level()), lookup);
}

std::unique_ptr<Stage> make_beamform_cpu(const ImagingPlan& plan, std::size_t view, Backend& backend) {
  return make_beamform_cpu(plan, view, backend, simd_level());
}

std::size_t beamform_cpu_bytes(const ImagingPlan& plan, std::size_t view) {
  return delay_table_bytes(plan, view, kernels_of(simd_level()).lanes);
}

}  // namespace echoform
