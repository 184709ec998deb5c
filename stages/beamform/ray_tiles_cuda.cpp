#include "stages/beamform/ray_tiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "base/errors.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/stream.hpp"
#include "stages/beamform/apodization.hpp"
#include "stages/beamform/drawn_tiles.hpp"
#include "stages/beamform/law_checks.hpp"
#include "stages/beamform/ray_tile_kernels.hpp"
#include "stages/beamform/shaded_rays.hpp"

namespace echoform::beamform {
namespace {

/// Whether the form holds for all pixels: the planes of layers have a limited extent.
bool covers(const rays::FieldForm& form, const Grid& grid) {
  if (!form.layers) return true;
  const rays::LayerForm& layers = *form.layers;
  const auto within = [&](double along) { return along >= layers.low && along <= layers.high; };
  for (const Metres x : {grid.x.first, grid.x.last}) {
    for (const Metres y : {grid.y.first, grid.y.last}) {
      for (const Metres z : {grid.z.first, grid.z.last}) {
        if (!within(dot(Vector3{x.value, y.value, z.value}, layers.tangent))) return false;
      }
    }
  }
  return std::all_of(layers.sources.begin(), layers.sources.end(), [&](const auto& source) { return within(source.along); });
}

/// Whether all rays stay in the plane of a curve's sources.
bool flat(const rays::CurveForm& form, const Grid& grid) {
  const auto in_plane = [&](double across) { return across == grid.y.first.value; };
  return form.axes == SurfaceAxes{} && grid.y.count == 1 && std::all_of(form.across.begin(), form.across.end(), in_plane);
}

/// The form of a leg's rays, where the device can find the rays.
std::optional<rays::FieldForm> form_of(const Leg& leg, const Grid& grid) {
  const LegRays* const found = leg.rays(grid);
  if (found == nullptr) return std::nullopt;
  auto form = found->field->form();
  if (!form || !covers(*form, grid)) return std::nullopt;
  if (form->curve && form->curve->shades && !flat(*form->curve, grid)) return std::nullopt;
  return form;
}

class RayTilesCuda final : public RayTiles {
 public:
  RayTilesCuda(const TilePlanRequest& request, rays::FieldForm transmit, std::optional<rays::FieldForm> receive, Backend& backend)
      : request_(request), backend_(backend), stream_(gpu::make_stream()), kinds_(candidates(request)) {
    const Grid& grid = request.options.grid;
    set_order(request, plan_);
    prepare_ray_tiles(request.shared_limit);
    const auto centres = [&](const Axis& axis) {
      std::vector<double> places(axis.count);
      for (std::size_t k = 0; k < places.size(); ++k) places[k] = axis.at(k).value;
      return upload(places);
    };
    x_ = centres(grid.x);
    y_ = centres(grid.y);
    z_ = centres(grid.z);
    flags_ = static_cast<RayTileFlags*>(hold(sizeof(RayTileFlags)));
    found_flags_ = backend.allocate(sizeof(RayTileFlags), MemoryUse::readback);
    const DelayLaw& law = request.options.law;
    sides_.push_back(side_of(*law.transmit, transmit));
    if (!plan_.one_side) sides_.push_back(side_of(*law.receive, receive ? *receive : transmit));
  }

  void build() override {
    // Only its windows show whether a kind fits. The kind that fitted last will usually fit again.
    std::vector<TileKind> kinds = kinds_;
    std::stable_partition(kinds.begin(), kinds.end(), [&](TileKind kind) { return kind == built_; });
    for (const TileKind kind : kinds) {
      if (tile_shared_bytes(kind, false, request_.half, counts(), plan_.order == PairOrder::once) > request_.shared_limit)
        continue;
      set_shape(request_.options.grid, kind, plan_);
      if (!fill(kind)) continue;
      built_ = kind;
      return;
    }
    throw InputError("beamform stage, delay law " + request_.options.law.view,
                     "pixels whose delays lie too far apart for its tiles", "a finer grid, or a lower sample rate");
  }

  [[nodiscard]] const TilePlan& plan() const noexcept override { return plan_; }
  [[nodiscard]] TileSide transmit() const noexcept override { return sides_.front().tables(weighted_); }
  [[nodiscard]] TileSide receive() const noexcept override { return sides_.back().tables(weighted_); }
  [[nodiscard]] std::size_t bytes() const noexcept override {
    std::size_t bytes = bytes_;
    for (const Side& side : sides_) {
      bytes += side.windows.size() + side.delays.size() + side.weights.size() + (side.drawn ? side.drawn->bytes() : 0);
    }
    return bytes;
  }

 private:
  struct Side {
    std::uint32_t sources = 0;
    const PartSide* sides = nullptr;
    const MovedPixel* moved = nullptr;
    std::uint32_t moved_count = 0;
    bool some_outside = false;
    std::optional<LayerRays> layers;
    std::optional<CurveRays> curve;
    std::optional<ShadedRays> shaded;
    std::optional<DrawnTiles> drawn;
    Buffer windows;
    Buffer delays;
    Buffer weights;
    Buffer found;  ///< windows, on the host

