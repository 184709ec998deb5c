// Where the members of a thread team run, and under which names.
#include "cpu/thread_team.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "cpu/cpu_backend.hpp"

namespace echoform {
namespace {

/// The processors that the calling thread may run on.
std::vector<int> own_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  std::vector<int> list;
  for (int k = 0; k < CPU_SETSIZE; ++k) {
    if (CPU_ISSET(k, &set)) list.push_back(k);
  }
  return list;
}

struct Member {
  std::vector<int> processors;
  int ran_on = -1;
  std::string name;
};

/// What each member finds out of itself: none takes a second piece before all have one.
std::vector<Member> members_of(ThreadTeam& team) {
  std::vector<Member> found(team.size());
  std::atomic<std::size_t> arrived{0};
  team.for_each(team.size(), 1, [&](std::size_t, std::size_t, std::size_t member) {
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof(name));
    found[member] = {own_processors(), sched_getcpu(), name};
    if (++arrived == team.size()) {
      arrived.notify_all();
    } else {
      for (std::size_t seen = arrived; seen < team.size(); seen = arrived) arrived.wait(seen);
    }
  });
  return found;
}

TEST(ThreadTeam, PinnedMembersAreSpreadOverTheProcessorsThatThereAre) {
  const std::vector<int> all = own_processors();
  // Two for each processor: they go round.
  ThreadTeam team(2 * all.size() + 1, "pinned", true);
  const std::vector<Member> members = members_of(team);
  EXPECT_EQ(members[0].processors, all) << "the caller is left alone";
  for (std::size_t k = 1; k < members.size(); ++k) {
    const int own = all[k % all.size()];
    EXPECT_EQ(members[k].processors, std::vector<int>{own}) << "member " << k;
    EXPECT_EQ(members[k].ran_on, own) << "member " << k;
  }
  EXPECT_EQ(own_processors(), all);
}

TEST(ThreadTeam, OtherMembersRunWhereTheyMay) {
  const std::vector<int> all = own_processors();
  ThreadTeam team(3, "a-name-that-is-long");
  const std::vector<Member> members = members_of(team);
  ASSERT_EQ(members.size(), 3U);
  for (const Member& member : members) EXPECT_EQ(member.processors, all);
  EXPECT_EQ(members[1].name, "a-name-that-is-") << "the system keeps 15 characters";
  ThreadTeam named(3, "ef");
  EXPECT_EQ(members_of(named)[1].name, "ef/1");
  EXPECT_EQ(members_of(named)[2].name, "ef/2");
}

TEST(ThreadTeam, TakesTheProcessorsThatTheProcessMayUseAndNoOthers) {
  const std::vector<int> all = own_processors();
  EXPECT_EQ(usable_processors(), all.size());
  EXPECT_EQ(ThreadTeam(0).size(), all.size());
  // A thread that is confined, for its teams as for a process: to the last processor, which is not number 0 where there are more.
  std::thread([&] {
    cpu_set_t last;
    CPU_ZERO(&last);
    CPU_SET(all.back(), &last);
    ASSERT_EQ(sched_setaffinity(0, sizeof(last), &last), 0);
    EXPECT_EQ(usable_processors(), 1U);
    EXPECT_EQ(ThreadTeam(0).size(), 1U);
    ThreadTeam team(3, "confined", true);
    for (const Member& member : members_of(team)) EXPECT_EQ(member.processors, std::vector<int>{all.back()});
  }).join();
}

TEST(CpuBackend, HandsOnWhetherItsThreadsStayOnOneProcessor) {
  const std::vector<int> all = own_processors();
  for (const bool pin : {false, true}) {
    const auto queue = make_cpu_backend(2, pin)->make_queue();
    auto& team = static_cast<ThreadTeam&>(*queue);
    const std::vector<int> wanted = pin ? std::vector<int>{all[1 % all.size()]} : all;
    EXPECT_EQ(members_of(team)[1].processors, wanted) << pin;
  }
  EXPECT_EQ(team_size(*make_cpu_backend(0)), all.size());
  EXPECT_EQ(team_size(*make_cpu_backend(3)), 3U);
}

}  // namespace
}  // namespace echoform
