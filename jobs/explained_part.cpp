#include "jobs/explained_part.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "operators/arrivals.hpp"

namespace echoform {
namespace {

/// Samples at times at which no sound from the grid arrives.
class Outside {
 public:
  explicit Outside(std::size_t of_all) : every_(1 + of_all / most_kept) {}

  void add(double value) {
    squares_ += value * value;
    // Sound of a few rows takes the same share of the kept samples as of all samples.
    if (count_++ % every_ == 0) kept_.push_back(static_cast<float>(value));
  }
  /// Sum of the squares that are not noise.
  [[nodiscard]] double squares() {
    if (kept_.empty()) return 0.0;
    // The spread is measured about the median, which is no noise.
    const auto half = kept_.begin() + static_cast<std::ptrdiff_t>(kept_.size() / 2);
    std::nth_element(kept_.begin(), half, kept_.end());
    const auto middle = static_cast<double>(*half);
    for (float& value : kept_) value = static_cast<float>(std::pow(static_cast<double>(value) - middle, 2));
    const auto quarter = kept_.begin() + static_cast<std::ptrdiff_t>(kept_.size() / 4);
    std::nth_element(kept_.begin(), quarter, kept_.end());
    // A quarter of the squares of a normal distribution are below this part of their mean.
    constexpr double lower_quartile = 0.10153104426762;
    const double noise = static_cast<double>(*quarter) / lower_quartile;
    return std::max(0.0, squares_ - static_cast<double>(count_) * noise);
  }

 private:
  static constexpr std::size_t most_kept = 1'000'000;
  std::size_t every_;
  std::size_t count_ = 0;
  double squares_ = 0.0;
  std::vector<float> kept_;
};

}  // namespace

ModelBand::ModelBand(Hertz highest, Hertz sample_rate, std::size_t samples, ThreadTeam& team) : samples_(samples), team_(&team) {
  if (highest < 0.5 * sample_rate) filter_.emplace(RowFilter::up_to(highest, sample_rate, samples, team.size()));
  rows_.assign(team.size(), std::vector<float>(samples));
}

double ModelBand::squares(std::span<const float> a, std::span<const float> b) {
  std::vector<double> of_rows(a.size() / samples_);
  team_->for_each(of_rows.size(), 1, [&](std::size_t first, std::size_t last, std::size_t member) {
    std::vector<float>& row = rows_[member];
    for (std::size_t r = first; r < last; ++r) {
      const auto from = a.subspan(r * samples_, samples_);
      std::ranges::copy(from, row.begin());
      if (!b.empty()) {
        for (std::size_t n = 0; n < samples_; ++n) row[n] -= b[r * samples_ + n];
      }
      if (filter_) filter_->apply(row.data(), row.data(), member);
      for (const float value : row) of_rows[r] += static_cast<double>(value) * static_cast<double>(value);
    }
  });
  return std::accumulate(of_rows.begin(), of_rows.end(), 0.0);
}

std::size_t ModelBand::bytes(std::size_t samples, std::size_t threads) {
  FilterOptions like;
  like.kind = FilterKind::band;
  return row_filter_bytes(like, samples, threads) + threads * samples * sizeof(float);
}

SoundFromOutside sound_from_outside(const ModelGeometry& geometry, std::span<const float> rows, Hertz highest,
                                    Metres largest_half_diagonal, const ResponseReach& response) {
  const std::size_t samples = geometry.samples;
  std::optional<RowFilter> filter;
  if (highest < 0.5 * geometry.sample_rate) {
    FilterOptions soft;
    soft.kind = FilterKind::band;
    soft.sample_rate = geometry.sample_rate;
    soft.high = highest;
    soft.skirt = highest;
    filter.emplace(soft, samples, 1);
  }
  // A voxel emits sound from all of its volume, and an element receives with all of its area.
  const Metres of_voxel = 0.5 * std::numbers::sqrt3 * voxel_spacing(geometry.grid);
  const Seconds margin = (of_voxel + largest_half_diagonal) / geometry.velocity + 1.5 / highest;
  Outside before(rows.size());
  Outside after(rows.size());
  double all = 0.0;
  std::vector<float> row(samples);
  for (std::size_t r = 0; r < geometry.detectors.size(); ++r) {
    std::ranges::copy(rows.subspan(r * samples, samples), row.begin());
    if (filter) filter->apply(row.data(), row.data(), 0);
    const Arrivals sound = arrivals_at(geometry, geometry.detectors[r]);
    const Seconds from = sound.first - margin - response.before;
    const Seconds to = sound.last + margin + response.after;
    for (std::size_t n = 0; n < samples; ++n) {
      const auto value = static_cast<double>(row[n]);
      all += value * value;
      const Seconds time = geometry.start_time + static_cast<double>(n) / geometry.sample_rate;
      if (time < from) before.add(value);
      if (time > to) after.add(value);
    }
  }
  if (!(all > 0.0)) return {};
  return {before.squares() / all, after.squares() / all};
}

}  // namespace echoform
