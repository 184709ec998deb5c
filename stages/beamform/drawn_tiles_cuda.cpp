#include "stages/beamform/drawn_tiles.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "delay_laws/over_sources.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/cuda_check.hpp"
#include "stages/beamform/ray_across_math.hpp"
#include "stages/beamform/tile_side.hpp"

namespace echoform::beamform {

DrawnTiles::DrawnTiles(const DrawnRays& rays, const LegRays& of_leg, Backend& backend)
    : rays_(rays), of_leg_(of_leg), backend_(backend), asked_(backend.allocate(sizeof(std::uint32_t), MemoryUse::readback)) {}

void DrawnTiles::fill(RayTileTask task, const Grid& grid, const TileShape& shape, cudaStream_t stream) {
  const std::size_t pixels = std::size_t{shape.x} * shape.z;
  std::uint32_t rows = 0;
  while (true) {
    task.asked = room_for(pixels);
    launch_ray_tiles(task, rays_, stream);
    ECHOFORM_CUDA(cudaMemcpyAsync(asked_.data(), &task.flags->asked, sizeof(rows), cudaMemcpyDeviceToHost, stream));
    ECHOFORM_CUDA(cudaMemsetAsync(&task.flags->asked, 0, sizeof(rows), stream));
    ECHOFORM_CUDA(cudaStreamSynchronize(stream));
    std::memcpy(&rows, asked_.data(), sizeof(rows));
    if (rows <= task.asked.most) break;
    entries_ = backend_.allocate(rows * sizeof(std::uint64_t), MemoryUse::working);
    times_ = backend_.allocate(rows * pixels * sizeof(double), MemoryUse::working);
  }
  if (rows == 0) return;
  ask(task, rows, grid, shape);
  launch_asked_rows(task, rows, stream);
}

AskedRows DrawnTiles::room_for(std::size_t pixels) {
  const std::size_t rows = std::min(entries_.size() / sizeof(std::uint64_t), times_.size() / (pixels * sizeof(double)));
  return {static_cast<std::uint32_t>(rows), static_cast<std::uint64_t*>(entries_.data()), static_cast<double*>(times_.data())};
}

void DrawnTiles::ask(const RayTileTask& task, std::uint32_t count, const Grid& grid, const TileShape& shape) const {
  const std::size_t pixels = std::size_t{shape.x} * shape.z;
  std::vector<std::uint64_t> entries(count);
  std::vector<double> times(count * pixels);
  copy_now(entries.data(), task.asked.entries, entries.size() * sizeof(std::uint64_t));
  copy_now(times.data(), task.asked.times, times.size() * sizeof(double));
  over_sources(count, 0, [&](std::size_t row) {
    const TilePlace tile = place_of(grid, shape, entries[row] / task.sources);
    const auto found = std::span(times).subspan(row * pixels, pixels);
    std::vector<Point> asked;
    for (std::size_t k = 0; k < pixels; ++k) {
      if (is_asked(found[k]))
        asked.push_back(of_leg_.pixels.place(grid, tile_pixel(grid, shape, tile, static_cast<std::uint32_t>(k))));
    }
    std::vector<double> seconds(asked.size());
    const std::size_t source = entries[row] % task.sources;
    of_leg_.field->times(source, source + 1, asked, seconds);
    auto next = seconds.begin();
    for (double& time : found) {
      if (is_asked(time)) time = *next++;
    }
  });
  copy_now(task.asked.times, times.data(), times.size() * sizeof(double));
}

}  // namespace echoform::beamform
