// Records acquisition connections into a capture: all bytes that senders send, with times.
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
  std::size_t connections = 16;  ///< maximum at the same time; further ones are closed
  std::uint64_t bytes = 0;       ///< recording ends when the file has so many; 0: never
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
  std::uint64_t connections_refused = 0;  ///< beyond the maximum
  std::string fault{};                    ///< why the file could not be written; empty if it could
};

/// One thread reads the connections and writes the file; a slow disk makes the senders wait. Memory is bounded by the number
/// of connections.
class CaptureServer {
 public:
  /// Binds the port and begins. Throws InputError for an invalid address or a file that already exists, RuntimeFault for a
  /// port in use or a full disk.
  explicit CaptureServer(CaptureServerOptions options);
  /// Does the same as stop(), but ignores errors.
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
