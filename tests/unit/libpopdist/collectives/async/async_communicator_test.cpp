// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <latch>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "common/base/random.h"
#include "tests/testing/fork_at_rest.h"
#include "tests/unit/libpopdist/collectives/async/members.h"

namespace popdist {
namespace {

using testing::everybody;
using testing::forkAtRest;
using testing::MembersShape;
using testing::runMembers;
using testing::ThreadGroup;

std::set<std::string> threads() {
  std::set<std::string> found;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) found.insert(each.path());
  return found;
}

std::uint64_t blockedSignals(const std::string& thread) {
  std::ifstream status(thread + "/status");
  std::string word;
  while (status >> word && word != "SigBlk:") continue;
  std::uint64_t mask = 0;
  status >> std::hex >> mask;
  return mask;
}

class AsyncCollectives : public ::testing::TestWithParam<MembersShape> {
 public:
  static testing::GroupShape shape() { return GetParam().group(); }
};

INSTANTIATE_TEST_SUITE_P(Members, AsyncCollectives,
                         ::testing::Values(MembersShape{1}, MembersShape{2}, MembersShape{3}, MembersShape{4},
                                           MembersShape{8}, MembersShape{2, true}, MembersShape{3, true},
                                           MembersShape{2, false, 1}, MembersShape{4, false, 2},
                                           MembersShape{5, false, 2}),
                         testing::nameOfShape);

// The thread that carries out the calls waits for the next one, which a child has no thread for.
TEST_P(AsyncCollectives, CanBeDestroyedByAForkedChild) {
  ThreadGroup group(shape());
  std::barrier rest(group.instances());
  group.run([&](Context& context) {
    auto members = std::make_unique<AsyncCommunicator>(everybody(context));
    members->barrier("all are there").wait();
    for (int fork = 0; fork < 20 && context.instanceIndex() == 0; ++fork) {
      const pid_t child = forkAtRest();
      if (child == 0) {
        ::alarm(10);
        members.reset();
        ::_exit(0);
      }
      int status = -1;
      EXPECT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0) << "of fork " << fork;
    }
    rest.arrive_and_wait();
    context.fence();
  });
}

TEST_P(AsyncCollectives, ComputeWhatTheBlockingOnesDo) {
  ThreadGroup group(shape());
  runMembers(group, [](AsyncCommunicator& members) {
    const int n = members.size();
    const auto ranks = static_cast<std::size_t>(n);
    const int me = members.rank();
    const std::int32_t mine = me + 1;
    std::vector<std::int32_t> ones(ranks, 1);
    std::vector<std::int32_t> to_all(ranks);
    std::iota(to_all.begin(), to_all.end(), me * 100);
    std::int32_t sum = 0, most = 0, scattered = 0, from_root = me == n - 1 ? 77 : 0, part = 0;
    std::vector<std::int32_t> gathered(ranks), at_root(ranks), exchanged(ranks);

    const Pending all[] = {
        members.allReduce("allReduce", &mine, &sum, 1, Type::kInt32),
        members.reduceScatter("reduceScatter", ones.data(), &scattered, 1, Type::kInt32),
        members.reduce("reduce", &mine, &most, 1, Type::kInt32, Operator::kMax, 0),
        members.allGather("allGather", &mine, gathered.data(), 1, Type::kInt32),
        members.broadcast("broadcast", &from_root, 1, Type::kInt32, n - 1),
        members.gather("gather", &mine, at_root.data(), 1, Type::kInt32, 0),
        members.scatter("scatter", to_all.data(), &part, 1, Type::kInt32, 0),
        members.allToAll("allToAll", to_all.data(), exchanged.data(), 1, Type::kInt32),
        members.barrier("barrier"),
    };
    for (const Pending& each : all) each.wait();

    EXPECT_EQ(sum, n * (n + 1) / 2);
    EXPECT_EQ(scattered, n);
    EXPECT_EQ(most, me == 0 ? n : 0);
    EXPECT_EQ(from_root, 77);
    EXPECT_EQ(part, me);
    for (int rank = 0; rank < n; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      EXPECT_EQ(gathered[i], rank + 1);
      EXPECT_EQ(at_root[i], me == 0 ? rank + 1 : 0);
      EXPECT_EQ(exchanged[i], rank * 100 + me);
    }
  });
}

