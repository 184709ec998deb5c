#include "stages/back_projection/brick_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace echoform::projection {
namespace {

// Number of blocks that run simultaneously on a GPU of 132 multiprocessors.
constexpr double wanted_blocks = 528.0;
/// Memory for windows and detectors, such that four blocks share a multiprocessor.
constexpr std::size_t most_shared_bytes = std::size_t{40} << 10;
constexpr std::size_t bytes_of_detector = 32;
constexpr std::size_t bytes_of_sample = 8;  // value and slope
constexpr std::uint32_t most_batch = 32;
constexpr std::uint32_t least_of_group = 16;
constexpr std::size_t most_sums_bytes = std::size_t{256} << 20;
// The maximum distance from a detector, in samples, for which windows are counted in single precision.
constexpr double farthest = 1 << 20;

/// Distances of neighbours and numbers of voxels, for the axes in their order.
struct Lattice {
  std::array<double, 3> spacing{};  // samples
  std::array<double, 3> count{};
};

double length_of(double a, double b, double c) {
  return std::sqrt(a * a + b * b + c * c);
}

/// Distance from a brick's middle to its corners, in samples.
double half_diagonal(const BrickPlan& plan, const Lattice& lattice) {
  const auto reach = [&](std::size_t k) { return 0.5 * (plan.side(k) - 1) * lattice.spacing[k]; };
  return length_of(reach(0), reach(1), reach(2));
}

/// The extent of the samples that a half warp looks up. They are read at once if there are no more than 16.
double half_warp_reach(const BrickPlan& plan, const Lattice& lattice) {
  double left = 16.0;
  std::array<double, 3> reach{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double here = std::min<double>(plan.lanes[k], left);
    left /= here;
    reach[k] = (here - 1.0) * lattice.spacing[k];
  }
  return length_of(reach[0], reach[1], reach[2]);
}

/// Approximate number of clocks of a multiprocessor for all bricks and one detector: four instructions per clock, or the rate of
/// shared memory.
double cost_of(const BrickPlan& plan, const BackProjectionOptions& options, const Lattice& lattice) {
  const double a_pair = options.law == ProjectionLaw::constant ? 9.0 : 14.0;
  constexpr double a_detector = 12.0;
  constexpr double a_window = 50.0;
  constexpr double a_window_part = 10.0;
  const double window = 2.0 * std::ceil(half_diagonal(plan, lattice) + 2.0);
  const double instructions =
      brick_warps * (plan.depth * a_pair + a_detector) + a_window + a_window_part * std::ceil(window / 32.0);
  const double reads = 2.0 * brick_warps * plan.depth * std::max(1.0, half_warp_reach(plan, lattice) / 16.0);
  const double blocks = plan.all_bricks();
  const double groups =
      std::min(std::floor(wanted_blocks / blocks), static_cast<double>(options.detectors->size()) / least_of_group);
  const double at_work = std::min(1.0, blocks * std::max(1.0, groups) / wanted_blocks);
  // Sums are written once, 32 bytes at a time. Threads side by side along x fill only their own part of these.
  const double writes =
      brick_warps * plan.depth * 8.0 / std::min<double>(plan.lanes[0], 8.0) / static_cast<double>(options.detectors->size());
  return blocks * (std::max(instructions / 4.0, reads) + writes) / at_work;
}

/// Approximate time in seconds that a GPU takes for all bricks, `groups` times, each with an equal part of the detectors. Blocks
/// run in waves of as many as fit simultaneously, and the last wave may be nearly empty. Sums of groups are written, read and
/// added.
double seconds_of(const BrickPlan& plan, const BackProjectionOptions& options, std::uint32_t groups) {
  const double pairs_per_second = options.law == ProjectionLaw::constant ? 2.5e12 : 1.6e12;
  constexpr double bytes_per_second = 2.5e12;
  constexpr double of_a_wave = 2e-6;  // time for the wave's first window
  constexpr double of_a_launch = 4e-6;
  const double waves = std::ceil(plan.all_bricks() * static_cast<double>(groups) / wanted_blocks);
  const double part = static_cast<double>(options.detectors->size()) / groups;
  const double seconds = waves * (wanted_blocks * brick_threads * plan.depth * part / pairs_per_second + of_a_wave);
  if (groups == 1) return seconds;
  const double values = (options.normalise ? 2.0 : 1.0) * static_cast<double>(options.grid.pixels());
  return seconds + sizeof(float) * values * (2.0 * groups + 1.0) / bytes_per_second + of_a_launch;
}

void share_out_detectors(BrickPlan& plan, const BackProjectionOptions& options) {
  const auto detectors = static_cast<std::uint32_t>(options.detectors->size());
  const auto size_of = [&](std::uint32_t groups) { return (detectors + groups - 1) / groups; };
  double least = std::numeric_limits<double>::infinity();
  std::uint32_t best = 1;
  for (std::uint32_t groups = 1; groups <= std::max(1U, detectors / least_of_group) && groups <= wanted_blocks; ++groups) {
    plan.groups = groups;
    if (plan.sums_bytes(options) > most_sums_bytes) break;
    const double seconds = seconds_of(plan, options, groups);
    if (!(seconds < least)) continue;
    least = seconds;
    best = groups;
  }
  plan.group_size = size_of(best);
  plan.groups = (detectors + plan.group_size - 1) / plan.group_size;
}

std::uint32_t blocks_along(double count, std::uint32_t side) {
  return static_cast<std::uint32_t>(std::ceil(count / side));
}

template <class Take>
void for_factors(std::uint32_t product, const Take& take) {
  for (std::uint32_t first = 1; first <= product; first *= 2) {
    for (std::uint32_t second = 1; first * second <= product; second *= 2) {
      take(std::array<std::uint32_t, 3>{first, second, product / first / second});
    }
  }
}

/// An upper bound of the distance from the farthest detector to the farthest corner.
double farthest_of(const BackProjectionOptions& options, const FlatFrame& frame, const Lattice& lattice) {
  const double corner = length_of(lattice.spacing[0] * lattice.count[0], lattice.spacing[1] * lattice.count[1],
                                  lattice.spacing[2] * lattice.count[2]);
  double most = 0.0;
  for (const ProjectionDetector& detector : *options.detectors) {
    const Point& at = detector.centre;
    const double distance = length_of(frame.place(at, 0), frame.place(at, 1), frame.place(at, 2));
    // The condition also holds for a NaN.
    if (!(distance <= most)) most = distance;
  }
  return most + corner;
}

}  // namespace

