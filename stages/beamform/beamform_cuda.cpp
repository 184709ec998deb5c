#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/beamform/lookup_blocks.hpp"
#include "stages/beamform/ray_tiles.hpp"
#include "stages/beamform/tile_kernels.hpp"
#include "stages/beamform/tile_plan.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

/// Tables of delays and weights on the device. They are uploaded while they are made.
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

  void begin_places(std::size_t entries) override {
    places_ = backend_.allocate(entries * sizeof(beamform::TurnedPlace), MemoryUse::working);
  }
  void add_places(std::size_t first, std::span<const beamform::TurnedPlace> places) override {
    copy_now(places_.bytes_begin() + first * sizeof(beamform::TurnedPlace), places.data(), places.size_bytes());
  }

  /// Puts the addresses of a side's tables into `side`; tables that were not made leave it unchanged.
  void put(beamform::TileSideName name, beamform::TileSide& side) const {
    const Tables& tables = of(name);
    if (tables.delays) side.delays = static_cast<const std::uint32_t*>(tables.delays.data());
    if (tables.weights) side.weights = static_cast<const float*>(tables.weights.data());
    if (name == beamform::TileSideName::transmit && places_)
      side.places = static_cast<const beamform::TurnedPlace*>(places_.data());
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t sum = places_.size();
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
  Buffer places_;  ///< for waves of revolution of the transmit side
};

