// Signals that receivers get from scatterers, as spikes on the fine grid, and the events that are made of them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cpu/thread_team.hpp"
#include "simulators/echo_model.hpp"
#include "simulators/scatterer_synthesis.hpp"
#include "simulators/scatterer_workspace.hpp"

namespace echoform {

std::vector<ScattererSynthesis::Legs> ScattererSynthesis::legs_to(std::span<const Scatterer> scatterers,
                                                                  std::size_t threads) const {
  std::vector<Legs> legs(probe_.elements.size());
  for (Legs& leg : legs) {
    leg.times.resize(scatterers.size());
    leg.factors.resize(scatterers.size());
  }
  const double to_parts = static_cast<double>(finer_) * static_cast<double>(1U << part_bits_);
  const double farthest = static_cast<double>(std::int32_t{1} << 29);  // so that sums of two do not overflow
  ThreadTeam team(threads, "echoform-sim");
  team.for_each(legs.size(), 1, [&](std::size_t begin, std::size_t end, std::size_t /*member*/) {
    for (std::size_t e = begin; e < end; ++e) {
      const Element& element = probe_.elements[e];
      for (std::size_t s = 0; s < scatterers.size(); ++s) {
        const Point& place = scatterers[s].place;
        const double dx = (place.x - element.centre.x).value;
        const double dy = (place.y - element.centre.y).value;
        const double dz = (place.z - element.centre.z).value;
        const double way = std::sqrt(dx * dx + dy * dy + dz * dz);
        const double time =
            way / options_.velocity.value * rate_ * to_parts - half_start_ * static_cast<double>(1U << part_bits_);
        const double directivity = options_.directivity ? element_directivity(element, place, wavelength_) : 1.0;
        legs[e].times[s] = static_cast<std::int32_t>(std::lround(std::clamp(time, -farthest, farthest)));
        legs[e].factors[s] = static_cast<float>(directivity * spreading_factor(options_.spreading, Metres(way), wavelength_));
      }
    }
  });
  return legs;
}

void ScattererSynthesis::add_spikes(const Legs& transmit, const Legs& receive, std::span<const float> reflectivities,
                                    double delay, float weight, std::span<float> grid) const {
  const auto later =
      static_cast<std::int32_t>(std::lround(delay * rate_ * static_cast<double>(finer_) * static_cast<double>(1U << part_bits_)));
  const auto last = static_cast<std::uint32_t>(grid.size() - 1);
  const std::int32_t below = (std::int32_t{1} << part_bits_) - 1;
  const float part = 1.0F / static_cast<float>(1U << part_bits_);
  const std::int32_t* const out = transmit.times.data();
  const std::int32_t* const back = receive.times.data();
  for (std::size_t s = 0; s < reflectivities.size(); ++s) {
    const std::int32_t time = out[s] + back[s] + later;
    const auto step = static_cast<std::uint32_t>(time >> part_bits_);  // a step before the grid counts as one far behind it
    if (step >= last) continue;
    const float amplitude = weight * transmit.factors[s] * receive.factors[s] * reflectivities[s];
    const float upper = amplitude * part * static_cast<float>(time & below);
    grid[step] += amplitude - upper;
    grid[step + 1] += upper;
  }
}

void ScattererSynthesis::add(std::span<const Scatterer> scatterers, std::span<float> frame, std::size_t threads) const {
  if (scatterers.empty()) return;
  // Sorting by distance makes spikes of neighbours neighbours in memory.
  std::vector<Scatterer> sorted(scatterers.begin(), scatterers.end());
  std::ranges::sort(sorted, {}, [](const Scatterer& scatterer) { return scatterer.place.z.value; });
  std::vector<float> reflectivities;
  for (const Scatterer& scatterer : sorted) reflectivities.push_back(static_cast<float>(scatterer.reflectivity));
  const std::vector<Legs> legs = legs_to(sorted, threads);

  ThreadTeam team(threads, "echoform-sim");
  const std::size_t elements = probe_.elements.size();
  struct Member {
    Workspace work;
    std::vector<float> re, im;  // [element, bin]
  };
  std::vector<Member> members;
  members.reserve(team.size());
  for (std::size_t k = 0; k < team.size(); ++k) {
    members.push_back({Workspace(*this), std::vector<float>(elements * bins_), std::vector<float>(elements * bins_)});
  }
  team.for_each(rows_of_.size(), 1, [&](std::size_t begin, std::size_t end, std::size_t member) {
    auto& [work, re, im] = members[member];
    const auto of = [&](std::vector<float>& spectra, std::size_t element) {
      return std::span(spectra).subspan(element * bins_, bins_);
    };
    for (std::size_t receiver = begin; receiver < end; ++receiver) {
      for (const std::uint32_t element : fires_[receiver]) {
        const std::span<float> grid(work.grid.get(), length_ * finer_);
        std::ranges::fill(grid, 0.0F);
        add_spikes(legs[element], legs[receiver], reflectivities, 0.0, 1.0F, grid);
        to_spectrum(work, of(re, element), of(im, element));
      }
      for (const Row& row : rows_of_[receiver]) {
        std::ranges::fill(work.sum_re, 0.0F);
        std::ranges::fill(work.sum_im, 0.0F);
        for (const Firing& firing : firings_[row.event]) {
          add_delayed(of(re, firing.element), of(im, firing.element), firing.delay, firing.weight, work);
        }
        add_signal(work, frame.subspan(row.row * samples_, samples_));
      }
    }
  });
}

void ScattererSynthesis::add_event(std::size_t event, std::span<const Scatterer> scatterers, std::span<float> frame) const {
  if (scatterers.empty()) return;
  std::vector<float> reflectivities;
  for (const Scatterer& scatterer : scatterers) reflectivities.push_back(static_cast<float>(scatterer.reflectivity));
  const std::vector<Legs> legs = legs_to(scatterers, 1);
  Workspace work(*this);
  std::vector<float> re(bins_);
  std::vector<float> im(bins_);
  for (std::size_t receiver = 0; receiver < rows_of_.size(); ++receiver) {
    for (const Row& row : rows_of_[receiver]) {
      if (row.event != event) continue;
      const std::span<float> grid(work.grid.get(), length_ * finer_);
      std::ranges::fill(grid, 0.0F);
      for (const Firing& firing : firings_[event]) {
        add_spikes(legs[firing.element], legs[receiver], reflectivities, firing.delay, static_cast<float>(firing.weight), grid);
      }
      to_spectrum(work, re, im);
      std::ranges::fill(work.sum_re, 0.0F);
      std::ranges::fill(work.sum_im, 0.0F);
      add_delayed(re, im, 0.0, 1.0, work);
      add_signal(work, frame.subspan(row.row * samples_, samples_));
    }
  }
}

}  // namespace echoform
