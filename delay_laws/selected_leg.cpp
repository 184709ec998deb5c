#include "delay_laws/selected_leg.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "base/errors.hpp"
#include "rays/ray_field.hpp"

namespace echoform {
namespace {

class SelectedDepartures final : public Departures {
 public:
  SelectedDepartures(const Departures& departures, const std::vector<std::uint32_t>& sources)
      : departures_(departures), sources_(sources) {}

  [[nodiscard]] MetresPerSecond velocity() const noexcept override { return departures_.velocity(); }
  void cosines(std::size_t source, std::span<const Point> pixels, std::span<double> cosines) const override {
    departures_.cosines(sources_[source], pixels, cosines);
  }

 private:
  const Departures& departures_;
  const std::vector<std::uint32_t>& sources_;
};

class SelectedLeg final : public Leg {
 public:
  SelectedLeg(std::shared_ptr<const Leg> leg, std::vector<std::uint32_t> sources)
      : leg_(std::move(leg)), sources_(std::move(sources)) {
    if (const Departures* departures = leg_->departures()) departures_.emplace(*departures, sources_);
  }

  [[nodiscard]] std::optional<Selection> selection() const override { return Selection{leg_.get(), sources_}; }
  [[nodiscard]] std::size_t sources() const noexcept override { return sources_.size(); }
  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    leg_->travel_times(sources_[source], pixels, seconds);
  }
  [[nodiscard]] std::optional<PointSourceForm> point_source(std::size_t source) const override {
    return leg_->point_source(sources_[source]);
  }
  [[nodiscard]] std::optional<PlaneWaveForm> plane_wave(std::size_t source) const override {
    return leg_->plane_wave(sources_[source]);
  }
  [[nodiscard]] std::optional<RevolvedForm> revolved(std::size_t source) const override {
    return leg_->revolved(sources_[source]);
  }
  [[nodiscard]] std::optional<PointSourceForm> point_source_on(std::size_t source, const Grid& grid) const override {
    return leg_->point_source_on(sources_[source], grid);
  }
  [[nodiscard]] std::optional<PlaneWaveForm> plane_wave_on(std::size_t source, const Grid& grid) const override {
    return leg_->plane_wave_on(sources_[source], grid);
  }
  [[nodiscard]] bool reaches_nothing(std::size_t source) const override { return leg_->reaches_nothing(sources_[source]); }
  [[nodiscard]] const Departures* departures() const override { return departures_ ? &*departures_ : nullptr; }

  [[nodiscard]] std::shared_ptr<const Leg> tabulated(const Grid& grid, std::size_t threads, Seconds tolerance,
                                                     bool with_departures) const override {
    auto table = leg_->tabulated(grid, threads, tolerance, with_departures);
    return table ? select_sources(std::move(table), sources_) : nullptr;
  }
  [[nodiscard]] std::size_t table_bytes(const Grid& grid, bool with_departures) const override {
    return leg_->table_bytes(grid, with_departures);
  }

  [[nodiscard]] const LegRays* rays(const Grid& grid) const override {
    const LegRays* const all = leg_->rays(grid);
    if (all == nullptr) return nullptr;
    // A table belongs to one grid, so there is one answer.
    std::call_once(made_, [&] {
      std::vector<Point> origins;
      for (const std::uint32_t source : sources_) origins.push_back(all->field->sources()[source]);
      rays_ = {make_ray_field(all->field->path(), std::move(origins)), all->pixels, all->found};
    });
    return &rays_;
  }

 private:
  std::shared_ptr<const Leg> leg_;
  std::vector<std::uint32_t> sources_;
  std::optional<SelectedDepartures> departures_;
  mutable std::once_flag made_;
  mutable LegRays rays_;
};

}  // namespace

std::shared_ptr<const Leg> select_sources(std::shared_ptr<const Leg> leg, std::vector<std::uint32_t> sources) {
  bool all = sources.size() == leg->sources();
  for (std::size_t k = 0; k < sources.size(); ++k) {
    if (sources[k] >= leg->sources()) {
      throw InputError("delay law, transmit event", fmt::format("source {}", sources[k]),
                       fmt::format("one below {}", leg->sources()));
    }
    all = all && sources[k] == k;
  }
  if (all) return leg;
  return std::make_shared<SelectedLeg>(std::move(leg), std::move(sources));
}

}  // namespace echoform
