#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "gpu/on_device.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/adaptive_weights/weigh_channels.hpp"
#include "stages/beamform/adaptive_beamform.hpp"
#include "stages/beamform/adaptive_pixels_launch.hpp"
#include "stages/beamform/adaptive_receivers.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/beamform/pixel_columns.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

using namespace beamform;  // NOLINT(google-build-using-namespace): the tables of this folder

/// Where the weights follow from sums, the sums of each receiver stay in a thread's registers. Otherwise they are written to
/// memory, some columns of pixels at a time.
class AdaptiveBeamformCuda final : public Stage {
 public:
  AdaptiveBeamformCuda(AdaptiveBeamformOptions options, Backend& backend)
      : options_(std::move(options)),
        kind_(adaptive_kind(options_.adaptive.kind, "adaptive-beamform stage, kind")),
        backend_(backend) {
    check_adaptive(options_);
    if (is_on_cuda(kind_)) return;
    throw InputError("adaptive-beamform stage, kind", options_.adaptive.kind, "others on a GPU: these are for the CPU alone");
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("adaptive-beamform");
    const BeamformOptions& sum = options_.sum;
    require_adaptive_input(sum, input, BackendKind::cuda);
    held_.clear();
    ThreadTeam team(0);
    summing_ = {};
    summing_.transmit = upload(make_leg_columns(sum, BeamformSide::transmit, team));
    summing_.receive = upload(make_leg_columns(sum, BeamformSide::receive, team));
    summing_.row_stride = input.row_stride;
    summing_.samples = static_cast<std::int32_t>(input.columns);
    summing_.nearest = sum.interpolation == Interpolation::nearest;
    summing_.points = static_cast<std::uint32_t>(sum.grid.z.count);
    summing_.columns = static_cast<std::uint32_t>(sum.grid.x.count * sum.grid.y.count);
    lead_ = input.lead;
    list_lookups();
    if (kind_.of_sums != nullptr) {
      prepare_sums();
    } else {
      prepare_channels();
    }
    return beamform_output(sum.grid);
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const cudaStream_t stream = gpu::stream_of(queue);
    gpu::PixelSumming summing = summing_;
    summing.rows = input.as<float>() + 2 * lead_;
    if (kind_.of_sums != nullptr) {
      gpu::PixelWeighing weighing = weighing_;
      weighing.image = output.as<float>();
      gpu::launch_weigh_pixels(summing, weighing, stream);
      return;
    }
    gpu::PixelChannels to = channels_;
    gpu::ChannelWeighing weighing = of_channels_;
    for (std::uint32_t column = 0; column < summing.columns; column += sizes_.lines_at_once) {
      to.first_column = column;
      to.columns = std::min(sizes_.lines_at_once, summing.columns - column);
      gpu::launch_pixel_channels(summing, to, stream);
      weighing.lines = to.columns;
      weighing.out = output.as<float>() + 2 * std::size_t{column};
      gpu::launch_weigh_channels(weighing, stream);
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    std::size_t bytes = 0;
    for (const Buffer& buffer : held_) bytes += buffer.size();
    return bytes;
  }

 private:
  template <class T>
  const T* keep(const std::vector<T>& numbers) {
    held_.push_back(gpu::on_device(numbers, backend_));
    return static_cast<const T*>(held_.back().data());
  }
  float* keep_room(std::size_t bytes) {
    held_.push_back(backend_.allocate(bytes, MemoryUse::working));
    return static_cast<float*>(held_.back().data());
  }

  gpu::LegOnDevice upload(const LegColumns& leg) {
    const std::vector<std::int32_t> base(leg.base.begin(), leg.base.end());
    return {.base = keep(base),
            .offset = keep(leg.offset),
            .weight = keep(leg.weight),
            .sources = static_cast<std::uint32_t>(leg.sources)};
  }

  void list_lookups() {
    const BeamformOptions& sum = options_.sum;
    std::vector<std::vector<gpu::PixelLookup>> of(sum.pairs.receivers);
    for (const PairRun& run : sum.pairs.lookups) {
      for (std::uint32_t n = 0; n < run.count; ++n) {
        const std::uint32_t source = run.reversed ? run.receiver + n : run.event;
        of[run.reversed ? run.event : run.receiver + n].push_back({static_cast<std::uint32_t>(run.row + n), source});
      }
    }
    const std::vector<std::uint32_t> receivers = live_receivers(sum);
    std::vector<std::uint32_t> first{0};
    std::vector<gpu::PixelLookup> lookups;
    for (const std::uint32_t receiver : receivers) {
      lookups.insert(lookups.end(), of[receiver].begin(), of[receiver].end());
      first.push_back(static_cast<std::uint32_t>(lookups.size()));
    }
    summing_.receiver_count = static_cast<std::uint32_t>(receivers.size());
    if (receivers.empty()) return;
    summing_.receivers = keep(receivers);
    summing_.first_lookups = keep(first);
    summing_.lookups = keep(lookups);
  }

  void prepare_sums() {
    const std::size_t bytes = options_.sum.grid.pixels() * 2 * sizeof(float);
    weighing_ = {};
    weighing_.sums = kind_.sums_of;
    weighing_.low_frequencies = static_cast<std::uint32_t>(options_.adaptive.low_frequencies);
    weighing_.half_window = static_cast<std::uint32_t>(options_.adaptive.half_window);
    weighing_.scale = options_.sum.scale;
    weighing_.sum = keep_room(bytes);
    weighing_.energies = keep_room(bytes);
  }

  void prepare_channels() {
    gpu::require_channels(summing_.receiver_count, "adaptive-beamform");
    sizes_ = gpu::channel_sizes(options_.adaptive, summing_.columns, summing_.points,
                                std::max<std::size_t>(1, summing_.receiver_count), 2);
    channels_ = {};
    channels_.pitch = sizes_.pitch;
    channels_.values = keep_room(sizes_.values);
    channels_.weights = keep_room(sizes_.weights);
    of_channels_ = gpu::channel_weighing(options_.adaptive);
    of_channels_.complex = true;
    of_channels_.channels = static_cast<const float*>(channels_.values);
    of_channels_.weights = channels_.weights;
    of_channels_.points = summing_.points;
    of_channels_.pitch = sizes_.pitch;
    of_channels_.scale = options_.sum.scale;
    of_channels_.by_weight = true;
    of_channels_.out_line = 1;
    of_channels_.out_point = summing_.columns;
    of_channels_.complex_out = true;
    const std::size_t workspace = gpu::weighing_workspace_bytes(of_channels_);
    if (workspace != 0) of_channels_.workspace = keep_room(workspace);
    gpu::prepare_weigh_channels(of_channels_);
  }

  AdaptiveBeamformOptions options_;
  const AdaptiveKind& kind_;
  Backend& backend_;
  std::size_t lead_ = 0;
  gpu::PixelSumming summing_;
  gpu::PixelWeighing weighing_;       // for weights that follow from sums
  gpu::ChannelWeighing of_channels_;  // for weights that need the channels
  gpu::PixelChannels channels_;
  gpu::ChannelSizes sizes_;
  std::vector<Buffer> held_;
};

}  // namespace

std::unique_ptr<Stage> make_adaptive_beamform_cuda(AdaptiveBeamformOptions options, Backend& backend) {
  return std::make_unique<AdaptiveBeamformCuda>(std::move(options), backend);
}

}  // namespace echoform
