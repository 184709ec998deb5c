#include "stages/beamform/delay_tables.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "cpu/for_each_or_throw.hpp"
#include "stages/beamform/apodization.hpp"
#include "stages/beamform/law_checks.hpp"

namespace echoform::beamform {

const KernelSet& kernels_of(SimdLevel level) {
  switch (level) {
    case SimdLevel::avx512:
      return avx512_kernels;
    case SimdLevel::avx2:
      return avx2_kernels;
    case SimdLevel::portable:
      break;
  }
  return portable_kernels;
}

namespace {

/// Number of pixels of a patch along x and z.
struct PatchShape {
  std::uint32_t x;
  std::uint32_t z;
};

// Square patches have the shortest reach on average: elements see a pixel from all sides.
PatchShape square_patch(std::uint32_t lanes) {
  return lanes == 16 ? PatchShape{4, 4} : PatchShape{4, 2};
}

/// Number of pixels of a tile along x and z.
PatchShape tile_shape(const Grid& grid, std::size_t members) {
  // Large tiles share the window of an A-scan well. Smaller ones serve where threads would otherwise wait for the last tile: with
  // eight tiles per thread this costs a few per cent.
  for (const PatchShape shape : {PatchShape{32, 32}, PatchShape{32, 16}, PatchShape{16, 16}}) {
    const std::size_t tiles = ((grid.x.count + shape.x - 1) / shape.x) * ((grid.z.count + shape.z - 1) / shape.z) * grid.y.count;
    if (tiles >= 8 * members) return shape;
  }
  return {8, 8};
}

Tiling make_tiling(const Grid& grid, std::uint32_t lanes, std::size_t members) {
  const PatchShape shape = square_patch(lanes);
  const PatchShape edge = tile_shape(grid, members);
  const auto nx = static_cast<std::uint32_t>(grid.x.count);
  const auto nz = static_cast<std::uint32_t>(grid.z.count);
  const auto ny = static_cast<std::uint32_t>(grid.y.count);
  Tiling tiling;
  tiling.lanes = lanes;
  for (std::uint32_t iy = 0; iy < ny; ++iy) {
    for (std::uint32_t tz = 0; tz < nz; tz += edge.z) {
      for (std::uint32_t tx = 0; tx < nx; tx += edge.x) {
        Tile tile;
        tile.first_patch = tiling.patches();
        for (std::uint32_t pz = tz; pz < std::min(tz + edge.z, nz); pz += shape.z) {
          for (std::uint32_t px = tx; px < std::min(tx + edge.x, nx); px += shape.x) {
            for (std::uint32_t lane = 0; lane < lanes; ++lane) {
              const std::uint32_t ix = px + lane % shape.x;
              const std::uint32_t iz = pz + lane / shape.x;
              tiling.pixel.push_back(ix < nx && iz < nz ? (iz * ny + iy) * nx + ix : Tiling::outside);
            }
            ++tile.patches;
          }
        }
        tiling.most_patches = std::max(tiling.most_patches, tile.patches);
        tiling.tiles.push_back(tile);
      }
    }
  }
  return tiling;
}

/// Fills in the points of one patch. Lanes outside of the image repeat its first pixel, so that they do not lengthen a window.
void patch_points(const Grid& grid, const Tiling& tiling, std::size_t patch, std::span<Point> points) {
  const std::uint32_t* pixel = tiling.pixel.data() + patch * tiling.lanes;
  for (std::uint32_t lane = 0; lane < tiling.lanes; ++lane) {
    points[lane] = grid.at(pixel[lane] == Tiling::outside ? pixel[0] : pixel[lane]);
  }
}

struct SideRequest {
  const DelayLaw& law;
  const Leg& leg;
  Side side;
  bool weighted;          ///< keep weights even if all are 1
  double samples_offset;  ///< added to every delay of the side
};

class SideBuilder {
 public:
  SideBuilder(const BeamformOptions& options, const Tiling& tiling, const SideRequest& request, Backend& backend)
      : options_(options), tiling_(tiling), request_(request) {
    tables_.sources = static_cast<std::uint32_t>(request.leg.sources());
    const std::size_t entries = tiling.patches() * tables_.sources;
    tables_.offset = backend.allocate(entries * tiling.lanes * sizeof(float), MemoryUse::working);
    if (request.weighted) tables_.weight = backend.allocate(entries * tiling.lanes * sizeof(float), MemoryUse::working);
    tables_.base = backend.allocate(entries * sizeof(std::int32_t), MemoryUse::working);
    tables_.top = backend.allocate(entries * sizeof(std::int32_t), MemoryUse::working);
    tables_.low = backend.allocate(tiling.tiles.size() * tables_.sources * sizeof(std::int32_t), MemoryUse::working);
    tables_.high = backend.allocate(tiling.tiles.size() * tables_.sources * sizeof(std::int32_t), MemoryUse::working);
    window_ = source_window(options.aperture, request.side, tables_.sources);
  }

