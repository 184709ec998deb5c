// Measurements in turn. A machine that others use too, or that its own load warms, is not equally fast all the time: what is
// compared is measured alternately, and ratios are those of measurements that stand next to each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/statistics.hpp"

namespace echoform::benchmarks {

/// What was measured, by name and round, and in which order.
class Turns {
 public:
  /// `value` is the next measurement of `name`.
  void add(std::string_view name, double value) {
    order_.emplace_back(name);
    const auto found = std::find(names_.begin(), names_.end(), name);
    const auto place = static_cast<std::size_t>(found - names_.begin());
    if (found == names_.end()) {
      names_.emplace_back(name);
      values_.emplace_back();
    }
    values_[place].push_back(value);
  }

  /// Names, as they were measured one after the other.
  [[nodiscard]] const std::vector<std::string>& order() const { return order_; }
  /// Each name once, in the order of the first round.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Round by round. std::out_of_range for a name that was not measured.
  [[nodiscard]] const std::vector<double>& values(std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) throw std::out_of_range("no turn of " + std::string(name));
    return values_[static_cast<std::size_t>(found - names_.begin())];
  }
  [[nodiscard]] Spread spread(std::string_view name) const { return spread_of(values(name)); }
  /// `name` over `of`, both of the same round.
  [[nodiscard]] Spread ratio(std::string_view name, std::string_view of) const {
    const std::vector<double>& above = values(name);
    const std::vector<double>& below = values(of);
    std::vector<double> ratios;
    for (std::size_t round = 0; round < std::min(above.size(), below.size()); ++round) {
      ratios.push_back(above[round] / below[round]);
    }
    return spread_of(std::move(ratios));
  }

 private:
  std::vector<std::string> order_;
  std::vector<std::string> names_;
  std::vector<std::vector<double>> values_;
};

/// One of the things that take turns.
struct Turn {
  std::string name;
  std::function<double()> measure;
};

/// All of `turns` once a round for `rounds` rounds (at least one), in their order and, every second round, backwards: none
/// always follows the same other. `before` is called with each round's number.
[[nodiscard]] inline Turns take_turns(std::size_t rounds, const std::vector<Turn>& turns,
                                      const std::function<void(std::size_t round)>& before = {}) {
  Turns taken;
  for (std::size_t round = 0; round < std::max<std::size_t>(1, rounds); ++round) {
    if (before) before(round);
    for (std::size_t k = 0; k < turns.size(); ++k) {
      const Turn& turn = turns[round % 2 == 0 ? k : turns.size() - 1 - k];
      taken.add(turn.name, turn.measure());
    }
  }
  return taken;
}

}  // namespace echoform::benchmarks
