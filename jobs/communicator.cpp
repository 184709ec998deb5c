#include "jobs/communicator.hpp"

#include <algorithm>
#include <vector>

namespace echoform {
namespace {

class SingleProcess final : public Communicator {
 public:
  [[nodiscard]] std::size_t rank() const noexcept override { return 0; }
  [[nodiscard]] std::size_t size() const noexcept override { return 1; }
  void sum(std::span<float> /*values*/) override {}
  void sum(std::span<double> /*values*/) override {}
  void broadcast(std::span<std::byte> /*bytes*/) override {}
  void gather(std::span<const float> own, std::span<float> all) override { std::ranges::copy(own, all.begin()); }
  void scatter(std::span<const float> all, std::span<float> own) override { std::ranges::copy(all, own.begin()); }
  void abort(int /*code*/) noexcept override {}
};

}  // namespace

bool Communicator::all_differ(std::uint64_t own) {
  std::vector<double> numbers(size(), 0.0);
  numbers[rank()] = static_cast<double>(own);
  sum(std::span<double>(numbers));
  std::ranges::sort(numbers);
  return std::ranges::adjacent_find(numbers) == numbers.end();
}

std::unique_ptr<Communicator> make_single_process() {
  return std::make_unique<SingleProcess>();
}

RowRange rows_of_rank(std::size_t count, std::size_t rank, std::size_t ranks) {
  const std::size_t each = count / ranks;
  const std::size_t more = count % ranks;
  return {rank * each + std::min(rank, more), each + (rank < more ? 1 : 0)};
}

}  // namespace echoform