// Rank r gives r + 1 elements, or so many to each; the counts are gone when the calls are carried out.
TEST_P(AsyncCollectives, ComputeWhatTheBlockingRaggedOnesDo) {
  ThreadGroup group(shape());
  runMembers(group, [](AsyncCommunicator& members) {
    const auto n = static_cast<std::size_t>(members.size());
    const auto me = static_cast<std::size_t>(members.rank());
    const std::vector<std::int32_t> mine(n * (me + 1), members.rank());
    std::vector<std::int32_t> gathered(n * (n + 1) / 2, -1), exchanged(gathered), received(1, -1);
    const int next = static_cast<int>((me + 1) % n), previous = static_cast<int>((me + n - 1) % n);
    std::vector<Pending> all;
    {
      std::vector<std::size_t> counts(n), send_counts(n, me + 1);
      std::iota(counts.begin(), counts.end(), std::size_t{1});
      all.push_back(members.allGather("allGather", mine.data(), gathered.data(), counts, Type::kInt32));
      all.push_back(
          members.allToAll("allToAll", mine.data(), send_counts, exchanged.data(), counts, Type::kInt32));
      all.push_back(
          members.sendRecv("sendRecv", mine.data(), 1, next, received.data(), 1, previous, Type::kInt32));
    }
    for (const Pending& each : all) each.wait();
    std::vector<std::int32_t> expected;
    for (std::size_t rank = 0; rank < n; ++rank)
      expected.insert(expected.end(), rank + 1, static_cast<int>(rank));
    EXPECT_EQ(gathered, expected);
    EXPECT_EQ(exchanged, expected);
    EXPECT_THAT(received, ::testing::ElementsAre(previous));
  });
}

// Sums of `calls` tensors, each of another length and value, issued and awaited in orders of its own.
void sumInOwnOrder(AsyncCommunicator& members, const std::string& prefix, int calls, unsigned seed) {
  pop::SplitMix64 random(seed);
  std::vector<int> order(static_cast<std::size_t>(calls));
  std::iota(order.begin(), order.end(), 0);
  pop::shuffle(std::span(order), random);
  std::vector<std::vector<float>> data(order.size());
  std::vector<std::optional<Pending>> pending(order.size());
  for (const int call : order) {
    const auto i = static_cast<std::size_t>(call);
    data[i].assign(1 + i * i * 2, static_cast<float>(members.rank() + call));
    pending[i] = members.allReduce(prefix + std::to_string(call), data[i].data(), data[i].data(),
                                   data[i].size(), Type::kFloat);
  }
  pop::shuffle(std::span(order), random);
  const int n = members.size();
  for (const int call : order) {
    const auto i = static_cast<std::size_t>(call);
    pending[i]->wait();
    EXPECT_TRUE(pending[i]->done());
    EXPECT_THAT(data[i], ::testing::Each(static_cast<float>(n * call + n * (n - 1) / 2))) << call;
  }
}

TEST_P(AsyncCollectives, MayBeIssuedInDifferentOrders) {
  ThreadGroup group(shape());
  runMembers(group, [](AsyncCommunicator& members) {
    for (unsigned step = 0; step < 5; ++step)
      sumInOwnOrder(members, "", 30, 100 * step + static_cast<unsigned>(members.rank()));
  });
}

TEST_P(AsyncCollectives, MayBeIssuedBySeveralThreads) {
  ThreadGroup group(shape());
  runMembers(group, [](AsyncCommunicator& members) {
    std::vector<std::jthread> threads;
    for (unsigned thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&members, thread] {
        const std::string prefix = "thread " + std::to_string(thread) + " call ";
        for (unsigned step = 0; step < 3; ++step)
          sumInOwnOrder(members, prefix, 12, 10 * step + 7 * static_cast<unsigned>(members.rank()) + thread);
      });
    }
  });
}

