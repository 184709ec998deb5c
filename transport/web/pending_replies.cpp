#include "transport/web/pending_replies.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace echoform {

PendingReplies::PendingReplies(boost::asio::io_context& context) : door_(std::make_shared<Door>()) {
  door_->context = &context;
}

PendingReplies::~PendingReplies() {
  const std::lock_guard lock(door_->mutex);
  door_->context = nullptr;
}

PendingReplies::Answer PendingReplies::expect(Answer answer) {
  const std::uint64_t number = next_++;
  waiting_.emplace(number, std::move(answer));
  return [this, number, door = door_](unsigned status, std::string body) {
    const std::lock_guard lock(door->mutex);
    if (door->context == nullptr) return;
    boost::asio::post(*door->context,
                      [this, number, status, text = std::move(body)]() mutable { deliver(number, status, std::move(text)); });
  };
}

void PendingReplies::deliver(std::uint64_t number, unsigned status, std::string body) {
  const auto found = waiting_.find(number);
  if (found == waiting_.end()) return;
  const Answer answer = std::move(found->second);
  waiting_.erase(found);
  answer(status, std::move(body));
}

}  // namespace echoform
