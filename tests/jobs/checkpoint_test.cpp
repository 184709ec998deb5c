#include "jobs/checkpoint.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "base/errors.hpp"
#include "jobs/split_operator.hpp"
#include "jobs/together.hpp"
#include "tests/jobs/dense.hpp"
#include "tests/jobs/threads_communicator.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

constexpr VolumeShape saved_shape{4, 3, 3};
constexpr std::size_t saved_rows = 61;
const SolverOptions saved_options{.penalty = 1.0};

Problem saved_problem() {
  return {drawn(saved_rows * saved_shape.voxels(), 31), drawn(saved_rows, 32), saved_shape};
}

DigestValue identity_of(std::string_view text) {
  Digest digest;
  digest.add(text);
  return digest.value();
}

class Checkpoint : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path file() const { return folder_ / "state"; }
  [[nodiscard]] std::string bytes() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& bytes) const { std::ofstream(file(), std::ios::binary) << bytes; }

 private:
  static std::filesystem::path made_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "echoform-checkpoint-XXXXXX").string();
    return ::mkdtemp(name.data()) == nullptr ? std::filesystem::path() : std::filesystem::path(name);
  }
  std::filesystem::path folder_ = made_folder();
};

using Maker = std::unique_ptr<Solver> (*)(const LeastSquares&, const SolverOptions&);
class CheckpointOf : public Checkpoint, public testing::WithParamInterface<Maker> {};

TEST_P(CheckpointOf, GoesOnWithTheSameBits) {
  Problem problem = saved_problem();
  const LeastSquares least_squares = problem.least_squares();
  const DigestValue identity = identity_of("a job");
  const auto whole = GetParam()(least_squares, saved_options);
  whole->begin();
  SolverProgress to_the_end;
  static_cast<void>(run_solver(*whole, least_squares, {.iterations = 17}, {}, to_the_end));

  const auto first = GetParam()(least_squares, saved_options);
  first->begin();
  SolverProgress progress;
  RunHooks hooks;
  hooks.save = [&](const SolverProgress& now) { write_checkpoint(file(), identity, now, first->state(), *problem.communicator); };
  static_cast<void>(run_solver(*first, least_squares, {.iterations = 6}, hooks, progress));

  const auto second = GetParam()(least_squares, saved_options);
  SolverProgress restored;
  read_checkpoint(file(), identity, restored, second->state(), *problem.communicator);
  EXPECT_EQ(restored.iterations, 6U);
  EXPECT_EQ(restored.last.misfit, progress.last.misfit);
  static_cast<void>(run_solver(*second, least_squares, {.iterations = 17}, {}, restored));
  EXPECT_TRUE(std::ranges::equal(second->image(), whole->image()));
  EXPECT_EQ(restored.last.objective, to_the_end.last.objective);
  // Nothing is left beside it.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file().parent_path()), {}), 1);
}

INSTANTIATE_TEST_SUITE_P(All, CheckpointOf,
                         testing::Values(make_conjugate_gradients, make_lsqr, make_fista, make_total_variation));

TEST_F(Checkpoint, OfAnythingElseIsRefused) {
  Problem problem = saved_problem();
  const auto solver = make_conjugate_gradients(problem.least_squares(), saved_options);
  solver->begin();
  SolverProgress progress;
  const auto refusal = [&](Solver& into, std::string_view job) {
    const std::string line =
        input_error([&] { read_checkpoint(file(), identity_of(job), progress, into.state(), *problem.communicator); });
    return line.empty() ? line : line.substr(file().string().size());
  };
  EXPECT_EQ(refusal(*solver, "a job"), ": found No such file or directory; expected a checkpoint");
  write_checkpoint(file(), identity_of("a job"), {.iterations = 3}, solver->state(), *problem.communicator);
  const std::string good = bytes();
  EXPECT_EQ(refusal(*solver, "a job"), "");
  EXPECT_EQ(refusal(*solver, "another"),
            ": found the checkpoint of another job; expected one of this configuration and these data");
  const auto other = make_lsqr(problem.least_squares(), saved_options);
  EXPECT_THAT(refusal(*other, "a job"), testing::StartsWith(": found the state of another solver"));
  for (const std::size_t length : {good.size() - 1, good.size() / 2, std::size_t{100}}) {
    put(good.substr(0, length));
    EXPECT_EQ(refusal(*solver, "a job"), ": found a damaged file; expected a checkpoint as it was written");
  }
  std::string changed = good;
  changed[changed.size() / 2] ^= 1;
  put(changed);
  EXPECT_EQ(refusal(*solver, "a job"), ": found a damaged file; expected a checkpoint as it was written");
  put("something else altogether, and long enough that it could be one of ours, were it not for the beginning of the file");
  EXPECT_EQ(refusal(*solver, "a job"), ": found no checkpoint; expected a file that --checkpoint has written");
  put("short");
  EXPECT_EQ(refusal(*solver, "a job"), ": found no checkpoint; expected a file that --checkpoint has written");
}

