// Which rows of a frame are on their way to the device while the others still arrive: shots are gathered into copies that are
// long enough to run at the bus' full rate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace echoform {

struct RowRun {
  std::size_t first = 0;
  std::size_t rows = 0;
};

/// Of one slot. Not thread-safe; allocates at construction only.
class ArrivalMap {
 public:
  ArrivalMap() = default;
  /// Runs of fewer than `least` rows (at least 1) wait for their neighbours.
  ArrivalMap(std::size_t rows, std::size_t least) : states_(rows, State::missing), least_(least) {}

  /// Forgets the frame.
  void clear() noexcept;
  /// Notes that these rows are in place. What is to be copied now: the arrived rows around them that were not copied yet, or
  /// none if they are too few.
  [[nodiscard]] RowRun arrive(std::size_t first, std::size_t rows) noexcept;
  /// These rows, told by arrive(), were not copied after all; before take_rest().
  void put_back(const RowRun& run) noexcept;
  /// Of all rows, arrived or not, the next run that was not copied yet; rows == 0: all are copied.
  [[nodiscard]] RowRun take_rest() noexcept;

 private:
  enum class State : std::uint8_t { missing, arrived, copied };
  void mark(const RowRun& run, State state) noexcept;

  std::vector<State> states_;
  std::size_t least_ = 1;
  std::size_t rest_ = 0;  // rows below are copied
};

}  // namespace echoform