    [[nodiscard]] TileSide tables(bool weighted) const {
      TileSide side;
      side.windows = static_cast<const SourceWindow*>(windows.data());
      side.delays = static_cast<const std::uint32_t*>(delays.data());
      side.weights = weighted ? static_cast<const float*>(weights.data()) : nullptr;
      side.tabled = sources;
      return side;
    }
  };

  [[nodiscard]] SourceCounts counts() const { return source_counts(request_.options); }

  Side side_of(const Leg& leg, const rays::FieldForm& form) {
    Side side;
    side.sources = static_cast<std::uint32_t>(leg.sources());
    const LegRays* const rays = leg.rays(request_.options.grid);
    const PartPixels& pixels = rays->pixels;
    side.some_outside = std::ranges::find(pixels.sides, PartSide::outside) != pixels.sides.end();
    if (side.some_outside || !pixels.moved.empty()) side.sides = upload(pixels.sides);
    if (!pixels.moved.empty()) {
      std::vector<MovedPixel> moved;
      for (const auto& [pixel, place] : pixels.moved) moved.push_back({pixel, place.x.value, place.y.value, place.z.value});
      side.moved = upload(moved);
      side.moved_count = static_cast<std::uint32_t>(moved.size());
    }
    if (form.layers) {
      const rays::LayerForm& from = *form.layers;
      side.layers = LayerRays{from.tangent, from.across, from.normal, from.depth, from.leaves, from.slow, upload(from.sources)};
    } else {
      const rays::CurveForm& from = *form.curve;
      const CurveRays curve{static_cast<std::uint32_t>(from.nodes.size()),
                            upload(from.nodes),
                            upload(from.pieces),
                            upload(from.slopes),
                            from.point_slowness,
                            from.before,
                            from.after,
                            from.sides,
                            upload(from.sources)};
      if (from.shades) {
        side.shaded = ShadedRays{
            curve, shaded_curve(from, curve.nodes, curve.pieces, upload(from.shades->pieces), upload(from.shades->groups))};
      } else if (flat(from, request_.options.grid)) {
        side.curve = curve;
      } else {
        const bool along_y = from.axes.x.y == 0.0 && from.axes.z.y == 0.0;
        side.drawn.emplace(DrawnRays{curve, from.axes, along_y, upload(from.reaches), upload(from.across)}, *rays, backend_);
      }
    }
    return side;
  }

  /// Makes the tables of `kind`. Returns false if its windows do not hold the samples that the tiles reach.
  bool fill(TileKind kind) {
    const bool may_be_invalid =
        weighted_ || std::any_of(sides_.begin(), sides_.end(), [](const Side& side) { return side.some_outside; });
    weighted_ = may_be_invalid;
    if (!run(kind)) return false;
    const RayTileFlags flags = found_flags();
    if (flags.invalid != 0 && !weighted_) {
      weighted_ = true;
      return run(kind);
    }
    weighted_ = flags.invalid != 0;
    return true;
  }

  bool run(TileKind kind) {
    const TileShape shape = shape_of(kind);
    const std::size_t pixels = std::size_t{shape.x} * shape.z;
    ECHOFORM_CUDA(cudaMemsetAsync(flags_, 0, sizeof(RayTileFlags), stream_.get()));
    for (Side& side : sides_) {
      const std::size_t entries = plan_.tiles() * side.sources;
      need(side.windows, entries * sizeof(SourceWindow), MemoryUse::working);
      need(side.found, entries * sizeof(SourceWindow), MemoryUse::readback);
      need(side.delays, entries * pixels * sizeof(std::uint32_t), MemoryUse::working);
      if (weighted_) need(side.weights, entries * pixels * sizeof(float), MemoryUse::working);
      const RayTileTask task = task_of(side, shape);
      if (side.layers) {
        launch_ray_tiles(task, *side.layers, stream_.get());
      } else if (side.curve) {
        launch_ray_tiles(task, *side.curve, stream_.get());
      } else if (side.shaded) {
        launch_ray_tiles(task, *side.shaded, stream_.get());
      } else {
        side.drawn->fill(task, request_.options.grid, shape, stream_.get());
      }
      ECHOFORM_CUDA(cudaMemcpyAsync(side.found.data(), side.windows.data(), entries * sizeof(SourceWindow),
                                    cudaMemcpyDeviceToHost, stream_.get()));
    }
    ECHOFORM_CUDA(cudaMemcpyAsync(found_flags_.data(), flags_, sizeof(RayTileFlags), cudaMemcpyDeviceToHost, stream_.get()));
    ECHOFORM_CUDA(cudaStreamSynchronize(stream_.get()));
    const RayTileFlags flags = found_flags();
    const DelayLaw& law = request_.options.law;
    if (flags.bad_source != 0) refuse_times(law, flags.bad_source - 1);
    if (flags.far_source != 0) refuse_distance(law, flags.far_source - 1);
    const auto windows_of = [&](const Side& side) {
      const auto* const first = static_cast<const SourceWindow*>(side.found.data());
      return std::vector<SourceWindow>(first, first + plan_.tiles() * side.sources);
    };
    const std::vector<SourceWindow> transmit = windows_of(sides_.front());
    const std::vector<SourceWindow> receive = sides_.size() > 1 ? windows_of(sides_.back()) : std::vector<SourceWindow>{};
    const std::vector<SourceWindow>& other = sides_.size() > 1 ? receive : transmit;
    if (!fits(shape, transmit, other, counts())) return false;
    plan_.checked = find_checked(transmit, other, counts(), request_.options.gate.count);
    return true;
  }

