#include "transport/acquisition/source_state.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"

namespace echoform {

void ConnectionBook::enter(const HelloContents& hello) {
  const SenderIdentity& identity = hello.identity;
  const std::lock_guard lock(mutex_);
  const auto [at, first] = senders_.try_emplace(identity.session);
  Entry& entry = at->second;
  if (first) {
    entry.connection_count = identity.connection_count;
    entry.acquisition = hello.acquisition;
  } else if (entry.connection_count != identity.connection_count) {
    throw InputError("Hello connection_count", fmt::format("{}", identity.connection_count),
                     fmt::format("{} as on this session's other connections", entry.connection_count));
  } else if (entry.acquisition != hello.acquisition) {
    throw InputError("Hello", "an acquisition that differs from this session's other connections",
                     "the same probe, matrix, encoding and sampling on all of them");
  } else if ((entry.open >> identity.connection_index & 1U) != 0) {
    throw InputError("Hello connection_index", fmt::format("{}, which is open already", identity.connection_index),
                     "each index once a session");
  }
  entry.open |= 1U << identity.connection_index;
}

void ConnectionBook::leave(const SenderIdentity& identity) noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = senders_.find(identity.session);
  if (at == senders_.end()) return;
  at->second.open &= ~(1U << identity.connection_index);
  if (at->second.open == 0) senders_.erase(at);
}

void Strangers::enter(const Session& session) {
  const std::lock_guard lock(mutex_);
  sessions_.emplace_back(session.get(), session);
}

bool Strangers::leave(const TcpSession* session) noexcept {
  const std::lock_guard lock(mutex_);
  return std::erase_if(sessions_, [&](const auto& entry) { return entry.first == session; }) > 0;
}

Strangers::Session Strangers::oldest() {
  const std::lock_guard lock(mutex_);
  while (!sessions_.empty()) {
    Session session = sessions_.front().second.lock();
    sessions_.pop_front();
    if (session) return session;
  }
  return nullptr;
}

}  // namespace echoform
