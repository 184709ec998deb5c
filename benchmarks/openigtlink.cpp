#include "benchmarks/openigtlink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "pipeline/image_sink.hpp"
#include "pipeline/imaging_setup.hpp"
#include "transport/openigtlink/openigtlink_sink.hpp"

namespace echoform::benchmarks {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::steady_clock;

constexpr std::size_t header_bytes = 58;

/// Finished frames of one volume, without a pipeline.
class Volumes {
 public:
  explicit Volumes(std::size_t voxels) : setup_(std::make_shared<ImagingSetup>()) {
    const Axis axis{Metres(-0.02), Metres(0.02), voxels};
    const Grid grid{axis, {Metres(0.0), Metres(0.04), voxels}, axis};
    setup_->recipe.outputs.push_back({{"LL", OutputKind::display, grid}});
    setup_->acquisition.probe = make_linear_probe(4, Metres(1e-3), Metres(0.9e-3), Hertz(5e6), Hertz(3e6));
    const std::size_t bytes = setup_->recipe.outputs.back().description.bytes();
    slot_.outputs.push_back(
        {Buffer{std::aligned_alloc(64, (bytes + 63) / 64 * 64), bytes, [](void* memory) { std::free(memory); }}});
    auto* const voxel = static_cast<std::uint8_t*>(slot_.outputs.back().data.data());
    for (std::size_t k = 0; k < bytes; ++k) voxel[k] = static_cast<std::uint8_t>(k * 2654435761U >> 13);
  }
  [[nodiscard]] std::shared_ptr<const ImagingSetup> setup() const { return setup_; }
  [[nodiscard]] FinishedFrame next() {
    slot_.sequence = ++published_;
    CounterSnapshot counters;
    counters.frames_received = counters.frames_published = published_;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    slot_.acquisition_time = now;
    return {slot_, *setup_, counters, now, steady_clock::now().time_since_epoch()};
  }

 private:
  std::shared_ptr<ImagingSetup> setup_;
  FrameSlot slot_;
  std::uint64_t published_ = 0;
};

/// A client on a thread of its own that counts images.
class Client {
 public:
  Client(std::uint16_t port, std::atomic<std::uint64_t>& images) : images_(images) {
    socket_.connect({asio::ip::address_v4::loopback(), port});
    thread_ = std::thread([this] { run(); });
  }
  ~Client() {
    boost::system::error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    thread_.join();
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  void run() {
    std::array<char, header_bytes> header{};
    std::vector<char> body;
    boost::system::error_code error;
    for (;;) {
      asio::read(socket_, asio::buffer(header), error);
      std::uint64_t size = 0;
      for (std::size_t k = 42; k < 50; ++k) size = size << 8 | static_cast<unsigned char>(header[k]);
      if (!error && size > body.size()) body.resize(size);
      if (!error) asio::read(socket_, asio::buffer(body.data(), size), error);
      if (error) break;
      if (std::string_view(header.data() + 2) != "IMAGE") continue;
      images_.fetch_add(1);
      images_.notify_all();
    }
    lost_ = true;
    images_.fetch_add(1);  // so that no thread waits for it
    images_.notify_all();
  }

  std::atomic<std::uint64_t>& images_;
  asio::io_context context_;
  tcp::socket socket_{context_};
  std::atomic<bool> lost_{false};
  std::thread thread_;
};

class Clients {
 public:
  Clients(std::size_t count, std::uint16_t port) {
    for (std::size_t k = 0; k < count; ++k) clients_.push_back(std::make_unique<Client>(port, images_));
  }
  /// Waits until each client has received this number of images.
  void await(std::uint64_t each) {
    const std::uint64_t wanted = each * clients_.size();
    for (std::uint64_t have = images_; have < wanted; have = images_) images_.wait(have);
    for (const auto& client : clients_) {
      if (client->lost()) throw RuntimeFault("a client of OpenIGTLink lost its connection");
    }
  }

 private:
  std::atomic<std::uint64_t> images_{0};
  std::vector<std::unique_ptr<Client>> clients_;
};

/// Volumes a second. The first volume is not counted; once it has arrived, every client is connected.
template <class Publish>
double rate_of(const OpenIgtlinkCase& test, Clients& clients, const Publish& publish) {
  publish();
  clients.await(1);
  const auto begin = steady_clock::now();
  for (std::size_t k = 0; k < test.volumes; ++k) {
    publish();
    clients.await(k + 2);
  }
  return static_cast<double>(test.volumes) / std::chrono::duration<double>(steady_clock::now() - begin).count();
}

void check(const char* name, std::size_t value, std::size_t highest) {
  if (value < 1 || value > highest) throw InputError(name, fmt::format("{}", value), fmt::format("1 to {}", highest));
}

}  // namespace

OpenIgtlinkRates measure_openigtlink(const OpenIgtlinkCase& test) {
  check("voxels", test.voxels, 512);
  check("clients", test.clients, 16);
  check("volumes", test.volumes, 1'000'000);
  Volumes volumes(test.voxels);
  const auto through_sink = [&] {
    OpenIgtlinkSinkOptions options;
    options.port = 0;
    options.most_per_second = 0.0;
    options.clients = test.clients;
    const auto sink = make_openigtlink_sink(options);
    sink->setup_changed(volumes.setup());
    Clients clients(test.clients, sink->port());
    while (sink->clients() < test.clients) std::this_thread::yield();
    return rate_of(test, clients, [&] { sink->publish(volumes.next()); });
  };
  const auto bare = [&] {
    asio::io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    Clients clients(test.clients, acceptor.local_endpoint().port());
    std::vector<tcp::socket> peers;
    for (std::size_t k = 0; k < test.clients; ++k) peers.push_back(acceptor.accept());
    std::vector<char> message(header_bytes + 72 + test.voxels * test.voxels * test.voxels, '\1');
    std::copy_n("\0\1IMAGE", 8, message.begin());
    for (std::size_t k = 0; k < 8; ++k) message[42 + k] = static_cast<char>((message.size() - header_bytes) >> (8 * (7 - k)));
    return rate_of(test, clients, [&] {
      for (tcp::socket& peer : peers) asio::write(peer, asio::buffer(message));
    });
  };

  const std::vector<Turn> turns{{"sink", through_sink}, {"bare", bare}};
  static_cast<void>(take_turns(1, turns));
  Turns taken = take_turns(test.rounds, turns);
  return {.measured = test,
          .sink = taken.spread("sink"),
          .bare = taken.spread("bare"),
          .ratio = taken.ratio("sink", "bare"),
          .turns = std::move(taken)};
}

}  // namespace echoform::benchmarks