std::size_t BrickPlan::shared_bytes() const {
  return batch * (bytes_of_detector + 2 * half_window * bytes_of_sample);
}

std::size_t BrickPlan::detector_bytes(const BackProjectionOptions& options) const {
  return options.detectors->size() * sizeof(FlatDetector);
}

std::size_t BrickPlan::sums_bytes(const BackProjectionOptions& options) const {
  if (groups < 2) return 0;
  return (options.normalise ? 2 : 1) * groups * options.grid.pixels() * sizeof(float);
}

BrickPlan plan_bricks(const BackProjectionOptions& options) {
  BrickPlan best;
  const auto axes = axes_of(options.grid);
  // Threads have several voxels along z, or along y if the image lies in a plane of one z.
  if (axes[2]->count < shallow && axes[1]->count > axes[2]->count) std::swap(best.order[1], best.order[2]);
  const FlatFrame frame = flat_frame(options, best.order);
  Lattice lattice;
  for (std::size_t k = 0; k < 3; ++k) {
    const Axis& axis = *axes[frame.of(static_cast<int>(k))];
    lattice.spacing[k] = axis.spacing().value * frame.samples_per_metre;
    lattice.count[k] = static_cast<double>(axis.count);
  }
  double least = std::numeric_limits<double>::infinity();
  for_factors(32, [&](const std::array<std::uint32_t, 3>& lanes) {
    for_factors(brick_warps, [&](const std::array<std::uint32_t, 3>& warps) {
      for (const std::uint32_t depth : {shallow, deep}) {
        BrickPlan plan = best;
        plan.lanes = lanes;
        plan.warps = warps;
        plan.depth = depth;
        for (std::size_t k = 0; k < 3; ++k) plan.bricks[k] = blocks_along(lattice.count[k], plan.side(k));
        const double cost = cost_of(plan, options, lattice);
        if (!(cost < least)) continue;
        least = cost;
        best = plan;
      }
    });
  });
  // If places are NaN, there is no minimum cost.
  for (std::size_t k = 0; k < 3; ++k) best.bricks[k] = blocks_along(lattice.count[k], best.side(k));
  const double way = farthest_of(options, frame, lattice) + std::abs(static_cast<double>(flat_start(options)));
  // The window's middle is a whole sample next to the time of the brick's middle, half a sample off at most. No voxel's time is
  // farther from the time of the brick's middle than half the diagonal. So, with u counted from the window's middle, |u| <=
  // half_diagonal + 0.5. The entry floor(u) is read, of -half to half - 1, so `half` would suffice with half_diagonal + 0.5. The
  // additional sample is for rounding:
  // - The rounding of path lengths is 1e-6 of them.
  // - Squares are given relative to that of the middle of a thread's voxels, D < half away, and are rounded to 4 x 2^-24 (d +
  // D)^2: 5e-4 D, a quarter of a sample at most, where the voxel's own distance d is negligible.
  const double half = std::ceil(half_diagonal(best, lattice) + 1.5 + 1e-6 * way);
  if (!options.inclusion && way <= farthest && half <= most_half_window) {
    // Warps fill windows in steps of 32 samples.
    best.half_window = (static_cast<std::uint32_t>(half) + 15) / 16 * 16;
    const std::size_t each = bytes_of_detector + 2 * best.half_window * bytes_of_sample;
    best.batch = std::clamp(static_cast<std::uint32_t>(most_shared_bytes / each), 1U, most_batch);
  } else if (best.depth != shallow) {
    best.depth = shallow;
    best.bricks[2] = blocks_along(lattice.count[2], best.side(2));
  }
  share_out_detectors(best, options);
  return best;
}

}  // namespace echoform::projection
