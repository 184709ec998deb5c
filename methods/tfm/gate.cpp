#include "methods/tfm/gate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "delay_laws/leg_bounds.hpp"
#include "methods/tfm/element_roles.hpp"

namespace echoform {
namespace {

constexpr std::size_t first_step = 8;
constexpr std::size_t count_step = 16;
constexpr double fused_surplus = 1.12;
// The lengths that the GPU's own transform takes (stages/analytic_signal/fused_hilbert.hpp).
constexpr std::size_t fused_shortest = 256;
constexpr std::size_t fused_longest = 8192;

bool smooth(std::size_t length) {
  for (const std::size_t factor : {2, 3, 5}) {
    while (length % factor == 0) length /= factor;
  }
  return length == 1;
}

/// The smallest of 1, 3 or 5 times a power of two that is at least `needed`.
std::size_t fused_length(std::size_t needed) {
  std::size_t best = std::numeric_limits<std::size_t>::max();
  for (const std::size_t odd : {std::size_t{1}, std::size_t{3}, std::size_t{5}}) {
    best = std::min(best, odd * std::max(count_step, std::bit_ceil((needed + odd - 1) / odd)));
  }
  return best;
}

/// Smallest and greatest of the bounds of these elements.
TimeRange bounds_over(const std::vector<bool>& elements, const std::vector<TimeRange>& bounds) {
  TimeRange all{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (std::size_t source = 0; source < bounds.size(); ++source) {
    if (!elements[source] || bounds[source].empty()) continue;
    all.least = std::min(all.least, bounds[source].least);
    all.greatest = std::max(all.greatest, bounds[source].greatest);
  }
  return all;
}

}  // namespace

std::size_t gate_length(std::size_t needed) {
  const std::size_t fused = fused_length(needed);
  const bool takes = fused >= fused_shortest && fused <= fused_longest;
  if (takes && static_cast<double>(fused) <= fused_surplus * static_cast<double>(needed)) return fused;
  std::size_t length = (std::max<std::size_t>(needed, 1) + count_step - 1) / count_step * count_step;
  while (!smooth(length)) length += count_step;
  return length;
}

std::optional<SampleReach> samples_reached(const ImagingPlan& plan) {
  std::optional<SampleReach> of_all;
  for (const PositionPlan& position : plan.positions) {
    const auto reach = samples_reached(*position.plan);
    if (!reach) continue;
    of_all = of_all ? SampleReach{std::min(of_all->first, reach->first), std::max(of_all->last, reach->last)} : *reach;
  }
  if (!plan.positions.empty()) return of_all;
  double earliest = std::numeric_limits<double>::infinity();
  double latest = -earliest;
  const ElementRoles living = living_roles(plan.acquisition, plan.events);
  for (const DelayLaw& law : plan.laws) {
    const std::vector<TimeRange> out = leg_bounds(*law.transmit, plan.grid);
    const TimeRange transmit = bounds_over(living.transmit, out);
    const TimeRange receive = bounds_over(living.receive, law.reciprocal() ? out : leg_bounds(*law.receive, plan.grid));
    if (transmit.empty() || receive.empty()) continue;
    earliest = std::min(earliest, transmit.least + receive.least);
    latest = std::max(latest, transmit.greatest + receive.greatest);
  }
  if (!(earliest <= latest)) return std::nullopt;
  const double zero = (plan.acquisition.start_time - plan.acquisition.time_offset).value;
  const double rate = plan.acquisition.sample_rate.value;
  return SampleReach{std::floor((earliest - zero) * rate), std::floor((latest - zero) * rate) + 1.0};
}

std::optional<SampleGate> choose_gate(const ImagingPlan& plan, std::size_t guard, std::size_t muted) {
  const Acquisition& acquisition = plan.acquisition;
  const std::optional<SampleGate> all = muted > 0 ? std::optional(SampleGate{muted, acquisition.samples - muted}) : std::nullopt;
  const auto samples = static_cast<double>(acquisition.samples);
  const double margin = static_cast<double>(guard);
  const auto reach = samples_reached(plan);
  if (!reach || !(reach->first < samples && reach->last >= 0.0)) return all;
  const auto begin = std::max(muted, static_cast<std::size_t>(std::max(0.0, reach->first - margin)) / first_step * first_step);
  const auto end = static_cast<std::size_t>(std::min(samples, reach->last + margin + 1.0));

  if (end <= begin) return all;
  for (std::size_t count = gate_length(end - begin); count < acquisition.samples - muted; count = gate_length(count + 1)) {
    // Where the A-scan ends too early, the gate begins earlier. Because that is rounded down, the gate may then end too early; if
    // so, it grows.
    const std::size_t first = std::min(begin, (acquisition.samples - count) / first_step * first_step);
    if (first >= muted && first + count >= end) return SampleGate{first, count};
  }
  return all;
}

}  // namespace echoform
