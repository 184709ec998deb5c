// Requests of those who may not wait.
#include "control/control_worker.hpp"

#include "tests/control/rig.hpp"

namespace echoform::test {
namespace {

/// An action that lasts until it is let go.
struct Slow {
  explicit Slow(Control& control) {
    control.add({"slow", false, [this](const auto&, auto&) {
                   std::unique_lock lock(mutex);
                   ++entered;
                   changed.notify_all();
                   changed.wait(lock, [this] { return open; });
                 }});
  }
  [[nodiscard]] bool wait_entered() {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience, [this] { return entered > 0; });
  }
  void let_go() {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
  std::mutex mutex;
  std::condition_variable changed;
  int entered = 0;
  bool open = false;
};

wire::ControlRequest asking(const std::string& action) {
  wire::ControlRequest request;
  request.set_action(action);
  return request;
}

struct Replies {
  ControlWorker::Done note() {
    return [this](const wire::ControlReply& reply) {
      const std::lock_guard lock(mutex);
      outcomes.push_back(reply.outcome());
      reasons.push_back(reply.reason());
      changed.notify_all();
    };
  }
  [[nodiscard]] bool wait(std::size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience, [&] { return outcomes.size() >= count; });
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<wire::ControlOutcome> outcomes;
  std::vector<std::string> reasons;
};

TEST(ControlWorker, ReadsAtOnceWhileSomethingChanges) {
  Rig rig;
  Slow slow(rig.control);
  Replies replies;
  ControlWorker worker(rig.control);
  worker.post(asking("slow"), replies.note());
  ASSERT_TRUE(slow.wait_entered());
  Replies read;
  worker.post(asking("get"), read.note());
  EXPECT_EQ(read.outcomes, std::vector{wire::DONE}) << "before post() returns";
  EXPECT_TRUE(replies.outcomes.empty());
  slow.let_go();
  EXPECT_TRUE(replies.wait(1));
}

TEST(ControlWorker, fault_ControlRequestsBeyondWhatMayWait) {
  Rig rig;
  Slow slow(rig.control);
  Replies replies;
  {
    ControlWorker worker(rig.control);
    worker.post(asking("slow"), replies.note());
    ASSERT_TRUE(slow.wait_entered());
    for (std::size_t k = 0; k < ControlWorker::most_waiting; ++k) worker.post(asking("reset"), replies.note());
    EXPECT_TRUE(replies.outcomes.empty());
    worker.post(asking("reset"), replies.note());
    ASSERT_TRUE(replies.wait(1));
    EXPECT_EQ(replies.outcomes[0], wire::FAILED);
    EXPECT_EQ(replies.reasons[0], "too many requests wait already");
    std::jthread later([&] { slow.let_go(); });
  }
  // All are answered, served or not.
  ASSERT_EQ(replies.outcomes.size(), ControlWorker::most_waiting + 2);
}

}  // namespace
}  // namespace echoform::test
