#include <fmt/format.h>

#include <array>
#include <span>

#include "base/errors.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/beamform/ray_tiles.hpp"
#include "stages/beamform/tile_kernels.hpp"
#include "stages/beamform/tile_plan.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

/// Tables of delays and weights on the device, filled as they are made.
class DeviceTables final : public beamform::TileTableStore {
 public:
  explicit DeviceTables(Backend& backend) : backend_(backend) {}

  void begin(beamform::TileSideName side, std::size_t entries, bool weighted) override {
    Tables& tables = of(side);
    tables.delays = backend_.allocate(entries * sizeof(std::uint32_t), MemoryUse::working);
    if (weighted) tables.weights = backend_.allocate(entries * sizeof(float), MemoryUse::working);
  }
  void add(beamform::TileSideName side, std::size_t first, std::span<const std::uint32_t> delays,
           std::span<const float> weights) override {
    const Tables& tables = of(side);
    copy_now(tables.delays.bytes_begin() + first * sizeof(std::uint32_t), delays.data(), delays.size_bytes());
    if (!weights.empty()) copy_now(tables.weights.bytes_begin() + first * sizeof(float), weights.data(), weights.size_bytes());
  }

  /// Of a side; as they are where none were made.
  void put(beamform::TileSideName name, beamform::TileSide& side) const {
    const Tables& tables = of(name);
    if (tables.delays) side.delays = static_cast<const std::uint32_t*>(tables.delays.data());
    if (tables.weights) side.weights = static_cast<const float*>(tables.weights.data());
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (const Tables& tables : tables_) sum += tables.delays.size() + tables.weights.size();
    return sum;
  }

