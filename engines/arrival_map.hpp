// Which rows of a frame are on their way to the device while the others still arrive. Shots are gathered into copies that
// are long enough to run at the full rate of the bus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace echoform {

struct RowRun {
  std::size_t first = 0;
  std::size_t rows = 0;
};

/// The arrivals of one slot. Not thread-safe. Allocates at construction only.
class ArrivalMap {
 public:
  ArrivalMap() = default;
  /// Runs of fewer than `least` rows (at least 1) wait for their neighbours.
  ArrivalMap(std::size_t rows, std::size_t least) : states_(rows, State::missing), least_(least) {}

  /// Forgets the frame: all rows are missing.
  void clear() noexcept;
  /// Notes that these rows are in place. Returns what is to be copied now: the arrived rows around them that were not
  /// copied yet, or no rows if these are too few.
  [[nodiscard]] RowRun arrive(std::size_t first, std::size_t rows) noexcept;
  /// These rows, which arrive() returned, were not copied after all. Call it before take_rest().
  void put_back(const RowRun& run) noexcept;
  /// The next run of rows that was not copied yet, whether the rows arrived or not. `rows` is 0 once all are copied.
  [[nodiscard]] RowRun take_rest() noexcept;

 private:
  enum class State : std::uint8_t { missing, arrived, copied };
  void mark(const RowRun& run, State state) noexcept;

  std::vector<State> states_;
  std::size_t least_ = 1;
  std::size_t rest_ = 0;  // rows below are copied
};

}  // namespace echoform
