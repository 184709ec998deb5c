// The example sender, which knows the protocol from WIRE.md alone, against the server: its samples arrive bit by bit.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/eventually.hpp"
#include "tests/support/places.hpp"
#include "tests/transport_acquisition/fake_host.hpp"
#include "tests/transport_acquisition/messages.hpp"
#include "transport/acquisition/tcp_source.hpp"
#include "transport/acquisition/zeromq_source.hpp"

namespace echoform {
namespace {

using namespace testing_support;

int run_script(std::vector<std::string> arguments, const std::string& output,
               const std::string& script = "examples/python_sender.py") {
  arguments.insert(arguments.begin(), test::source_directory() / script);
  const int status = test::run_python(arguments, output);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A host that keeps the one intake that it made, whatever its session.
class AnyHost final : public StreamHost {
 public:
  std::shared_ptr<FrameIntake> open_stream(std::uint64_t, const Acquisition& acquisition) override {
    const std::lock_guard lock(mutex_);
    if (refuse_) throw InputError("stream: found a second sender; expected one at a time");
    if (!intake_) intake_ = std::make_shared<FakeIntake>(acquisition, 16);
    return intake_;
  }
  void refuse() {
    const std::lock_guard lock(mutex_);
    refuse_ = true;
  }
  std::shared_ptr<FakeIntake> intake() const {
    const std::lock_guard lock(mutex_);
    return intake_;
  }

 private:
  mutable std::mutex mutex_;
  bool refuse_ = false;
  std::shared_ptr<FakeIntake> intake_;
};

class PythonSender : public testing::Test {
 protected:
  void SetUp() override {
    ECHOFORM_REQUIRE_PYTHON("numpy");
    options_.port = 0;
    source_ = make_tcp_source(options_);
    source_->start(host_);
    folder_ = std::filesystem::temp_directory_path() / ("echoform_python_sender_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string address() const { return "127.0.0.1:" + std::to_string(source_->port()); }

  TcpSourceOptions options_;
  AnyHost host_;
  std::unique_ptr<TcpSource> source_;
  std::filesystem::path folder_;
};

class PythonSenderEncodes : public PythonSender, public testing::WithParamInterface<std::tuple<const char*, const char*, int>> {};

TEST_P(PythonSenderEncodes, FramesThatArriveBitByBit) {
  const auto [encoding, matrix, connections] = GetParam();
  const std::string saved = folder_ / "frames.raw";
  const std::string output = folder_ / "output.txt";
  ASSERT_EQ(
      run_script({"--connect", address(), "--elements", "9", "--samples", "201", "--frames", "10", "--rate", "0", "--encoding",
                  encoding, "--matrix", matrix, "--connections", std::to_string(connections), "--save", saved},
                 output),
      0)
      << read_text(output);
  const auto intake = host_.intake();
  ASSERT_TRUE(intake);
  const Acquisition& acquisition = intake->acquisition();
  EXPECT_EQ(acquisition.elements(), 9U);
  EXPECT_EQ(acquisition.samples, 201U);
  EXPECT_DOUBLE_EQ(acquisition.sample_rate.value, 50e6);
  EXPECT_NEAR(acquisition.probe.elements[0].centre.x.value, -2.4e-3, 1e-12);
  ASSERT_TRUE(eventually([&] { return source_->counters().connections_open == 0; }));
  EXPECT_EQ(intake->frames, 10U);
  EXPECT_EQ(source_->counters().decode_errors_total(), 0U);
  EXPECT_EQ(source_->counters().connections_lost, 0U);
  const std::string raw = read_text(saved);
  ASSERT_EQ(raw.size(), 10 * acquisition.frame_bytes());
  for (std::uint64_t sequence = 0; sequence < 10; ++sequence) {
    const Bytes samples = intake->samples(sequence);
    EXPECT_EQ(std::memcmp(samples.data(), raw.data() + sequence * acquisition.frame_bytes(), samples.size()), 0) << sequence;
  }
  EXPECT_NE(read_text(output).find("sent 10 frames"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, PythonSenderEncodes,
                         testing::Values(std::tuple{"int16", "full", 1}, std::tuple{"packed12", "half", 2},
                                         std::tuple{"float32", "half_summed", 3}));

TEST_F(PythonSender, SaysWhyItIsRejected) {
  host_.refuse();
  const std::string output = folder_ / "output.txt";
  EXPECT_EQ(run_script({"--connect", address(), "--elements", "4", "--samples", "64", "--frames", "1"}, output), 1);
  EXPECT_EQ(read_text(output), "rejected: stream: found a second sender; expected one at a time\n");
}

TEST_F(PythonSender, OverZeromqArrivesBitByBit) {
  ECHOFORM_REQUIRE_PYTHON("zmq");
  const auto zeromq = make_zeromq_source({.port = 0, .token = "secret"});
  zeromq->start(host_);
  const std::string saved = folder_ / "frames.raw";
  const std::string output = folder_ / "output.txt";
  const std::string token = folder_ / "token";
  std::ofstream(token) << "secret\n";
  ASSERT_EQ(run_script({"--connect", "127.0.0.1:" + std::to_string(zeromq->port()), "--token-file", token, "--elements", "9",
                        "--samples", "201", "--frames", "10", "--rate", "0", "--save", saved},
                       output, "examples/python_zeromq_sender.py"),
            0)
      << read_text(output);
  EXPECT_EQ(read_text(output), "sent 10 frames\n");
  ASSERT_TRUE(
      eventually([&] { return zeromq->counters().connections_accepted == 1 && zeromq->counters().connections_open == 0; }));
  const auto intake = host_.intake();
  ASSERT_TRUE(intake);
  EXPECT_EQ(intake->frames, 10U);
  EXPECT_EQ(zeromq->counters().decode_errors_total(), 0U);
  EXPECT_EQ(zeromq->counters().shots_discarded, 0U);
  const std::string raw = read_text(saved);
  const std::size_t bytes = intake->acquisition().frame_bytes();
  ASSERT_EQ(raw.size(), 10 * bytes);
  for (std::uint64_t sequence = 0; sequence < 10; ++sequence) {
    const Bytes samples = intake->samples(sequence);
    EXPECT_EQ(std::memcmp(samples.data(), raw.data() + sequence * bytes, bytes), 0) << sequence;
  }
}

}  // namespace
}  // namespace echoform
