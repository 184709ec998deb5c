// Acquisition connections into a capture: what senders send, byte by byte, with times.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "acquisition/acquisition.hpp"

namespace echoform {

struct CaptureServerOptions {
  std::filesystem::path output;
  std::string address = "127.0.0.1";
  std::uint16_t port = 17171;  ///< 0: any free one
  std::string connect_host{};  ///< empty: senders are answered here; else bytes go on to this server, and its answers back
  std::uint16_t connect_port = 0;
  std::size_t connections = 16;  ///< at once; one more is closed
  std::uint64_t bytes = 0;       ///< ends when the file has so many; 0: never
  // Where senders are answered here:
  std::string token{};
  AcquisitionLimits limits;
  std::chrono::milliseconds hello_timeout{5000};
  std::function<void()> ended{};  ///< the file has its bytes, or cannot be written; from the server's thread
};

struct CaptureProgress {
  std::uint64_t file_bytes = 0;
  std::uint64_t bytes = 0;  ///< from senders
  std::uint64_t connections = 0;
  std::uint64_t connections_open = 0;
  std::uint64_t connections_refused = 0;  ///< beyond the most
  std::string fault{};                    ///< why the file could not be written; empty if it could
};

/// One thread reads the connections and writes the file; a disk that is slow holds the senders back. Memory is bounded by the
/// number of connections.
class CaptureServer {
 public:
  /// Binds and begins. Throws InputError for an address that is none or a file that is there already, RuntimeFault for a port in
  /// use or a full disk.
  explicit CaptureServer(CaptureServerOptions options);
  /// As stop(), in silence.
  ~CaptureServer();
  CaptureServer(const CaptureServer&) = delete;
  CaptureServer& operator=(const CaptureServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] CaptureProgress progress() const;
  /// Closes the connections and the file. Throws RuntimeFault if it cannot be closed. May be called again.
  void stop();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace echoform
