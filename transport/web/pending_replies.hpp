// Requests to the web server that other code answers, at any time and on any thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace echoform {

/// Belongs to the server's thread, except for the functions that expect() returns. Connections wait here, owned by the
/// server alone, so that an answer that arrives after the server's end reaches nobody rather than a destroyed object.
class PendingReplies {
 public:
  using Answer = std::function<void(unsigned status, std::string body)>;

  explicit PendingReplies(boost::asio::io_context& context);
  /// Answers that come later are forgotten.
  ~PendingReplies();
  PendingReplies(const PendingReplies&) = delete;
  PendingReplies& operator=(const PendingReplies&) = delete;

  /// The function takes the answer, once, on any thread and at any time; `answer` is called with it on the server's thread.
  [[nodiscard]] Answer expect(Answer answer);

 private:
  struct Door {
    std::mutex mutex;
    boost::asio::io_context* context;  // null once the server has gone
  };
  void deliver(std::uint64_t number, unsigned status, std::string body);

  std::shared_ptr<Door> door_;
  std::map<std::uint64_t, Answer> waiting_;
  std::uint64_t next_ = 0;
};

}  // namespace echoform
