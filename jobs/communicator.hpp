// Processes that share a job: each has a part of the data and the whole image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "acquisition/frame_layout.hpp"

namespace echoform {

/// All processes make the same calls in the same order, with images and counts of the same size. Sums are made in the order of
/// the ranks, so that their bits are the same from run to run and on every rank. A process that is lost ends all of them.
class Communicator {
 public:
  virtual ~Communicator() = default;

  [[nodiscard]] virtual std::size_t rank() const noexcept = 0;
  [[nodiscard]] virtual std::size_t size() const noexcept = 0;
  /// Of the processes on this one's host, in the order of their ranks.
  [[nodiscard]] virtual std::size_t rank_on_host() const noexcept { return rank(); }
  [[nodiscard]] virtual std::size_t size_on_host() const noexcept { return size(); }

  /// Each value becomes the sum of those of all ranks.
  virtual void sum(std::span<float> values) = 0;
  virtual void sum(std::span<double> values) = 0;
  /// Each byte becomes that of rank 0.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  /// `all`, on rank 0, becomes the ranks' values one behind the other; elsewhere it is not touched and may be empty.
  virtual void gather(std::span<const float> own, std::span<float> all) = 0;
  /// The way back.
  virtual void scatter(std::span<const float> all, std::span<float> own) = 0;

  /// Ends every process with this exit code, at once. Does not return where there are several.
  virtual void abort(int code) noexcept = 0;

  [[nodiscard]] double sum_of(double value) {
    sum(std::span<double>(&value, 1));
    return value;
  }
  /// Whether any rank says so.
  [[nodiscard]] bool any(bool here) { return sum_of(here ? 1.0 : 0.0) > 0.0; }
  /// Whether no two ranks have the same number, up to 2^53.
  [[nodiscard]] bool all_differ(std::uint64_t own);
};

/// This process alone.
[[nodiscard]] std::unique_ptr<Communicator> make_single_process();
/// Those that mpirun has started together, or this process alone where it did not come by mpirun. One at a time; MPI ends with
/// it. Throws InputError where mpirun has started several and the build has no MPI.
[[nodiscard]] std::unique_ptr<Communicator> make_communicator();
/// "Open MPI v4.1.4 ...", or why there is none; starts nothing.
[[nodiscard]] std::string mpi_status();

/// Of `count` rows those of rank `rank` of `ranks`: as many as the others have, or one more.
[[nodiscard]] RowRange rows_of_rank(std::size_t count, std::size_t rank, std::size_t ranks);

}  // namespace echoform