  LegTables build(ThreadTeam& team) {
    for_each_or_throw(team, tiling_.tiles.size(), 1, [&](std::size_t first, std::size_t last, std::size_t) {
      for (std::size_t tile = first; tile < last; ++tile) fill_tile(tile);
    });
    if (bad_source_ != 0) refuse_times(request_.law, bad_source_ - 1);
    if (far_source_ != 0) refuse_distance(request_.law, far_source_ - 1);
    return std::move(tables_);
  }

 private:
  void fill_tile(std::size_t tile_index) {
    const Tile& tile = tiling_.tiles[tile_index];
    auto* low = static_cast<std::int32_t*>(tables_.low.data()) + tile_index * tables_.sources;
    auto* high = static_cast<std::int32_t*>(tables_.high.data()) + tile_index * tables_.sources;
    std::fill_n(low, tables_.sources, std::numeric_limits<std::int32_t>::max() / 4);
    std::fill_n(high, tables_.sources, std::numeric_limits<std::int32_t>::min() / 4);
    for (std::size_t patch = tile.first_patch; patch < tile.first_patch + tile.patches; ++patch) {
      std::array<Point, 16> points;
      patch_points(options_.grid, tiling_, patch, std::span(points).first(tiling_.lanes));
      for (std::uint32_t source = 0; source < tables_.sources; ++source) {
        const std::size_t entry = patch * tables_.sources + source;
        const std::int32_t base = fill_entry(entry, source, std::span<const Point>(points).first(tiling_.lanes));
        if (base == inactive) continue;
        low[source] = std::min(low[source], base);
        high[source] = std::max(high[source], base + static_cast<std::int32_t*>(tables_.top.data())[entry]);
      }
    }
  }

  /// Fills one entry (patch, source) and returns its base.
  std::int32_t fill_entry(std::size_t entry, std::uint32_t source, std::span<const Point> points) {
    const std::uint32_t lanes = tiling_.lanes;
    std::array<double, 16> delay{};
    std::array<float, 16> weight{};
    weight.fill(1.0F);
    request_.leg.travel_times(source, points, std::span(delay).first(lanes));
    if (!window_.empty()) {
      element_weights(options_.aperture, request_.side, request_.leg, source, window_[source], points,
                      std::span(weight).first(lanes));
    }
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    bool active = !request_.weighted;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      if (std::isnan(delay[lane])) {
        weight[lane] = 0.0F;
        continue;
      }
      if (!(std::abs(delay[lane]) < 1.0)) {
        bad_source_ = source + 1;
        delay[lane] = 0.0;
      }
      delay[lane] = delay[lane] * options_.sample_rate.value + request_.samples_offset;
      if (!(std::abs(delay[lane]) < delay_limit)) {
        far_source_ = source + 1;
        delay[lane] = 0.0;
      }
      if (weight[lane] == 0.0F) continue;
      active = true;
      least = std::min(least, delay[lane]);
      most = std::max(most, delay[lane]);
    }
    if (!std::isfinite(least)) {
      least = most = 0.0;
      active = false;
    }
    const double whole = std::floor(least);
    const auto base = active ? static_cast<std::int32_t>(whole) : inactive;
    auto* offset = static_cast<float*>(tables_.offset.data()) + entry * lanes;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      // Lanes of weight 0 read the patch's first sample.
      offset[lane] = weight[lane] == 0.0F ? 0.0F : static_cast<float>(delay[lane] - whole);
      if (request_.weighted) static_cast<float*>(tables_.weight.data())[entry * lanes + lane] = weight[lane];
    }
    static_cast<std::int32_t*>(tables_.base.data())[entry] = base;
    static_cast<std::int32_t*>(tables_.top.data())[entry] = static_cast<std::int32_t>(std::ceil(most - whole));
    return base;
  }

