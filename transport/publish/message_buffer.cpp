#include "transport/publish/message_buffer.hpp"

namespace echoform {

MessageBuffer& MessageBuffer::for_one_message(std::size_t bytes) {
  std::unique_ptr<MessageBuffer> buffer(new MessageBuffer(bytes, true));
  static_cast<void>(buffer->take(bytes));
  return *buffer.release();
}

void MessageBuffer::give_back() noexcept {
  if (for_one_message_) {
    delete this;
  } else {
    taken_.store(false, std::memory_order_release);
  }
}

}  // namespace echoform
