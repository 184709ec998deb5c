#include "engines/arrival_map.hpp"

#include <algorithm>

namespace echoform {

void ArrivalMap::clear() noexcept {
  std::fill(states_.begin(), states_.end(), State::missing);
  rest_ = 0;
}

void ArrivalMap::mark(const RowRun& run, State state) noexcept {
  const auto first = states_.begin() + static_cast<std::ptrdiff_t>(run.first);
  std::fill(first, first + static_cast<std::ptrdiff_t>(run.rows), state);
}

void ArrivalMap::put_back(const RowRun& run) noexcept {
  mark(run, State::arrived);
}

RowRun ArrivalMap::arrive(std::size_t first, std::size_t rows) noexcept {
  if (first >= states_.size()) return {};
  const std::size_t last = first + std::min(rows, states_.size() - first);
  for (std::size_t row = first; row < last; ++row) states_[row] = State::arrived;
  std::size_t begin = first;
  std::size_t end = last;
  while (begin > 0 && states_[begin - 1] == State::arrived) --begin;
  while (end < states_.size() && states_[end] == State::arrived) ++end;
  if (end - begin < least_) return {};
  const RowRun run{begin, end - begin};
  mark(run, State::copied);
  return run;
}

RowRun ArrivalMap::take_rest() noexcept {
  std::size_t begin = rest_;
  while (begin < states_.size() && states_[begin] == State::copied) ++begin;
  std::size_t end = begin;
  while (end < states_.size() && states_[end] != State::copied) ++end;
  rest_ = end;
  const RowRun run{begin, end - begin};
  mark(run, State::copied);
  return run;
}

}  // namespace echoform
