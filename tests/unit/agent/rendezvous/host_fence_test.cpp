// SPDX-License-Identifier: Apache-2.0
// Fences through the slots of the host's segment: libpopdist's end of the link, one thread for each instance,
// and the agent's. The controller's part is played by the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <barrier>
#include <csignal>
#include <cstring>
#include <functional>
#include <latch>
#include <optional>
#include <random>
#include <thread>

#include "common/sys/memfd.h"
#include "libpopdist/collectives/context/agent_link.h"
#include "tests/unit/agent/rendezvous/instance_server_fixture.h"

namespace pop::agent {
namespace {

using popdist::context::AgentLink;
using popdist::context::LinkError;
using std::chrono::milliseconds;

constexpr int kInstances = 3;
constexpr milliseconds kFenceTimeout{20'000};
constexpr milliseconds kShortTimeout{50};

class HostFenceTest : public InstanceServerTest {
 protected:
  using Program = std::function<void(AgentLink& link, int instance)>;

  std::unique_ptr<AgentLink> connect(int instance) const {
    contract::InstanceEnv env;
    env.job_id = job_id;
    env.agent_socket = socket;
    env.num_instances = 4;
    env.instance_index = instance;
    env.num_local_instances = instances_here;
    env.local_instance_index = instance - first_here;
    auto link = AgentLink::connect(env, kFenceTimeout, answer_slack);
    EXPECT_TRUE(link.ok()) << link.status().message();
    return std::move(*link);
  }

  /// Runs `program` as each of `instances` to its end. Fences are opened as soon as this host has reached
  /// them; `meanwhile` is called again and again.
  void run(
      const std::vector<int>& instances, const Program& program,
      const std::function<void()>& meanwhile = [] {}) {
    std::atomic<std::size_t> ended = 0;
    std::vector<std::jthread> threads;
    for (const int instance : instances) {
      threads.emplace_back([&, instance] {
        const std::unique_ptr<AgentLink> link = connect(instance);
        header = link->segment().header();
        program(*link, instance);
        ++ended;
      });
    }
    testing::runUntil(loop, [&] {
      if (others_come && opened < fences.size()) server->releaseFence(fences[opened++]);
      meanwhile();
      return ended == instances.size();
    });
  }

  bool areInside(const std::vector<int>& instances) const {
    return header != nullptr && std::all_of(instances.begin(), instances.end(), [this](int each) {
             return contract::isInside(contract::fenceSlotsOf(header, 4)[static_cast<std::size_t>(each)]);
           });
  }

  /// For instances, in which these are inside soon.
  void awaitInside(const std::vector<int>& instances) const {
    while (!areInside(instances)) std::this_thread::yield();
  }

  static void expectLate(AgentLink& link, int missing, const std::string& who) {
    const LinkError error = link.fence("fence", kShortTimeout, {});
    EXPECT_EQ(error.status.code(), Code::kDeadlineExceeded);
    EXPECT_EQ(error.instance, missing);
    EXPECT_EQ(error.status.message(), who + " not entered the fence in time (Context::setTimeout)");
  }

  milliseconds answer_slack = kFenceTimeout;  ///< the agent's thread may get no CPU for a while
  int first_here = 0;
  int instances_here = kInstances;
  bool others_come = true;  ///< the instances of other hosts, to each fence that this one has reached
  std::size_t opened = 0;
  std::atomic<contract::SegmentHeader*> header = nullptr;
};

TEST_F(HostFenceTest, OpensForAllAgainAndAgain) {
  std::atomic<int> entered = 0;
  run({0, 1, 2}, [&](AgentLink& link, int) {
    for (int round = 1; round <= 300; ++round) {
      ++entered;
      const LinkError error = link.fence("fence", kFenceTimeout, {});
      ASSERT_TRUE(error.ok()) << error.status.message();
      ASSERT_GE(entered.load(), kInstances * round) << "somebody was not there yet";
    }
  });
  EXPECT_EQ(fences.size(), 300U);
}

TEST_F(HostFenceTest, MakesAllValuesUnderAPrefixVisibleInOneAnswer) {
  run({0, 1, 2}, [&](AgentLink& link, int self) {
    ASSERT_TRUE(link.put("of/" + std::to_string(self), std::to_string(self * 11), kFenceTimeout).ok());
    ASSERT_TRUE(link.put("off", "another", kFenceTimeout).ok());
    AgentLink::Values values;
    ASSERT_TRUE(link.getAll("of/", kFenceTimeout, values).ok());
    EXPECT_TRUE(values.empty()) << "before the fence";
    ASSERT_TRUE(link.fence("fence", kFenceTimeout, {}).ok());
    ASSERT_TRUE(link.getAll("of/", kFenceTimeout, values).ok());
    EXPECT_EQ(values, (AgentLink::Values{{"of/0", "0"}, {"of/1", "11"}, {"of/2", "22"}}));
  });
}

// Two values that are too long together with their keys. Not more: sanitizers copy some 20 MB/s.
TEST_F(HostFenceTest, RefusesMoreValuesThanAMessageHolds) {
  const std::string vs(contract::kMaxFrameBytes / 2, 'v');
  run({0, 1, 2}, [&](AgentLink& link, int self) {
    for (int round = 0; round < 2; ++round) {
      ASSERT_TRUE(self != round || link.put("large/" + std::to_string(self), vs, kFenceTimeout).ok());
      ASSERT_TRUE(link.fence("fence", kFenceTimeout, {}).ok());
    }
    if (self < 2) return;
    AgentLink::Values values;
    EXPECT_EQ(link.getAll("large/", kFenceTimeout, values).status.code(), Code::kResourceExhausted);
    ASSERT_TRUE(link.getAll("large/1", kFenceTimeout, values).ok());
    EXPECT_EQ(values.at("large/1").size(), vs.size());
  });
}

TEST_F(HostFenceTest, MakesVisibleWhatWasPutBeforeItAndNothingSooner) {
  const auto puts = [](int round, int instance) { return (round * 7 + instance * 5) % 3 == 0; };
  const auto key = [](int round, int instance) {
    return std::to_string(round) + '/' + std::to_string(instance);
  };
  run({0, 1, 2}, [&](AgentLink& link, int self) {
    std::mt19937 random(static_cast<unsigned>(self));
    for (int round = 0; round < 200; ++round) {
      const std::size_t bytes = round % 50 == 0 ? 1 << 20 : random() % 300;
      if (puts(round, self)) {
        ASSERT_TRUE(link.put(key(round, self), std::string(bytes, 'v'), kFenceTimeout).ok());
      }
      for (int each = 0; each < kInstances; ++each) {
        std::optional<std::string> value;
        ASSERT_TRUE(link.get(key(round, each), kFenceTimeout, value).ok());
        ASSERT_FALSE(value.has_value()) << "before the fence, round " << round;
      }
      const LinkError error = link.fence("fence", kFenceTimeout, {});
      ASSERT_TRUE(error.ok()) << error.status.message();
      for (int each = 0; each < kInstances; ++each) {
        std::optional<std::string> value;
        ASSERT_TRUE(link.get(key(round, each), kFenceTimeout, value).ok());
        ASSERT_EQ(value.has_value(), puts(round, each)) << "round " << round << ", instance " << each;
      }
    }
  });
}

TEST_F(HostFenceTest, OpensAlsoForTagsTooLongForASlot) {
  const std::string tag(contract::kSlotTagBytes + 1, 'x');
  run({0, 1, 2}, [&](AgentLink& link, int) {
    EXPECT_TRUE(link.fence(tag, kFenceTimeout, {}).ok());
    EXPECT_TRUE(link.fence("short", kFenceTimeout, {}).ok());
  });
  EXPECT_EQ(fences.size(), 2U);
}

TEST_F(HostFenceTest, ADeathIsToldToThoseWhoWaitAndToThoseWhoComeLater) {
  bool told = false;
  run(
      {0, 2},
      [](AgentLink& link, int) {
        for (int time = 0; time < 2; ++time) {
          const LinkError error = link.fence("fence", kFenceTimeout, {});
          EXPECT_EQ(error.status.code(), Code::kUnavailable);
          EXPECT_EQ(error.instance, 1);
          EXPECT_EQ(error.status.message(), "instance 1 (pid 7) was killed by SIGKILL");
        }
      },
      [&] {
        if (told || !areInside({0, 2})) return;
        told = true;
        server->announce({.instance = 1, .text = "instance 1 (pid 7) was killed by SIGKILL"});
      });
  EXPECT_TRUE(told);
}

TEST_F(HostFenceTest, ThatTakesTooLongNamesWhoIsMissingAndCanBeRepeated) {
  std::latch late(1);
  run({0, 1, 2}, [&](AgentLink& link, int self) {
    if (self == 0) {
      awaitInside({2});
      expectLate(link, 1, "instance 1 has");
      late.count_down();
    }
    if (self == 1) late.wait();
    EXPECT_TRUE(link.fence("fence", kFenceTimeout, {}).ok());
  });
}

TEST_F(HostFenceTest, ThatTakesTooLongForOneAfterTheOtherNamesWhoHasNeverCome) {
  std::latch late(1);
  std::latch all_late(kInstances);
  run({0, 1, 2}, [&](AgentLink& link, int self) {
    if (self == 0) {
      expectLate(link, 1, "instances 1, 2 have");
      late.count_down();
    }
    if (self == 2) {
      late.wait();
      expectLate(link, 1, "instance 1 has");
    }
    all_late.arrive_and_wait();
    EXPECT_TRUE(link.fence("fence", kFenceTimeout, {}).ok());
  });
}

TEST_F(HostFenceTest, ThatWaitsForAnotherHostSaysSo) {
  const std::string who = "an instance on another host has";
  others_come = false;
  std::atomic<bool> late = false;
  std::latch opened_for_1(1);
  std::latch late_again(1);
  run(
      {0, 1, 2},
      [&](AgentLink& link, int self) {
        if (self == 0) {
          awaitInside({1, 2});
          expectLate(link, -1, who);
          late = true;
          late_again.wait();
        } else {
          EXPECT_TRUE(link.fence("fence", kFenceTimeout, {}).ok());
        }
        if (self == 1) opened_for_1.count_down();
        if (self == 2) {  // while instance 0 has given up, which was here
          opened_for_1.wait();
          awaitInside({1});
          expectLate(link, -1, who);
          late_again.count_down();
        }
        EXPECT_TRUE(link.fence("fence", kFenceTimeout, {}).ok());
      },
      [&] { others_come = late; });
}

TEST_F(HostFenceTest, ForDifferentThingsFailsForAllInside) {
  run({0, 1}, [](AgentLink& link, int self) {
    const LinkError error = link.fence("communicator " + std::to_string(self), kFenceTimeout, {});
    EXPECT_EQ(error.status.code(), Code::kFailedPrecondition);
    EXPECT_THAT(error.status.message(),
                ::testing::AllOf(::testing::HasSubstr("different calls"),
                                 ::testing::HasSubstr("instance 0 in 'communicator 0'"),
                                 ::testing::HasSubstr("instance 1 in 'communicator 1'")));
  });
}

TEST_F(HostFenceTest, AnswersEveryEntryHoweverShortItsTimeIs) {
  std::barrier together(kInstances);
  std::latch done(kInstances);
  std::atomic<int> in_time = 0;
  run({0, 1, 2}, [&](AgentLink& link, int self) {
    std::mt19937 random(static_cast<unsigned>(self));
    for (int round = 0; round < 300; ++round) {
      const bool for_long = round % 50 == 0;
      if (for_long) together.arrive_and_wait();
      const LinkError error = link.fence("fence", for_long ? kFenceTimeout : milliseconds(random() % 3), {});
      ASSERT_TRUE(error.ok() || error.status.code() == Code::kDeadlineExceeded) << error.status.message();
      ASSERT_NE(error.status.message(), "poprun's agent did not answer before the deadline");
      in_time += error.ok() ? 1 : 0;
    }
    done.arrive_and_wait();
    const LinkError error = link.fence("fence", kFenceTimeout, {});
    EXPECT_TRUE(error.ok()) << error.status.message();
  });
  EXPECT_GT(in_time, 0);
}

constexpr milliseconds kSlack{3'000};
constexpr milliseconds kStandstill{4'500};  // longer than the fence and what the agent has to answer

// An instance that stands still in a fence, as one whose process is stopped.
class HostFenceAtAStandstill : public HostFenceTest {
 protected:
  HostFenceAtAStandstill() {
    answer_slack = kSlack;
    std::signal(SIGUSR1, [](int) { ::poll(nullptr, 0, static_cast<int>(kStandstill.count())); });
  }
  ~HostFenceAtAStandstill() override { std::signal(SIGUSR1, SIG_DFL); }

  /// The error of instance 0, alone in a fence whose time is up when it moves again; and it can go on.
  LinkError standStill(const std::function<void()>& meanwhile = [] {}) {
    LinkError error;
    pthread_t thread{};
    std::latch standing(1);
    bool told = false;
    run(
        {0},
        [&](AgentLink& link, int) {
          thread = ::pthread_self();
          error = link.fence("fence", milliseconds(1000), {});
          standing.wait();  // only a thread that is there can be told
          std::optional<std::string> value;
          EXPECT_TRUE(link.get("key", kFenceTimeout, value).ok());
        },
        [&] {
          if (told || !areInside({0})) return;
          told = true;
          ::pthread_kill(thread, SIGUSR1);
          standing.count_down();
          meanwhile();
        });
    return error;
  }
};

TEST_F(HostFenceAtAStandstill, AsksForAnAnswerAfterwards) {
  const LinkError error = standStill();
  EXPECT_EQ(error.status.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(error.status.message(),
            "instances 1, 2 have not entered the fence in time (Context::setTimeout)");
}

TEST_F(HostFenceAtAStandstill, TakesTheAnswerThatHasComeMeanwhile) {
  const LinkError error =
      standStill([&] { server->announce({.instance = 1, .text = "instance 1 was killed"}); });
  EXPECT_EQ(error.status.code(), Code::kUnavailable);
  EXPECT_EQ(error.status.message(), "instance 1 was killed");
}

TEST_F(HostFenceTest, TheAgentsEndIsNoticed) {
  run(
      {0, 2},
      [](AgentLink& link, int) {
        const LinkError error = link.fence("fence", kFenceTimeout, {});
        EXPECT_EQ(error.status.code(), Code::kUnavailable);
        EXPECT_THAT(error.status.message(), ::testing::HasSubstr("poprun's agent is gone"));
      },
      [&] {
        if (server && areInside({0, 2})) server.reset();
      });
}

TEST_F(HostFenceTest, AnInstanceThatEndsLeavesNothingInsideForItsNextProcess) {
  run({1}, [](AgentLink& link, int) {
    EXPECT_EQ(link.fence("fence", milliseconds(1), {}).status.code(), Code::kDeadlineExceeded);
  });
  run({0, 1, 2}, [](AgentLink& link, int) { EXPECT_TRUE(link.fence("fence", kFenceTimeout, {}).ok()); });
}

TEST_F(HostFenceTest, OpensForOneThatIsAloneOnItsHost) {
  JobSlice slice{.job_id = job_id, .num_instances = 4};
  slice.instances.push_back({.env = {.num_instances = 4, .instance_index = 2, .num_local_instances = 1}});
  socket = server->open(slice).value();
  first_here = 2;
  instances_here = 1;
  run({2}, [](AgentLink& link, int) {
    for (int round = 0; round < 3; ++round) EXPECT_TRUE(link.fence("fence", kFenceTimeout, {}).ok());
    EXPECT_TRUE(link.put("key", "value", kFenceTimeout).ok());
    EXPECT_TRUE(link.fence("fence", kFenceTimeout, {}).ok());
  });
  EXPECT_EQ(fences.size(), 4U);
}

// The agent goes on, whatever is written into the segment.
TEST_F(HostFenceTest, SurvivesScribblesInTheSegment) {
  const auto clients = allInstances();
  const sys::Mapping mapping =
      sys::mapShared(clients[0]->fds().at(0).get(), contract::controlBlockBytesFor(4)).value();
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    for (std::size_t at = 0; at < mapping.size(); ++at)
      mapping.data()[at] = round == 0 ? std::byte{0xff} : static_cast<std::byte>(random());
    for (const auto& client : clients) client->send(Message::kLook, {});
    clients[1]->send(Message::kFenceLate, {std::to_string(random())});
    for (const auto& client : clients) client->send(Message::kGet, {"key"});
    for (const auto& client : clients) {
      std::optional<contract::Frame> answer;
      do {
        answer = client->receive();
        ASSERT_TRUE(answer.has_value()) << "in round " << round;
      } while (answer->type != static_cast<std::uint8_t>(Message::kValue));
    }
    server->releaseFence({});
  }
}

}  // namespace
}  // namespace pop::agent