 private:
  struct Tables {
    Buffer delays;
    Buffer weights;
  };
  [[nodiscard]] Tables& of(beamform::TileSideName side) { return tables_[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const Tables& of(beamform::TileSideName side) const { return tables_[static_cast<std::size_t>(side)]; }

  Backend& backend_;
  std::array<Tables, 2> tables_;
};

class BeamformCuda final : public Stage {
 public:
  BeamformCuda(BeamformOptions options, Backend& backend, std::optional<beamform::TileKind> kind)
      : options_(std::move(options)), backend_(backend), kind_(kind) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("beamform");
    check(input);
    input_ = input;
    ThreadTeam team(0);
    const bool half = input.type == ElementType::complex_half_slope;
    const beamform::TilePlanRequest request{options_, half, device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin), kind_};
    launch_ = {};
    held_.clear();
    tables_.reset();
    bytes_ = 0;
    rays_ = beamform::make_ray_tiles(request, backend_);
    if (rays_) rays_->build();
    if (!rays_) tables_.emplace(backend_);
    const beamform::TilePlan tiles = rays_ ? rays_->plan() : beamform::make_tile_plan(request, team, &*tables_);
    launch_.kind = tiles.kind;
    launch_.half = half;
    launch_.nearest = options_.interpolation == Interpolation::nearest;
    launch_.analytic = tiles.analytic;
    launch_.plane = tiles.plane;
    launch_.order = tiles.order;
    launch_.row_stride = static_cast<std::uint32_t>(input.row_stride);
    launch_.samples = static_cast<std::int32_t>(input.columns);
    if (rays_) {
      launch_.transmit = rays_->transmit();
      launch_.receive = rays_->receive();
    } else {
      launch_.transmit = upload(tiles.transmit);
      tables_->put(beamform::TileSideName::transmit, launch_.transmit);
      launch_.receive = launch_.transmit;
      if (tiles.order != beamform::PairOrder::once) {
        launch_.receive = upload(tiles.receive);
        tables_->put(beamform::TileSideName::receive, launch_.receive);
      }
    }
    const beamform::SourceCounts sources = beamform::source_counts(options_);
    launch_.sources = sources.transmit;
    launch_.receivers = sources.receive;
    launch_.separate = sources.transmit != sources.receive;
    launch_.once_weight = tiles.once_weight;
    launch_.scale = options_.scale * tiles.scale;
    launch_.nx = static_cast<std::uint32_t>(options_.grid.x.count);
    launch_.nz = static_cast<std::uint32_t>(options_.grid.z.count);
    launch_.ny = static_cast<std::uint32_t>(options_.grid.y.count);
    launch_.tiles_x = tiles.tiles_x;
    launch_.tiles_z = tiles.tiles_z;
    launch_.checked = upload(tiles.checked);
    launch_.splits = splits(tiles);
    if (launch_.splits > 1) {
      launch_.partial = static_cast<float*>(hold(launch_.splits * options_.grid.pixels() * 2 * sizeof(float)));
    }
    prepare_tiles(launch_);

    return beamform_output(options_.grid);
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    beamform::TileLaunch launch = launch_;
    launch.rows = input[0].data;
    launch.image = output.as<float>();
    if (launch.half) {
      launch.factor = reinterpret_cast<const float*>(input.as<std::byte>() + input_.bytes() - input_.trailer);
    }
    launch_tiles(launch, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return bytes_ + (tables_ ? tables_->bytes() : 0) + (rays_ ? rays_->bytes() : 0);
  }

 private:
  void check(const BlockSpec& input) const {
    require_block(input, "beamform", {ElementType::complex64, ElementType::complex_half_slope});
    const std::size_t rows = options_.pairs.rows + options_.rows_behind;
    if (input.rows != rows || input.columns != options_.gate.count) {
      throw InputError("beamform stage, input A-scans", fmt::format("{} of {} samples", input.rows, input.columns),
                       fmt::format("{} of {}", rows, options_.gate.count));
    }
    if (input.lead != beamform::row_margin || input.row_stride < input.columns + beamform::row_margin ||
        input.row_stride % 2 != 0) {
      throw InputError(
          "beamform stage, zeros around the input's rows",
          fmt::format("{} before the first, rows of {} every {}", input.lead, input.columns, input.row_stride),
          fmt::format("{} before the first and at least as many behind each, an even distance", beamform::row_margin));
    }
    if (input.type == ElementType::complex_half_slope && input.trailer < sizeof(float)) {
      throw InputError("beamform stage, input trailer", "none", "the factor to amplitude");
    }
  }

  [[nodiscard]] std::uint32_t splits(const beamform::TilePlan& tiles) const {
    const beamform::TileKind kind = launch_.kind;
    const std::size_t groups = kind == beamform::TileKind::gather
                                   ? launch_.sources
                                   : beamform::group_count(sources_of(launch_), shape_of(kind).pairs, launch_.order);
    const std::size_t shared = beamform::tile_shared_bytes(kind, launch_.analytic, launch_.half, sources_of(launch_),
                                                           launch_.order == beamform::PairOrder::once);
    const beamform::SharedMemory device{device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
                                        device_attribute(cudaDevAttrReservedSharedMemoryPerBlock)};
    const std::size_t resident =
        device_attribute(cudaDevAttrMultiProcessorCount) * beamform::resident_blocks(kind, shared, device);
    return beamform::split_count(tiles.tiles(), groups, resident);
  }
  [[nodiscard]] static std::size_t device_attribute(cudaDeviceAttr attribute) {
    int device = 0;
    int value = 0;
    ECHOFORM_CUDA(cudaGetDevice(&device));
    ECHOFORM_CUDA(cudaDeviceGetAttribute(&value, attribute, device));
    return static_cast<std::size_t>(value);
  }

  void* hold(std::size_t bytes) {
    held_.push_back(backend_.allocate(bytes, MemoryUse::working));
    bytes_ += bytes;
    return held_.back().data();
  }
  template <class T>
  const T* upload(const std::vector<T>& table) {
    if (table.empty()) return nullptr;
    void* const place = hold(table.size() * sizeof(T));
    copy_now(place, table.data(), table.size() * sizeof(T));
    return static_cast<const T*>(place);
  }
  beamform::TileSide upload(const beamform::TileSideTables& tables) {
    return {upload(tables.windows), upload(tables.forms),  upload(tables.phases), upload(tables.x),
            upload(tables.z),       upload(tables.delays), upload(tables.weights)};
  }

  const BeamformOptions options_;
  Backend& backend_;
  std::optional<beamform::TileKind> kind_;
  BlockSpec input_;
  beamform::TileLaunch launch_;
  std::vector<Buffer> held_;
  std::optional<DeviceTables> tables_;        ///< of laws whose delays the host finds
  std::unique_ptr<beamform::RayTiles> rays_;  ///< where the device finds the delays itself
  std::size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Stage> make_beamform_cuda(BeamformOptions options, Backend& backend, std::optional<beamform::TileKind> kind) {
  return std::make_unique<BeamformCuda>(std::move(options), backend, kind);
}

}  // namespace echoform
