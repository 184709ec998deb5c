#include "methods/unmix_volumes.hpp"

#include "pipeline/block.hpp"
#include "stages/unmixed_image/unmixed_image.hpp"
#include "stages/unmixing/unmixing.hpp"

namespace echoform {

UnmixedVolumes unmix_volumes(const UnmixingPlan& plan, std::span<const std::vector<float>> volumes, const Grid& grid,
                             ThreadTeam& team) {
  BlockSpec volume;
  volume.rows = grid.z.count * grid.y.count;
  volume.columns = grid.x.count;
  volume.row_stride = volume.columns;
  volume.sub_blocks = grid.y.count;
  std::vector<BlockSpec> specs(volumes.size(), volume);
  std::vector<ConstBlock> blocks;
  for (const std::vector<float>& values : volumes) blocks.push_back({values.data()});

  UnmixedVolumes unmixed;
  const auto unmixing = make_unmixing_cpu(plan.options);
  const BlockSpec found = unmixing->prepare(std::span<const BlockSpec>(specs));
  unmixed.concentrations.resize(found.rows * found.columns);
  unmixing->process(std::span<const ConstBlock>(blocks), {unmixed.concentrations.data()}, team);
  if (!plan.saturation) return unmixed;
  const auto share = make_unmixed_image_cpu(*plan.saturation);
  static_cast<void>(share->prepare(found));
  unmixed.saturation.resize(grid.pixels());
  share->process(ConstBlock{unmixed.concentrations.data()}, {unmixed.saturation.data()}, team);
  return unmixed;
}

}  // namespace echoform
