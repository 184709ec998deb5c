// Processes that share a job: each has a part of the data and the whole image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "acquisition/frame_layout.hpp"

namespace echoform {

/// All processes make the same calls in the same order, with images and counts of the same size. Sums are made in the order
/// of the ranks, so that their bits are the same from run to run and on every rank. The loss of one process ends all
/// processes.
class Communicator {
 public:
  virtual ~Communicator() = default;

  [[nodiscard]] virtual std::size_t rank() const noexcept = 0;
  [[nodiscard]] virtual std::size_t size() const noexcept = 0;
  /// The rank among the processes on the same host, in the order of their ranks.
  [[nodiscard]] virtual std::size_t rank_on_host() const noexcept { return rank(); }
  [[nodiscard]] virtual std::size_t size_on_host() const noexcept { return size(); }

  /// Each value becomes the sum of those of all ranks.
  virtual void sum(std::span<float> values) = 0;
  virtual void sum(std::span<double> values) = 0;
  /// Each byte becomes that of rank 0.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  /// Gathers the values of all ranks in `all` on rank 0, one after the other. On other ranks `all` is not touched and may
  /// be empty.
  virtual void gather(std::span<const float> own, std::span<float> all) = 0;
  /// The reverse of gather().
  virtual void scatter(std::span<const float> all, std::span<float> own) = 0;

  /// Ends every process with this exit code, at once. Does not return if there are several processes.
  virtual void abort(int code) noexcept = 0;

  [[nodiscard]] double sum_of(double value) {
    sum(std::span<double>(&value, 1));
    return value;
  }
  /// Whether `here` is true on any rank.
  [[nodiscard]] bool any(bool here) { return sum_of(here ? 1.0 : 0.0) > 0.0; }
  /// Whether no two ranks have the same number, up to 2^53.
  [[nodiscard]] bool all_differ(std::uint64_t own);
};

/// This process alone.
[[nodiscard]] std::unique_ptr<Communicator> make_single_process();
/// The processes that mpirun has started together, or this process alone if mpirun did not start it. Only one may exist at
/// a time; MPI ends with it. Throws InputError if mpirun has started several processes and the build has no MPI.
[[nodiscard]] std::unique_ptr<Communicator> make_communicator();
/// "Open MPI v4.1.4 ...", or the reason why there is none. Starts nothing.
[[nodiscard]] std::string mpi_status();

/// The rows, of `count`, that belong to rank `rank` of `ranks`: as many as the other ranks have, or one more.
[[nodiscard]] RowRange rows_of_rank(std::size_t count, std::size_t rank, std::size_t ranks);

}  // namespace echoform
