#include "base/worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <string>

#include "base/errors.hpp"

namespace echoform {
namespace {

TEST(Worker, RunsUnderItsNameUntilItIsStopped) {
  std::string name;
  {
    std::atomic<bool> started{false};
    Worker worker({"ef-a-name-that-is-long", {}}, [&](const std::stop_token& stop) {
      char text[16] = {};
      pthread_getname_np(pthread_self(), text, sizeof(text));
      name = text;
      started = true;
      started.notify_all();
      while (!stop.stop_requested()) std::this_thread::yield();
    });
    started.wait(false);
  }
  EXPECT_EQ(name, "ef-a-name-that-");
}

TEST(Worker, StaysOnItsProcessor) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  int last = -1;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &allowed)) last = i;
  }
  int processors = 0, ran_on = -1;
  {
    Worker worker({"ef-pinned", last}, [&](const std::stop_token&) {
      cpu_set_t mine;
      CPU_ZERO(&mine);
      sched_getaffinity(0, sizeof(mine), &mine);
      processors = CPU_COUNT(&mine);
      ran_on = sched_getcpu();
    });
    worker.join();
  }
  EXPECT_EQ(processors, 1);
  EXPECT_EQ(ran_on, last);
}

TEST(Worker, AProcessorThatIsNotThereIsAFault) {
  for (const int processor : {-1, 1'000'000, CPU_SETSIZE - 1}) {
    bool ran = false;
    try {
      Worker worker({"ef-nowhere", processor}, [&](const std::stop_token&) { ran = true; });
      if (processor == CPU_SETSIZE - 1) GTEST_SKIP() << "this machine has that many processors";
      ADD_FAILURE() << "no fault for processor " << processor;
    } catch (const RuntimeFault& fault) {
      EXPECT_THAT(fault.what(), testing::HasSubstr("thread ef-nowhere: cannot run on processor " + std::to_string(processor)));
    }
    EXPECT_FALSE(ran);
  }
}

}  // namespace
}  // namespace echoform