// A program that blocks SIGTERM in its own threads awaits it by sigwait().
TEST(AsyncCommunicator, ItsThreadTakesNoSignals) {
  ThreadGroup group(1);
  group.run([](Context& context) {
    const std::set<std::string> before = threads();
    AsyncCommunicator members = everybody(context);
    members.barrier("its thread has begun").wait();  // until then it takes none at all
    std::set<std::string> more = threads();
    for (const std::string& thread : before) more.erase(thread);
    ASSERT_EQ(more.size(), 1U);
    const std::uint64_t blocked = blockedSignals(*more.begin());
    EXPECT_NE(blocked & (1U << (SIGTERM - 1)), 0U);
    EXPECT_EQ(blocked & (1U << (SIGSEGV - 1)), 0U) << "a program may give memory when it is touched";
  });
}

TEST(AsyncCommunicator, EachThreadWaitsForItsOwnThoughTheOthersComeTheOtherWayRound) {
  ThreadGroup group(2);
  runMembers(group, [](AsyncCommunicator& members) {
    const std::string names[] = {"first", "second"};
    for (int step = 0; step < 50; ++step) {
      for (int turn = 0; turn < 2; ++turn) {
        // One at a time on each instance would wait for ever: here the other name is issued by another
        // thread.
        const std::string& one = names[(turn + members.rank()) % 2];
        const std::string& other = names[(turn + members.rank() + 1) % 2];
        int a = 1, b = 1;
        std::jthread thread([&] { members.allReduce(one, &a, &a, 1, Type::kInt32).wait(); });
        members.allReduce(other, &b, &b, 1, Type::kInt32).wait();
        thread.join();
        EXPECT_EQ(a, 2);
        EXPECT_EQ(b, 2);
      }
    }
  });
}

TEST(AsyncCommunicator, ResultsAreThereWhenDoneSaysSo) {
  ThreadGroup group(2);
  runMembers(group, [](AsyncCommunicator& members) {
    for (int step = 0; step < 200; ++step) {
      std::vector<int> data(100, 1);
      const Pending pending = members.allReduce("sum", data.data(), data.data(), data.size(), Type::kInt32);
      while (!pending.done()) std::this_thread::yield();
      EXPECT_THAT(data, ::testing::Each(2));
      pending.wait();
    }
  });
}

TEST(AsyncCommunicator, WorksBesideOthersOfTheSameMembersAndOfSome) {
  ThreadGroup group(3);
  group.run([](Context& context) {
    AsyncCommunicator all = everybody(context);
    auto two = context.createCommunicator({0, 2});
    int everyone = 1;
    const Pending pending = all.allReduce("sum", &everyone, &everyone, 1, Type::kInt32);
    if (two) {
      AsyncCommunicator pair(std::move(two));
      EXPECT_EQ(pair.size(), 2);
      int both = 1;
      pair.allReduce("sum", &both, &both, 1, Type::kInt32).wait();
      EXPECT_EQ(both, 2);
    }
    context.world().synchronize();
    pending.wait();
    EXPECT_EQ(everyone, 3);
  });
}

TEST(AsyncCommunicator, WaitsForAMemberThatMakesItsOwnLater) {
  ThreadGroup group(2);
  std::latch issued(1);
  group.run([&](Context& context) {
    auto communicator = context.createCommunicator({0, 1});
    if (context.instanceIndex() == 1) issued.wait();
    AsyncCommunicator members(std::move(communicator));
    int value = 1;
    const Pending pending = members.allReduce("sum", &value, &value, 1, Type::kInt32);
    if (context.instanceIndex() == 0) issued.count_down();
    pending.wait();
    EXPECT_EQ(value, 2);
  });
}

TEST(AsyncCommunicator, ADroppedPendingGoesOn) {
  ThreadGroup group(2);
  runMembers(group, [](AsyncCommunicator& members) {
    int value = 1;
    members.allReduce("dropped", &value, &value, 1, Type::kInt32);
    members.barrier("later").wait();
    EXPECT_EQ(value, 2);
  });
}

}  // namespace
}  // namespace popdist
