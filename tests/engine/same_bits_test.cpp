// The same samples become the same bits in every process, and with any number of threads.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/engine/places.hpp"

namespace echoform::test {
namespace {

constexpr const char* file_variable = "ECHOFORM_SAME_BITS_FILE";

/// Lengths of all kinds: smooth, odd, prime, and one that is so long that its transform is another (row_transform.hpp).
constexpr std::size_t sample_counts[] = {191, 250, 480, 1000, 1031, 1280, 1536, 2048, 3000, 4096, 5000, 6561, 300007};

/// What ImagesOfThisProcess leaves in the file for the test below.
void write_images(const std::string& file, std::size_t threads) {
  std::ofstream out(file, std::ios::binary);
  for (const std::size_t samples : sample_counts) {
    const auto plan = make_plan(cpu_place, SampleEncoding::int16, MatrixKind::half, {"LL"}, samples, samples > 100'000 ? 2 : 7);
    const Frame frame = random_frame(plan->acquisition, static_cast<unsigned>(samples));
    BackendChoice choice{.automatic = false, .kind = BackendKind::cpu};
    choice.threads = threads;
    const auto engine = make_engine(make_imaging_setup(plan, {.complex_images = true}), choice, {});
    FrameSlot slot;
    engine->equip(slot);
    std::memcpy(slot.samples.data(), frame.bytes.data(), frame.bytes.size());
    ASSERT_TRUE(image_now(*engine, slot));
    const Buffer& image = slot.outputs[0].data;
    out.write(static_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
  }
}

TEST(SameBits, ImagesOfThisProcess) {
  const char* const file = std::getenv(file_variable);
  if (file == nullptr) GTEST_SKIP() << "run by SameBits.InFreshProcessesWithAnyNumberOfThreads";
  write_images(file, static_cast<std::size_t>(std::atoi(std::getenv("ECHOFORM_SAME_BITS_THREADS"))));
}

TEST(SameBits, InFreshProcessesWithAnyNumberOfThreads) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::vector<char>> results;
  for (const int threads : {1, 1, 2, 3, 8}) {
    const std::string file = (folder / ("same-bits-" + std::to_string(::getpid()))).string();
    const std::string command = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX " + std::string(file_variable) + "='" + file +
                                "' ECHOFORM_SAME_BITS_THREADS=" + std::to_string(threads) + " '" + program +
                                "' --gtest_filter=SameBits.ImagesOfThisProcess >/dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream in(file, std::ios::binary);
    results.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    std::filesystem::remove(file);
    ASSERT_GT(results.back().size(), 1000U);
    EXPECT_TRUE(results.back() == results.front()) << threads << " threads, process " << results.size();
  }
}

}  // namespace
}  // namespace echoform::test
