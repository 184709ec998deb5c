// Arithmetic on long vectors of float for solvers: shared by a team of threads, in double precision, and the same bits whatever
// the number of threads.
#pragma once

#include <cstddef>
#include <span>

#include "base/function_ref.hpp"
#include "cpu/thread_team.hpp"

namespace echoform {

class VectorMath {
 public:
  /// The team outlives this.
  explicit VectorMath(ThreadTeam& team) : team_(&team) {}

  /// Items of a block; blocks are the same whatever the team.
  static constexpr std::size_t block = 16384;

  using Body = FunctionRef<void(std::size_t first, std::size_t last)>;
  using Sum = FunctionRef<double(std::size_t first, std::size_t last)>;
  /// Calls body(first, last) for blocks of `count` items, in any order.
  void for_blocks(std::size_t count, Body body, std::size_t items = block);
  /// The sum of body(first, last) over the blocks, added in their order.
  [[nodiscard]] double sum(std::size_t count, Sum body, std::size_t items = block);

  // Spans of a call have the same size.
  [[nodiscard]] double dot(std::span<const float> a, std::span<const float> b);
  [[nodiscard]] double squares(std::span<const float> a) { return dot(a, a); }
  /// to += scale * values
  void add(std::span<float> to, double scale, std::span<const float> values);
  /// to = values + scale * to
  void scale_and_add(std::span<float> to, double scale, std::span<const float> values);
  /// to = a * x + b * y; `to` may be either of them.
  void combine(std::span<float> to, double a, std::span<const float> x, double b, std::span<const float> y);
  void scale(std::span<float> to, double scale);

 private:
  ThreadTeam* team_;
};

}  // namespace echoform