/// Bytes of a sample of the rows, on either path.
constexpr std::size_t element_bytes = 8;

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
    launches_.clear();
    held_.clear();
    tables_.reset();
    bytes_ = 0;
    rays_ = beamform::make_ray_tiles(request, backend_);
    if (rays_) rays_->build();
    if (!rays_) tables_.emplace(backend_);
    const beamform::TilePlan tiles = rays_ ? rays_->plan() : beamform::make_tile_plan(request, team, &*tables_);
    tiles_ = tiles.tiles();
    launch_.kind = tiles.kind;
    launch_.half = half;
    launch_.nearest = options_.interpolation == Interpolation::nearest;
    launch_.analytic = tiles.analytic;
    launch_.plane = tiles.plane;
    launch_.turned = tiles.turned;
    launch_.points = tiles.points;
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
      if (!tiles.one_side) {
        launch_.receive = upload(tiles.receive);
        tables_->put(beamform::TileSideName::receive, launch_.receive);
      }
    }
    launch_.scale = options_.scale * tiles.scale;
    launch_.nx = static_cast<std::uint32_t>(options_.grid.x.count);
    launch_.nz = static_cast<std::uint32_t>(options_.grid.z.count);
    launch_.ny = static_cast<std::uint32_t>(options_.grid.y.count);
    launch_.tiles_x = tiles.tiles_x;
    launch_.tiles_z = tiles.tiles_z;
    launch_.checked = upload(tiles.checked);
    parted_ = tiles.parted;
    blocks_ = beamform::lookup_blocks(options_.pairs, options_.alike_both_ways());
    listed_ = tiles.order == beamform::PairOrder::listed;
    if (listed_) hold_listed();
    // With parts, the first part may be looked up in one go, and others in both directions, one after the other.
    partials_ = parted_ && !options_.pairs.summed ? 2 : 1;
    most_ = {};
    for (const beamform::LookupBlock& block : blocks_) {
      partials_ = std::max<std::size_t>(partials_, blocks_.size() * splits(launch_of(block)));
      most_ = {std::max(most_.transmit, block.outer.count), std::max(most_.receive, block.inner.count)};
    }
    if (partials_ > 1) launch_.partial = static_cast<float*>(hold(partials_ * options_.grid.pixels() * 2 * sizeof(float)));
    make_launches();
    for (const beamform::TileLaunch& launch : launches_) prepare_tiles(launch);
    if (parted_) prepare_for_parts();
    return beamform_output(options_.grid);
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      beamform::TileLaunch& launch = launches_[k];
      launch.rows = input.as<std::byte>() + blocks_[k].row * input_.row_stride * element_bytes;
      launch.image = output.as<float>();
      if (launch.half) {
        launch.factor = reinterpret_cast<const float*>(input.as<std::byte>() + input_.bytes() - input_.trailer);
      }
    }
    if (parted_ || listed_) note_capture(gpu::stream_of(queue));
    launch_tiles(launches_, gpu::stream_of(queue));
  }

  /// Accepts other parts, or other listed pairs, among the same number of rows: the tables hold every source, whichever sources
  /// are looked up. It refuses once launches are captured, since these keep their parts or pairs.
  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    const auto& wanted = options.as<BeamformOptions>();
    validate(wanted);
    BeamformOptions with_own = wanted;
    with_own.pairs.lookups = options_.pairs.lookups;
    if (captured_ || !(with_own == options_)) return false;
    if (listed_) {
      const auto reversed = [](const PairRun& run) { return run.reversed; };
      if (wanted.pairs.lookups.empty() || std::ranges::any_of(wanted.pairs.lookups, reversed)) return false;
      static_cast<void>(beamform::list_lookups(wanted.pairs, shape_of(launch_.kind).pairs));  // refuses what retune() cannot
      return true;
    }
    if (!parted_) return false;
    const auto blocks = beamform::lookup_blocks(wanted.pairs, wanted.alike_both_ways());
    return blocks.size() <= partials_ && std::ranges::all_of(blocks, [&](const beamform::LookupBlock& block) {
             const bool computed = block.order == beamform::PairOrder::ordered_full && !block.reversed;
             return block.outer.count <= most_.transmit && block.inner.count <= most_.receive && (!launch_.plane || computed);
           });
  }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_.pairs.lookups = options.get<BeamformOptions>()->pairs.lookups;
    if (listed_) {
      // A copy from pageable memory has read its source when the call returns.
      list(beamform::list_lookups(options_.pairs, shape_of(launch_.kind).pairs),
           [stream = gpu::stream_of(queue)](void* to, const void* from, std::size_t bytes) {
             ECHOFORM_CUDA_QUEUED(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
           });
      make_launches();
      return;
    }
    blocks_ = beamform::lookup_blocks(options_.pairs, options_.alike_both_ways());
    make_launches();
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

  /// A launch for one block of lookups, except for the places of its rows and its result.
  [[nodiscard]] beamform::TileLaunch launch_of(const beamform::LookupBlock& block) const {
    beamform::TileLaunch launch = launch_;
    const beamform::TileShape shape = shape_of(launch.kind);
    const std::size_t pixels = std::size_t{shape.x} * shape.z;
    launch.transmit = part_of(block.reversed ? launch_.receive : launch_.transmit, block.outer, pixels);
    launch.receive = part_of(block.reversed ? launch_.transmit : launch_.receive, block.inner, pixels);
    launch.sources = block.outer.count;
    launch.receivers = block.inner.count;
    launch.separate = launch.sources != launch.receivers || launch.transmit.tabled != launch.receive.tabled;
    launch.order = block.order;
    launch.separate = launch.separate || launch.order == beamform::PairOrder::listed;
    launch.once_weight = block.once_weight;
    return launch;
  }
  /// Allocates memory for the groups of any pairs with the same number of rows, and fills in the groups of the options' pairs.
  void hold_listed() {
    const std::uint32_t pairs = shape_of(launch_.kind).pairs;
    const std::size_t most = beamform::most_listed_groups(options_.pairs, pairs);
    listed_groups_ = static_cast<std::uint32_t*>(hold(most * 2 * sizeof(std::uint32_t)));
    listed_rows_ = static_cast<std::uint32_t*>(hold(most * pairs * pairs * sizeof(std::uint32_t)));
    list(beamform::list_lookups(options_.pairs, pairs), copy_now);
  }
  template <class Copy>
  void list(const beamform::ListedLookups& lookups, const Copy& copy) {
    copy(listed_groups_, lookups.groups.data(), lookups.groups.size() * sizeof(std::uint32_t));
    copy(listed_rows_, lookups.rows.data(), lookups.rows.size() * sizeof(std::uint32_t));
    launch_.listed = {listed_groups_, listed_rows_, static_cast<std::uint32_t>(lookups.count())};
  }
  void note_capture(cudaStream_t stream) noexcept {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    ECHOFORM_CUDA_QUEUED(cudaStreamIsCapturing(stream, &status));
    captured_ = captured_ || status != cudaStreamCaptureStatusNone;
  }
  void make_launches() {
    launches_.clear();
    for (const beamform::LookupBlock& block : blocks_) {
      beamform::TileLaunch& launch = launches_.emplace_back(launch_of(block));
      launch.splits = std::min(splits(launch), static_cast<std::uint32_t>(partials_ / blocks_.size()));
    }
  }
  /// Prepares the kernels of the parts that may follow. The last part may be shorter than those before.
  void prepare_for_parts() const {
    beamform::TileLaunch launch = launch_of({{0, most_.transmit}, {0, most_.receive}, 0});
    for (const bool separate : {false, true}) {
      launch.separate = separate;
      prepare_tiles(launch);
    }
  }

  [[nodiscard]] std::uint32_t splits(const beamform::TileLaunch& launch) const {
    const beamform::TileKind kind = launch.kind;
    const std::size_t groups = launch.order == beamform::PairOrder::listed ? launch.listed.count
                               : kind == beamform::TileKind::gather
                                   ? launch.sources
                                   : beamform::group_count(sources_of(launch), shape_of(kind).pairs, launch.order);
    const std::size_t shared = beamform::tile_shared_bytes(kind, launch.analytic, launch.half, sources_of(launch),
                                                           launch.order == beamform::PairOrder::once);
    const beamform::SharedMemory device{device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
                                        device_attribute(cudaDevAttrReservedSharedMemoryPerBlock)};
    const std::size_t resident =
        device_attribute(cudaDevAttrMultiProcessorCount) * beamform::resident_blocks(kind, shared, device);
    return beamform::split_count(tiles_, groups, resident);
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
    return {upload(tables.windows), upload(tables.forms),  upload(tables.phases),
            upload(tables.x),       upload(tables.z),      upload(tables.delays),
            upload(tables.weights), upload(tables.places), static_cast<std::uint32_t>(tables.windows.size() / tiles_)};
  }

  BeamformOptions options_;
  Backend& backend_;
  std::optional<beamform::TileKind> kind_;
  BlockSpec input_;
  beamform::TileLaunch launch_;  ///< for all sources
  std::vector<beamform::LookupBlock> blocks_;
  std::vector<beamform::TileLaunch> launches_;  ///< one per block
  bool parted_ = false;                         ///< TilePlan::parted
  bool listed_ = false;                         ///< PairOrder::listed
  std::uint32_t* listed_groups_ = nullptr;      ///< on the device
  std::uint32_t* listed_rows_ = nullptr;
  bool captured_ = false;
  beamform::SourceCounts most_;  ///< maximum of all blocks
  std::size_t tiles_ = 0;
  std::size_t partials_ = 1;  ///< capacity in partial images
  std::vector<Buffer> held_;
  std::optional<DeviceTables> tables_;        ///< for laws whose delays the host finds
  std::unique_ptr<beamform::RayTiles> rays_;  ///< set where the device finds the delays itself
  std::size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Stage> make_beamform_cuda(BeamformOptions options, Backend& backend, std::optional<beamform::TileKind> kind) {
  return std::make_unique<BeamformCuda>(std::move(options), backend, kind);
}

}  // namespace echoform