  const BeamformOptions& options_;
  const Tiling& tiling_;
  SideRequest request_;
  LegTables tables_;
  std::vector<double> window_;
  std::atomic<std::uint32_t> bad_source_{0};
  std::atomic<std::uint32_t> far_source_{0};
};

/// The maximum reach of any source of a leg in any patch of the tile, and the bounds over all sources.
struct Reach {
  std::int32_t top = 0;
  std::int64_t low = std::numeric_limits<std::int32_t>::max();
  std::int64_t high = std::numeric_limits<std::int32_t>::min();
};

Reach reach_of(const LegTables& tables, const Tile& tile) {
  Reach reach;
  const std::size_t first = tile.first_patch * tables.sources;
  const std::size_t last = first + std::size_t{tile.patches} * tables.sources;
  const auto* base = static_cast<const std::int32_t*>(tables.base.data());
  const auto* top = static_cast<const std::int32_t*>(tables.top.data());
  for (std::size_t entry = first; entry < last; ++entry) {
    if (base[entry] == inactive) continue;
    reach.top = std::max(reach.top, top[entry]);
    reach.low = std::min<std::int64_t>(reach.low, base[entry]);
    reach.high = std::max<std::int64_t>(reach.high, std::int64_t{base[entry]} + top[entry]);
  }
  return reach;
}

void choose_kernels(DelayTables& tables, const KernelSet& kernels, std::size_t samples) {
  for (Tile& tile : tables.tiling.tiles) {
    const Reach outer = reach_of(tables.transmit, tile);
    const Reach inner = reach_of(tables.inner(), tile);
    const std::int32_t reach = outer.top + inner.top;
    tile.window = reach <= kernels.narrow_reach ? Window::narrow : reach <= kernels.wide_reach ? Window::wide : Window::gather;
    tile.checked = outer.low + inner.low < 0 || outer.high + inner.high > static_cast<std::int64_t>(samples) - 2;
  }
}

std::size_t over(std::size_t count, std::size_t of) {
  return (count + of - 1) / of;
}

}  // namespace

std::size_t tile_sum_floats(std::uint32_t most_patches, std::uint32_t lanes) {
  return (std::size_t{2} * most_patches * lanes + 15) / 16 * 16;
}

std::uint32_t most_patches_of(const Grid& grid, std::uint32_t lanes, std::size_t members) {
  const PatchShape shape = square_patch(lanes);
  const PatchShape edge = tile_shape(grid, members);
  return static_cast<std::uint32_t>(over(std::min<std::size_t>(edge.x, grid.x.count), shape.x) *
                                    over(std::min<std::size_t>(edge.z, grid.z.count), shape.z));
}

std::size_t delay_table_bytes(const BeamformOptions& options, std::uint32_t lanes, std::size_t members) {
  const PatchShape shape = square_patch(lanes);
  const PatchShape edge = tile_shape(options.grid, members);
  const Grid& grid = options.grid;
  const std::size_t patches = over(grid.x.count, shape.x) * over(grid.z.count, shape.z) * grid.y.count;
  const std::size_t tiles = over(grid.x.count, edge.x) * over(grid.z.count, edge.z) * grid.y.count;
  const std::size_t sources = options.pairs.events + (options.alike_both_ways() ? 0 : options.pairs.receivers);
  const std::size_t numbers = has_weights(options.aperture) ? 2 : 1;  // numbers per lane
  const std::size_t of_entry = numbers * lanes * sizeof(float) + 2 * sizeof(std::int32_t);
  return sources * (patches * of_entry + tiles * 2 * sizeof(std::int32_t)) + patches * lanes * sizeof(std::uint32_t);
}

DelayTables make_delay_tables(const BeamformOptions& options, const KernelSet& kernels, Backend& backend, ThreadTeam& team) {
  const DelayLaw& law = options.law;
  check_directivity(options);
  DelayTables tables;
  tables.tiling = make_tiling(options.grid, kernels.lanes, team.size());
  tables.shared = options.alike_both_ways();
  tables.weighted = has_weights(options.aperture) || has_invalid_times(law, options.grid, team);
  const double offset = half_delay_offset(options);
  const auto build = [&](const Leg& leg, Side side) {
    return SideBuilder(options, tables.tiling, {law, leg, side, tables.weighted, offset}, backend).build(team);
  };
  tables.transmit = build(*law.transmit, Side::transmit);
  if (!tables.shared) tables.receive = build(*law.receive, Side::receive);
  choose_kernels(tables, kernels, options.gate.count);
  return tables;
}

}  // namespace echoform::beamform
