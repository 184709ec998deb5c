// A backend: where stages run and where their blocks live. cpu/ and gpu/ each implement it; pipeline/ and stages/ know no more.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

namespace echoform {

enum class BackendKind : unsigned char { cpu, cuda };

enum class MemoryUse : unsigned char {
  staging,   ///< written by the network on the host, read by the backend (write-combined pinned memory on a GPU: never read it)
  working,   ///< touched by stages alone
  readback,  ///< written by stages, read on the host
};

/// Move-only owner of backend memory, aligned to at least 64 bytes and zeroed.
class Buffer {
 public:
  using Release = std::function<void(void*)>;
  Buffer() = default;
  Buffer(void* data, std::size_t bytes, Release release) : data_(data), bytes_(bytes), release_(std::move(release)) {}
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      reset();
      data_ = std::exchange(other.data_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
      release_ = std::move(other.release_);
    }
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { reset(); }

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::byte* bytes_begin() const { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] explicit operator bool() const { return data_ != nullptr; }

 private:
  void reset() noexcept {
    if (data_ != nullptr) {
      release_(data_);
      data_ = nullptr;
    }
  }
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  Release release_;
};

/// An ordered queue of work on one backend: a thread team on the CPU, a stream on a GPU. Stages of one backend know its type.
class ExecutionQueue {
 public:
  virtual ~ExecutionQueue() = default;
  /// Waits until everything handed to the queue is done. Set-up, tests and the end of a frame only, never between stages.
  virtual void finish() = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual BackendKind kind() const noexcept = 0;
  /// Throws RuntimeFault naming the size if the memory is not to be had.
  [[nodiscard]] virtual Buffer allocate(std::size_t bytes, MemoryUse use) = 0;
  [[nodiscard]] virtual std::unique_ptr<ExecutionQueue> make_queue() = 0;
};

}  // namespace echoform
