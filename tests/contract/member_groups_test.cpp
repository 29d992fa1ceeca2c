// SPDX-License-Identifier: Apache-2.0
// Communicators that their members make without the other instances: on one host, and as if on several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/contract/wrong_calls.h"

namespace popdist::contract {
namespace {

using ::testing::AllOf;
using testing::GroupShape;
using ::testing::HasSubstr;
using testing::ThreadGroup;

constexpr Milliseconds kShortTimeout{300};

GroupShape shapeOf(std::size_t instances, int per_host, Milliseconds timeout = kLongTimeout) {
  GroupShape shape{.replicas_of_instance = std::vector<int>(instances, 1), .timeout = timeout};
  shape.instances_per_host = per_host;
  return shape;
}

int sumWith(Communicator& members, int value) {
  std::vector<int> data{value};
  members.allReduce(std::span(data));
  return data.front();
}

/// 0: on one host.
class MemberGroups : public ::testing::TestWithParam<int> {};

TEST_P(MemberGroups, AreMadeByTheirMembersAlone) {
  ThreadGroup group(shapeOf(4, GetParam()));
  std::latch made(2);
  group.run([&](Context& context) {
    const int self = context.instanceIndex();
    if (self == 1 || self == 3) {
      const auto pair = context.createCommunicator({1, 3}, "odd");
      EXPECT_EQ(pair->rank(), self / 2);
      EXPECT_EQ(sumWith(*pair, self), 4);
      made.count_down();
    } else {
      made.wait();  // they need nobody else
    }
    context.fence();
  });
}

TEST_P(MemberGroups, AreMadeInAnyOrderByThreads) {
  ThreadGroup group(shapeOf(3, GetParam()));
  group.run([&](Context& context) {
    const auto self = static_cast<unsigned>(context.instanceIndex());
    const std::vector<std::set<unsigned>> pairs{{0, 1}, {1, 2}, {0, 2}};
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::set<unsigned>& members = pairs[(i + self) % pairs.size()];
      if (!members.contains(self)) continue;
      threads.emplace_back([&context, members] {
        const std::string name = std::to_string(*members.begin()) + std::to_string(*members.rbegin());
        for (int times = 0; times < 3; ++times) {
          const auto pair = context.createCommunicator(members, name);
          EXPECT_EQ(sumWith(*pair, context.instanceIndex()),
                    static_cast<int>(*members.begin() + *members.rbegin()));
        }
      });
    }
    threads.clear();
    context.fence();
  });
}

TEST_P(MemberGroups, MayShareANameIfTheyShareNoMember) {
  ThreadGroup group(shapeOf(4, GetParam()));
  group.run([](Context& context) {
    const auto self = static_cast<unsigned>(context.instanceIndex());
    const unsigned other = self ^ 2U;
    const auto pair = context.createCommunicator({self, other}, "pair");
    EXPECT_EQ(sumWith(*pair, context.instanceIndex()), static_cast<int>(self + other));
    const auto alone = context.createCommunicator({self}, "pair");
    EXPECT_EQ(sumWith(*alone, 7), 7);
    context.fence();
  });
}

TEST_P(MemberGroups, OfDifferentMembersAreAnErrorThatNamesBoth) {
  ThreadGroup group(shapeOf(3, GetParam()));
  group.run([](Context& context) {
    const int self = context.instanceIndex();
    if (self < 2) {
      const auto wanted = self == 0 ? std::set<unsigned>{0, 1, 2} : std::set<unsigned>{0, 1};
      const auto begin = Clock::now();
      const Reported report = reportOf([&] { context.createCommunicator(wanted, "g"); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kFailedPrecondition)) << report.what;
      EXPECT_EQ(report.peer, 1 - self);
      EXPECT_THAT(report.what, AllOf(HasSubstr("'g'"), HasSubstr("0 makes it of instances 0-2"),
                                     HasSubstr("1 makes it of instances 0, 1")));
      EXPECT_LT(Clock::now() - begin, kInTime);
    }
    context.fence();
  });
}

// Neither is the other's leader.
TEST_P(MemberGroups, WithDifferentLeadersAreToldApart) {
  ThreadGroup group(shapeOf(3, GetParam()));
  group.run([](Context& context) {
    const int self = context.instanceIndex();
    if (self != 1) {
      const auto wanted = self == 0 ? std::set<unsigned>{0, 2} : std::set<unsigned>{1, 2};
      const Reported report = reportOf([&] { context.createCommunicator(wanted, "g"); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kFailedPrecondition)) << report.what;
      EXPECT_THAT(report.what, AllOf(HasSubstr("of instances 0, 2"), HasSubstr("of instances 1, 2")));
    }
    context.fence();
  });
}

TEST_P(MemberGroups, NameThoseThatDoNotCome) {
  ThreadGroup group(shapeOf(5, GetParam(), kShortTimeout));
  group.run([](Context& context) {
    const int self = context.instanceIndex();
    if (self < 3) {
      const Reported report = reportOf([&] { context.createCommunicator({0, 1, 2, 3, 4}, "g"); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kDeadlineExceeded)) << report.what;
      EXPECT_THAT(report.what, AllOf(HasSubstr("have not come in time to make 'g'"), HasSubstr("3, 4 have")));
      EXPECT_GE(report.peer, self == 0 ? 3 : 1) << report.what;
    }
    context.setTimeout(kLongTimeout);
    context.fence();
    const auto all = context.createCommunicator({0, 1, 2, 3, 4}, "g");
    EXPECT_EQ(sumWith(*all, 1), 5);
    context.fence();
  });
}

TEST_P(MemberGroups, NameALeaderThatDoesNotCome) {
  ThreadGroup group(shapeOf(3, GetParam(), kShortTimeout));
  group.run([](Context& context) {
    if (context.instanceIndex() > 0) {
      const Reported report = reportOf([&] { context.createCommunicator({0, 1, 2}, "g"); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kDeadlineExceeded)) << report.what;
      EXPECT_THAT(report.what, HasSubstr("instance 0 has not come in time to make 'g'"));
      EXPECT_EQ(report.peer, 0);
    }
    context.setTimeout(kLongTimeout);
    context.fence();
  });
}

TEST_P(MemberGroups, HearOfAnEndAtOnce) {
  for (const int ends : {0, 2}) {
    ThreadGroup group(shapeOf(3, GetParam()));
    group.run([&group, ends](Context& context) {
      if (context.instanceIndex() == ends)
        return group.end(ends, false, "instance " + std::to_string(ends) + " (pid 7) was killed by SIGKILL");
      const auto begin = Clock::now();
      const Reported report = reportOf([&] { context.createCommunicator({0, 1, 2}, "g"); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kUnavailable)) << report.what;
      EXPECT_EQ(report.peer, ends);
      EXPECT_THAT(report.what, HasSubstr("(pid 7) was killed by SIGKILL"));
      EXPECT_LT(Clock::now() - begin, kInTime);
    });
  }
}

TEST_P(MemberGroups, AreRefusedForBadArguments) {
  ThreadGroup group(shapeOf(2, GetParam()));
  group.run([](Context& context) {
    const auto self = static_cast<unsigned>(context.instanceIndex());
    const auto refusal = [&](const std::set<unsigned>& members, const std::string& name) {
      const Reported report = reportOf([&] { context.createCommunicator(members, name); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kInvalidArgument)) << report.what;
      return report.what;
    };
    EXPECT_THAT(refusal({1 - self}, "g"), HasSubstr("instance " + std::to_string(self) + " is not among"));
    EXPECT_THAT(refusal({}, "g"), HasSubstr("the set is empty"));
    EXPECT_THAT(refusal({0, 1, 2}, "g"), HasSubstr("2 does not exist"));
    EXPECT_THAT(refusal({0, 1}, ""), HasSubstr("the name ''"));
    EXPECT_THAT(refusal({0, 1}, "popdist/g"), HasSubstr("reserved for libpopdist"));
    EXPECT_THAT(refusal({0, 1}, std::string(201, 'g')), HasSubstr("from 1 to 200 bytes"));
    context.fence();
  });
}

INSTANTIATE_TEST_SUITE_P(Hosts, MemberGroups, ::testing::Values(0, 1, 2));

}  // namespace
}  // namespace popdist::contract
