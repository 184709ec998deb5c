#include "benchmarks/ingest_bare.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "proto/acquisition.pb.h"
#include "transport/acquisition/framing.hpp"

namespace echoform::benchmarks {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

}  // namespace

struct BareReceiver::Implementation {
  struct Connection {
    explicit Connection(tcp::socket accepted) : socket(std::move(accepted)) {}
    tcp::socket socket;
    std::span<std::byte> memory;
    std::size_t at = 0;
    std::size_t read_bytes = 0;
    std::size_t received = 0;
    std::array<std::byte, 64> next_header{};

    void read() {
      if (at + read_bytes > memory.size()) at = 0;
      // Reads have the sizes of the source's reads: a payload, and a little of what follows.
      const std::array<asio::mutable_buffer, 2> buffers{asio::buffer(memory.data() + at, read_bytes), asio::buffer(next_header)};
      socket.async_read_some(buffers, [this](const error_code& error, std::size_t bytes) {
        received += bytes;
        // The position advances by whole cache lines, because writes that bypass the caches are slow when they write parts of a
        // line.
        at += (bytes + 63) / 64 * 64;
        if (error) {
          error_code ignored;
          socket.close(ignored);
        } else {
          read();
        }
      });
    }
  };

  Implementation(const BareOptions& chosen, std::span<std::byte> place) : options(chosen), memory(place) {
    for (std::size_t i = 0; i < options.threads; ++i) contexts.push_back(std::make_unique<asio::io_context>(1));
  }

  void answer(tcp::socket& socket) const {
    std::array<std::byte, prefix_bytes> prefix{};
    asio::read(socket, asio::buffer(prefix));
    std::vector<std::byte> header(read_prefix(prefix).header_bytes);
    asio::read(socket, asio::buffer(header));
    wire::Accept accept;
    accept.set_frame_bytes(options.frame_bytes);
    asio::write(socket, asio::buffer(encode_message(MessageType::accept, accept.SerializeAsString())));
  }

  void accept_all() {
    for (std::size_t i = 0; i < options.connections; ++i) {
      tcp::socket socket(*contexts[i % contexts.size()]);
      acceptor.accept(socket);
      socket.set_option(tcp::no_delay(true));
      connections.push_back(std::make_unique<Connection>(std::move(socket)));
      connections.back()->memory = memory.subspan(i * (memory.size() / options.connections), memory.size() / options.connections);
      connections.back()->read_bytes = options.read_bytes;
    }
    for (auto& connection : connections) {
      answer(connection->socket);
      connection->read();
    }
    for (auto& context : contexts) threads.emplace_back([&context] { context->run(); });
  }

  const BareOptions options;
  std::span<std::byte> memory;
  asio::io_context accept_context;
  tcp::acceptor acceptor{accept_context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  std::vector<std::unique_ptr<asio::io_context>> contexts;
  std::vector<std::unique_ptr<Connection>> connections;
  std::vector<std::thread> threads;
  std::thread acceptor_thread;
};

BareReceiver::BareReceiver(const BareOptions& options, std::span<std::byte> memory)
    : implementation_(std::make_unique<Implementation>(options, memory)) {}

BareReceiver::~BareReceiver() {
  (void)finish();
}

std::uint16_t BareReceiver::port() const {
  return implementation_->acceptor.local_endpoint().port();
}

void BareReceiver::welcome() {
  implementation_->acceptor_thread = std::thread([me = implementation_.get()] {
    try {
      me->accept_all();
    } catch (const std::exception&) {
      // The sender fails for the same reason and reports it.
    }
  });
}

std::size_t BareReceiver::finish() {
  if (implementation_->acceptor_thread.joinable()) implementation_->acceptor_thread.join();
  for (auto& thread : implementation_->threads) {
    if (thread.joinable()) thread.join();
  }
  std::size_t sum = 0;
  for (const auto& connection : implementation_->connections) sum += connection->received;
  return sum;
}

}  // namespace echoform::benchmarks
