// The limit of comparison for ingest: reads what comes into memory, as large a piece at a time as the source does, and
// understands nothing of it but the Hello, which it must answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace echoform::benchmarks {

struct BareOptions {
  std::size_t connections = 1;
  std::size_t threads = 2;
  std::size_t read_bytes = 0;   ///< asked for in one read
  std::size_t frame_bytes = 0;  ///< to be stated in the Accept
};

class BareReceiver {
 public:
  /// Listens on a free port of the loopback. Reads go round and round in `memory`, a part of it for each connection.
  BareReceiver(const BareOptions& options, std::span<std::byte> memory);
  ~BareReceiver();
  BareReceiver(const BareReceiver&) = delete;
  BareReceiver& operator=(const BareReceiver&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  /// Begins to accept, on a thread of its own. All connections are accepted before any is read further than its Hello.
  void welcome();
  /// Waits until every connection has ended; bytes that came after the Hellos.
  [[nodiscard]] std::size_t finish();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace echoform::benchmarks