  [[nodiscard]] RayTileTask task_of(const Side& side, const TileShape& shape) const {
    RayTileTask task;
    task.x = x_;
    task.y = y_;
    task.z = z_;
    task.sides = side.sides;
    task.moved = side.moved;
    task.moved_count = side.moved_count;
    task.nx = static_cast<std::uint32_t>(request_.options.grid.x.count);
    task.ny = static_cast<std::uint32_t>(request_.options.grid.y.count);
    task.nz = static_cast<std::uint32_t>(request_.options.grid.z.count);
    task.tiles_x = plan_.tiles_x;
    task.tiles_z = plan_.tiles_z;
    task.tiles = static_cast<std::uint32_t>(plan_.tiles());
    task.shape_x = shape.x;
    task.shape_z = shape.z;
    task.sources = side.sources;
    task.rate = request_.options.sample_rate.value;
    task.offset = delay_offset(request_);
    task.unit = std::ldexp(1.0, 32 - static_cast<int>(shape.index_bits));
    task.windows = static_cast<SourceWindow*>(side.windows.data());
    task.delays = static_cast<std::uint32_t*>(side.delays.data());
    task.weights = weighted_ ? static_cast<float*>(side.weights.data()) : nullptr;
    task.flags = flags_;
    return task;
  }

  [[nodiscard]] RayTileFlags found_flags() const {
    RayTileFlags flags{};
    std::memcpy(&flags, found_flags_.data(), sizeof flags);
    return flags;
  }

  void need(Buffer& buffer, std::size_t bytes, MemoryUse use) {
    if (buffer.size() < bytes) buffer = backend_.allocate(bytes, use);
  }
  void* hold(std::size_t bytes) {
    held_.push_back(backend_.allocate(bytes, MemoryUse::working));
    bytes_ += bytes;
    return held_.back().data();
  }
  template <class T>
  const T* upload(const std::vector<T>& table) {
    void* const place = hold(table.size() * sizeof(T));
    copy_now(place, table.data(), table.size() * sizeof(T));
    return static_cast<const T*>(place);
  }

  const TilePlanRequest request_;
  Backend& backend_;
  gpu::Stream stream_;
  std::vector<TileKind> kinds_;
  std::optional<TileKind> built_;
  TilePlan plan_;
  bool weighted_ = false;
  std::vector<Side> sides_;
  const double* x_ = nullptr;
  const double* y_ = nullptr;
  const double* z_ = nullptr;
  RayTileFlags* flags_ = nullptr;
  Buffer found_flags_;
  std::vector<Buffer> held_;
  std::size_t bytes_ = 0;
};

/// Whether the shared memory of a block suffices for the curve's nodes.
bool holds(const std::optional<rays::FieldForm>& form, const Grid& grid, std::size_t shared_limit) {
  if (!form || !form->curve) return true;
  RayTileTask task;
  task.shape_x = 32;
  task.shape_z = 16;
  const auto nodes = static_cast<std::uint32_t>(form->curve->nodes.size());
  return (flat(*form->curve, grid) ? curve_tile_bytes(task, nodes) : drawn_tile_bytes(task, nodes)) <= shared_limit;
}

}  // namespace

std::unique_ptr<RayTiles> make_ray_tiles(const TilePlanRequest& request, Backend& backend) {
  const BeamformOptions& options = request.options;
  const DelayLaw& law = options.law;
  check_directivity(options);
  if (has_weights(options.aperture)) return nullptr;
  auto transmit = form_of(*law.transmit, options.grid);
  if (!transmit) return nullptr;
  std::optional<rays::FieldForm> receive;
  if (law.receive != law.transmit) {
    receive = form_of(*law.receive, options.grid);
    if (!receive) return nullptr;
  }
  for (const auto& form : {std::cref(transmit), std::cref(receive)}) {
    if (!holds(form, options.grid, request.shared_limit)) return nullptr;
  }
  return std::make_unique<RayTilesCuda>(request, std::move(*transmit), std::move(receive), backend);
}

}  // namespace echoform::beamform