TEST_F(Checkpoint, OfSeveralProcessesServesAnyNumber) {
  const std::vector<double> matrix = drawn(saved_rows * saved_shape.voxels(), 31);
  const std::vector<double> data = drawn(saved_rows, 32);
  std::vector<float> images[3];
  const auto run = [&](std::size_t processes, bool resume, std::size_t iterations, std::vector<float>& image) {
    Threads threads(processes);
    threads.run([&](Communicator& communicator) {
      const RowRange own = rows_of_rank(saved_rows, communicator.rank(), communicator.size());
      const auto part = [&](const std::vector<double>& values, std::size_t row) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(own.first * row);
        return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(own.count * row));
      };
      Problem problem(part(matrix, saved_shape.voxels()), part(data, 1), saved_shape);
      SplitOperator all(problem.dense, communicator);
      const LeastSquares least_squares{all, problem.data, saved_shape, problem.math, communicator};
      const auto solver = make_lsqr(least_squares, saved_options);
      SolverProgress progress;
      if (resume) {
        read_checkpoint(file(), identity_of("a job"), progress, solver->state(), communicator);
      } else {
        solver->begin();
      }
      RunHooks hooks;
      hooks.save = [&](const SolverProgress& now) {
        write_checkpoint(file(), identity_of("a job"), now, solver->state(), communicator);
      };
      static_cast<void>(run_solver(*solver, least_squares, {.iterations = iterations}, hooks, progress));
      if (communicator.rank() == 0) image.assign(solver->image().begin(), solver->image().end());
    });
  };
  run(1, false, 12, images[0]);
  run(3, false, 5, images[1]);
  run(2, true, 12, images[1]);
  run(2, false, 12, images[2]);
  // Sums of float data are rounded once a process.
  EXPECT_LT(distance(images[1], images[0]), 1e-5);
  EXPECT_LT(distance(images[2], images[0]), 1e-5);
  run(2, false, 12, images[1]);
  EXPECT_EQ(images[1], images[2]);
}

TEST(Together, AllThrowWhatOneHasThrown) {
  std::mutex mutex;
  std::vector<std::string> lines;
  Threads threads(3);
  threads.run([&](Communicator& communicator) {
    together(communicator, [] {});
    try {
      together(communicator, [&] {
        if (communicator.rank() > 0) throw InputError("here", fmt::format("{}", communicator.rank()), "0");
      });
    } catch (const InputError& error) {
      const std::lock_guard lock(mutex);
      lines.emplace_back(error.what());
    }
  });
  EXPECT_EQ(lines, std::vector<std::string>(3, "here: found 1; expected 0"));
}

/// As a GPU may.
class FailingOperator final : public LinearOperator {
 public:
  explicit FailingOperator(bool fails) : fails_(fails) {}
  [[nodiscard]] std::size_t image_size() const noexcept override { return 2; }
  [[nodiscard]] std::size_t data_size() const noexcept override { return 3; }
  void apply(std::span<const float> /*image*/, std::span<float> /*data*/) override { fail(); }
  void adjoint(std::span<const float> /*data*/, std::span<float> /*image*/) override { fail(); }

 private:
  void fail() const {
    if (fails_) throw RuntimeFault("GPU: out of order");
  }
  bool fails_;
};

TEST(SplitOperatorOfProcesses, FailsOnAllWhereOneFails) {
  std::mutex mutex;
  std::vector<std::string> lines;
  Threads threads(3);
  threads.run([&](Communicator& communicator) {
    FailingOperator own(communicator.rank() == 1);
    SplitOperator all(own, communicator);
    std::vector<float> image(2);
    std::vector<float> data(3);
    const auto note = [&](const auto& work) {
      try {
        work();
      } catch (const RuntimeFault& fault) {
        const std::lock_guard lock(mutex);
        lines.emplace_back(fault.what());
      }
    };
    note([&] { all.apply(image, data); });
    note([&] { all.adjoint(data, image); });
  });
  EXPECT_EQ(lines, std::vector<std::string>(6, "GPU: out of order"));
}

TEST(RowsOfRank, AreEachRowOnce) {
  for (const std::size_t ranks : {1, 2, 3, 7}) {
    std::size_t next = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const RowRange own = rows_of_rank(24, rank, ranks);
      EXPECT_EQ(own.first, next);
      EXPECT_TRUE(own.count == 24 / ranks || own.count == 24 / ranks + 1);
      next += own.count;
    }
    EXPECT_EQ(next, 24U);
  }
}

}  // namespace
}  // namespace echoform::test
