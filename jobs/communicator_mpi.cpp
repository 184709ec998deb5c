// Open MPI, or any other MPI. Sums are made by exchanging slices; one rank adds up each slice in the order of the ranks.
#include "jobs/communicator.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "base/errors.hpp"

#ifdef ECHOFORM_WITH_MPI
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>
#include <vector>
#endif

namespace echoform {
namespace {

/// Number of processes that the environment states: 0 where no mpirun has started this process; 2, for several, where the
/// environment has a rank and no number.
std::size_t started_together() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* const text = std::getenv(name)) return static_cast<std::size_t>(std::strtoul(text, nullptr, 10));
  }
  for (const char* const name : {"PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(name) != nullptr) return 2;
  }
  return 0;
}

#ifdef ECHOFORM_WITH_MPI

template <class Value>
MPI_Datatype type_of() {
  return sizeof(Value) == sizeof(float) ? MPI_FLOAT : MPI_DOUBLE;
}

class MpiProcesses final : public Communicator {
 public:
  MpiProcesses() {
    // Only the thread that solves calls MPI.
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rank_ = static_cast<std::size_t>(rank);
    size_ = static_cast<std::size_t>(size);
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &rank);
    MPI_Comm_size(host, &size);
    MPI_Comm_free(&host);
    rank_on_host_ = static_cast<std::size_t>(rank);
    size_on_host_ = static_cast<std::size_t>(size);
  }
  ~MpiProcesses() override { MPI_Finalize(); }
  MpiProcesses(const MpiProcesses&) = delete;
  MpiProcesses& operator=(const MpiProcesses&) = delete;

  [[nodiscard]] std::size_t rank() const noexcept override { return rank_; }
  [[nodiscard]] std::size_t size() const noexcept override { return size_; }
  [[nodiscard]] std::size_t rank_on_host() const noexcept override { return rank_on_host_; }
  [[nodiscard]] std::size_t size_on_host() const noexcept override { return size_on_host_; }
  void sum(std::span<float> values) override { sum_slices(values); }
  void sum(std::span<double> values) override { sum_slices(values); }

  void broadcast(std::span<std::byte> bytes) override {
    for (std::size_t first = 0; first < bytes.size(); first += most) {
      const auto part = bytes.subspan(first, std::min(most, bytes.size() - first));
      MPI_Bcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
    }
  }

  void gather(std::span<const float> own, std::span<float> all) override {
    std::ranges::copy(rank_ == 0 ? own : std::span<const float>(), all.begin());
    for_others(own.size(), [&](std::size_t other, std::size_t first, std::size_t count) {
      if (rank_ == 0) {
        receive(all.subspan(first, count), other);
      } else {
        send(own, 0);
      }
    });
  }

  void scatter(std::span<const float> all, std::span<float> own) override {
    if (rank_ == 0) std::ranges::copy(all.first(own.size()), own.begin());
    for_others(own.size(), [&](std::size_t other, std::size_t first, std::size_t count) {
      if (rank_ == 0) {
        send(all.subspan(first, count), other);
      } else {
        receive(own, 0);
      }
    });
  }

  void abort(int code) noexcept override { MPI_Abort(MPI_COMM_WORLD, code); }

 private:
  // Maximum number of values of one message, whose count is an int in MPI.
  static constexpr std::size_t most = std::size_t{1} << 24;

  /// Sends slice r of each piece to rank r. That rank adds the slices of all ranks in their order and sends the sum to all.
  template <class Value>
  void sum_slices(std::span<Value> values) {
    std::vector<Value>& received = std::get<std::vector<Value>>(received_);
    for (std::size_t begin = 0; begin < values.size(); begin += most) {
      const auto piece = values.subspan(begin, std::min(most, values.size() - begin));
      std::vector<int> counts(size_), firsts(size_), own_counts(size_), own_firsts(size_);
      const RowRange own = rows_of_rank(piece.size(), rank_, size_);
      for (std::size_t r = 0; r < size_; ++r) {
        const RowRange slice = rows_of_rank(piece.size(), r, size_);
        counts[r] = static_cast<int>(slice.count);
        firsts[r] = static_cast<int>(slice.first);
        own_counts[r] = static_cast<int>(own.count);
        own_firsts[r] = static_cast<int>(r * own.count);
      }
      received.resize(size_ * own.count);
      MPI_Alltoallv(piece.data(), counts.data(), firsts.data(), type_of<Value>(), received.data(), own_counts.data(),
                    own_firsts.data(), type_of<Value>(), MPI_COMM_WORLD);
      for (std::size_t k = 0; k < own.count; ++k) {
        double total = 0.0;
        for (std::size_t r = 0; r < size_; ++r) total += static_cast<double>(received[r * own.count + k]);
        received[k] = static_cast<Value>(total);
      }
      MPI_Allgatherv(received.data(), static_cast<int>(own.count), type_of<Value>(), piece.data(), counts.data(), firsts.data(),
                     type_of<Value>(), MPI_COMM_WORLD);
    }
  }

  /// On rank 0 for each other rank, on every other rank for itself, calls transfer(rank, where its values begin, how many there
  /// are).
  template <class Transfer>
  void for_others(std::size_t own, const Transfer& transfer) {
    std::vector<unsigned long long> counts(size_);
    const unsigned long long here = own;
    MPI_Allgather(&here, 1, MPI_UNSIGNED_LONG_LONG, counts.data(), 1, MPI_UNSIGNED_LONG_LONG, MPI_COMM_WORLD);
    std::size_t first = counts[0];
    for (std::size_t other = 1; other < size_; first += counts[other], ++other) {
      if (rank_ == 0 || rank_ == other) transfer(other, first, static_cast<std::size_t>(counts[other]));
    }
  }
  void send(std::span<const float> values, std::size_t to) {
    for (std::size_t first = 0; first < values.size(); first += most) {
      const auto part = values.subspan(first, std::min(most, values.size() - first));
      MPI_Send(part.data(), static_cast<int>(part.size()), MPI_FLOAT, static_cast<int>(to), 0, MPI_COMM_WORLD);
    }
  }
  void receive(std::span<float> values, std::size_t from) {
    for (std::size_t first = 0; first < values.size(); first += most) {
      const auto part = values.subspan(first, std::min(most, values.size() - first));
      MPI_Recv(part.data(), static_cast<int>(part.size()), MPI_FLOAT, static_cast<int>(from), 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    }
  }

  std::size_t rank_ = 0;
  std::size_t size_ = 1;
  std::size_t rank_on_host_ = 0;
  std::size_t size_on_host_ = 1;
  std::tuple<std::vector<float>, std::vector<double>> received_;  // slices of sums; every adjoint needs this memory again
};

#endif

}  // namespace

#ifdef ECHOFORM_WITH_MPI

std::unique_ptr<Communicator> make_communicator() {
  if (started_together() == 0) return make_single_process();
  return std::make_unique<MpiProcesses>();
}

std::string mpi_status() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string_view whole(text, static_cast<std::size_t>(std::max(length, 0)));
  return std::string(whole.substr(0, whole.find_first_of(",\n")));
}

#else

std::unique_ptr<Communicator> make_communicator() {
  if (started_together() > 1) throw InputError("mpirun", "several processes", "one: this build has no MPI (see `echoform info`)");
  return make_single_process();
}

std::string mpi_status() {
  return "not in this build";
}

#endif

}  // namespace echoform
