// Memory that asynchronous operations reuse, so that waiting for a socket allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <utility>

namespace echoform {

/// Holds the handler of one outstanding operation. A second handler at the same time, or one that is too large, is allocated
/// on the heap.
class HandlerMemory {
 public:
  HandlerMemory() = default;
  HandlerMemory(const HandlerMemory&) = delete;
  HandlerMemory& operator=(const HandlerMemory&) = delete;

  [[nodiscard]] void* allocate(std::size_t bytes) {
    if (!in_use_ && bytes <= storage_.size()) {
      in_use_ = true;
      return storage_.data();
    }
    return ::operator new(bytes);
  }
  void deallocate(void* memory) noexcept {
    if (memory == storage_.data()) {
      in_use_ = false;
    } else {
      ::operator delete(memory);
    }
  }

 private:
  alignas(std::max_align_t) std::array<std::byte, 512> storage_;
  bool in_use_ = false;
};

/// The allocator of asynchronous operations.
template <class T>
class HandlerAllocator {
 public:
  using value_type = T;
  explicit HandlerAllocator(HandlerMemory& memory) noexcept : memory_(&memory) {}
  template <class U>
  HandlerAllocator(const HandlerAllocator<U>& other) noexcept : memory_(other.memory()) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] T* allocate(std::size_t count) { return static_cast<T*>(memory_->allocate(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t /*count*/) noexcept { memory_->deallocate(memory); }
  [[nodiscard]] HandlerMemory* memory() const noexcept { return memory_; }

  template <class U>
  bool operator==(const HandlerAllocator<U>& other) const noexcept {
    return memory_ == other.memory();
  }

 private:
  HandlerMemory* memory_;
};

/// A handler whose operation takes its memory from `memory`, which outlives it. (boost::asio::bind_allocator, which Boost has
/// from 1.79 on; Debian's is 1.74.)
template <class Handler>
class HandlerWithMemory {
 public:
  using allocator_type = HandlerAllocator<void>;
  HandlerWithMemory(HandlerMemory& memory, Handler handler) : allocator_(memory), handler_(std::move(handler)) {}

  [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_; }
  template <class... Arguments>
  void operator()(Arguments&&... arguments) {
    handler_(std::forward<Arguments>(arguments)...);
  }

 private:
  allocator_type allocator_;
  Handler handler_;
};

}  // namespace echoform
