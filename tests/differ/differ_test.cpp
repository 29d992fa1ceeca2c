// SPDX-License-Identifier: Apache-2.0
// Every instance hears at once of an argument that is another on one of them, whichever that is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "common/base/text.h"
#include "libpopdist/collectives/api/context_impl.h"
#include "libpopdist/collectives/group/group.h"
#include "popdist/error.hpp"
#include "tests/differ/heard.h"
#include "tests/differ/row.h"
#include "tests/testing/thread_group.h"

namespace popdist::testing {
namespace {

constexpr int kLate_ms = 700;  // a wait is seen after 300

struct Setting {
  int instances_per_host = 0;
  int odd = 1;     // instance
  int before = 0;  // equal calls
};

void expect(const Row& row, const Setting& setting) {
  const bool over_hosts = setting.instances_per_host > 0;
  std::vector<std::string> heard(kInstances);
  const auto begin = std::chrono::steady_clock::now();
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1},
                               .timeout = deadlineOf(row),
                               .instances_per_host = setting.instances_per_host});
  group.run([&](Context& context) {
    try {
      make(row, context, context.instanceIndex() == setting.odd, setting.before);
    } catch (const popdist_error& error) {
      heard[static_cast<std::size_t>(context.instanceIndex())] = error.what();
    }
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kAtOnce);
  expectHeard(row, over_hosts, heard);
}

/// Each instance is the one that differs, in the first call and in a later one.
TEST(InstancesThatDiffer, HearOfItAtOnceOnOneHost) {
  for (const Row& row : allRows()) {
    for (const Setting& setting :
         {Setting{.odd = 0, .before = 0}, Setting{.odd = 1, .before = kEqualCalls}}) {
      SCOPED_TRACE(nameOf(row) + " after " + std::to_string(setting.before));
      expect(row, setting);
    }
  }
}

TEST(InstancesThatDiffer, HearOfItAtOnceOverHosts) {
  for (const Row& row : allRows()) {
    for (const Setting& setting : {Setting{.instances_per_host = 1, .odd = 0, .before = 0},
                                   Setting{.instances_per_host = 1, .odd = 1, .before = 0},
                                   Setting{.instances_per_host = 1, .odd = 1, .before = kEqualCalls}}) {
      SCOPED_TRACE(nameOf(row) + " of instance " + std::to_string(setting.odd) + " after " +
                   std::to_string(setting.before));
      expect(row, setting);
    }
  }
}

/// One of several instances calls on another communicator than the rest.
void expectCrossing(int instances, int instances_per_host, int odd) {
  SCOPED_TRACE("instance " + std::to_string(odd) + " of " + std::to_string(instances) + ", " +
               std::to_string(instances_per_host) + " on a host");
  const auto count = static_cast<std::size_t>(instances);
  std::vector<std::string> heard(count);
  const auto begin = std::chrono::steady_clock::now();
  ThreadGroup group(GroupShape{.replicas_of_instance = std::vector<int>(count, 1),
                               .timeout = kDeadline,
                               .instances_per_host = instances_per_host});
  group.run([&](Context& context) {
    const int own = context.instanceIndex();
    const auto other = context.createCommunicator({0, 1, 2});
    std::array<float, 5> values{};
    try {
      if (own == odd)
        other->barrier();
      else
        context.world().allReduce(values);
    } catch (const popdist_error& error) {
      heard[static_cast<std::size_t>(own)] = error.what();
    }
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kAtOnce);
  for (const std::string& text : heard)
    EXPECT_THAT(text, ::testing::AllOf(::testing::HasSubstr("in allReduce (sum of 5 float)"),
                                       ::testing::HasSubstr("in barrier")));
}

TEST(InstancesThatDiffer, AreFoundAmongSeveral) {
  for (const int per_host : {0, 1, 2})
    for (int odd = 0; odd < 3; ++odd) expectCrossing(3, per_host, odd);
  for (int odd = 0; odd < 3; ++odd) expectCrossing(4, 2, odd);
}

/// Each instance has a thread that calls on another communicator than the one that made both, and each is
/// late with another of the two, for longer than a wait goes unseen.
void letThreadsComeLate(int instances_per_host) {
  ThreadGroup group(GroupShape{
      .replicas_of_instance = {1, 1}, .timeout = kDeadline, .instances_per_host = instances_per_host});
  group.run([](Context& context) {
    const auto other = context.createCommunicator({0, 1});
    const bool thread_is_late = context.instanceIndex() == 0;
    const auto call = [](Communicator& all, bool is_late) {
      if (is_late) ::poll(nullptr, 0, kLate_ms);
      all.barrier();
    };
    std::thread thread([&] { call(context.world(), thread_is_late); });
    call(*other, !thread_is_late);
    thread.join();
  });
}

TEST(InstancesThatDiffer, MayHaveThreadsThatComeLateOnOneHost) {
  letThreadsComeLate(0);
}

TEST(InstancesThatDiffer, MayHaveThreadsThatComeLateOverHosts) {
  letThreadsComeLate(1);
}

/// An instance that is late stays away from a call of another communicator meanwhile: no rank takes that for
/// a wait in vain, also where the notes of both are read much later.
TEST(InstancesThatDiffer, MayBeLateAtEveryCallOverHosts) {
  ThreadGroup group(
      GroupShape{.replicas_of_instance = {1, 1}, .timeout = kDeadline, .instances_per_host = 1});
  group.run([](Context& context) {
    const auto other = context.createCommunicator({0, 1});
    for (int call = 0; call < 4; ++call) {
      if (context.instanceIndex() == call % 2) ::poll(nullptr, 0, kLate_ms);
      (call / 2 == 0 ? context.world() : *other).barrier();
    }
  });
}

/// One of two hosts' members is late at calls that go to the other host in several ways: a note of the call
/// before is not taken for one of this call.
TEST(InstancesThatDiffer, MayBeLateAtCallsOfEachWayOverHosts) {
  ThreadGroup group(
      GroupShape{.replicas_of_instance = {1, 1, 1, 1}, .timeout = kDeadline, .instances_per_host = 2});
  group.run([](Context& context) {
    const bool is_late = context.instanceIndex() == 3;
    Communicator& world = context.world();
    std::array<float, 4> in{1, 2, 3, 4};
    std::array<float, 16> out{};
    const auto all_reduce = [&] { world.allReduce(in.data(), out.data(), 4, Type::kFloat, Operator::kSum); };
    const auto gather = [&] { world.gather(in.data(), out.data(), 4, Type::kFloat, 0); };
    const auto all_to_all = [&] { world.allToAll(in.data(), out.data(), 1, Type::kFloat); };
    for (const std::function<void()>& call :
         {std::function<void()>(all_reduce), std::function<void()>(all_to_all), std::function<void()>(gather),
          std::function<void()>(all_reduce), std::function<void()>(gather),
          std::function<void()>(all_to_all)}) {
      if (is_late) ::poll(nullptr, 0, kLate_ms);
      call();
    }
  });
}

/// A program's second thread may have a stack as small.
void onSmallStack(std::function<void()> work) {
  pthread_attr_t attributes;
  ASSERT_EQ(::pthread_attr_init(&attributes), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&attributes, 1 << 20), 0);
  const auto run = [](void* all) -> void* {
    (*static_cast<std::function<void()>*>(all))();
    return nullptr;
  };
  pthread_t thread{};
  ASSERT_EQ(::pthread_create(&thread, &attributes, run, &work), 0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&attributes);
}

/// Notes of waits in other groups lie unread on connections that are not used meanwhile.
TEST(InstancesThatDiffer, ReadThousandsOfNotesBeforeAMessage) {
  ThreadGroup group(
      GroupShape{.replicas_of_instance = {1, 1}, .timeout = kDeadline, .instances_per_host = 1});
  group.run([](Context& context) {
    context.world().barrier();
    if (context.instanceIndex() == 0) {
      const exec::Header note = exec::Header::noteOf(7, {});
      context.impl().state.groups.forEach([&](int, group::Group& each) {
        for (int count = 0; count < 10000 && each.tell(1, note, true); ++count) continue;
      });
    }
    context.fence();
    onSmallStack([&] { context.world().barrier(); });
  });
}

std::string quoted(const std::string& text) {
  return '`' + text + '`';
}

const char* when(const Row& row, bool over_hosts) {
  if (row.named.empty()) return "";
  if (waitsForDeadline(row)) return "deadline";
  return row.heard == Heard::kInNextCall && over_hosts ? "next call" : "at once";
}

const char* const kNotFound = R"(
## What waits for the deadline

Instances that wait for each other in different calls are found out where one thread of each makes them: two, and
on a host any number that wait in a circle, each for the next. These wait for the deadline:

- three or more that wait in a circle and are not all on one host: between hosts only two waits are compared, that of
  an instance and that of one it waits for
- a circle through an instance that waits for more than eight others which wait elsewhere: it shows eight of them
- asynchronous calls of different names: their order may differ and any thread may make the missing one, so that no
  wait proves that it will not come
- an instance that waits where another of its threads has called, or entered fences, too: that thread may come again,
  and popdist cannot know which threads a program has, or what they will do
- calls and fences with a timeout of less than 5 s, which end by it: programs go on afterwards, and may meet the others
  in a later call
- over hosts, two that have no connection yet, on a communicator of more than 16 ranks or in a job of more than 16
  instances: a note would have to make the connection, and a wait up to one for each rank
- over hosts, communicators on a backend (`POPDIST_BACKEND`): popdist's own connections carry notes, and a
  backend's interface has no function for them
)";

std::string page() {
  std::string text =
      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
      "<!-- Made from the rows of tests/differ: POP_WRITE_PAGE=1 build/dev/tests/instances_differ -->\n"
      "# Instances that differ\n\n"
      "What happens when instances make a call with different arguments, or different calls, as their first "
      "call or later.\n"
      "An error comes on all instances, and its text has what the last column says, with both values and the "
      "instances\n"
      "that have them. *At once*: within a second of the last one's call. *Next call*: who waits for others "
      "hears of it at\n"
      "once, and a member whose part is done already, as that of all may be, when it next waits. "
      "*Deadline*: that of\n"
      "`Context::setTimeout`; the others may still come. *May differ*: each instance has its own.\n\n"
      "Each row is a test, of the first call and of a later one: on one host as threads and as "
      "processes of poprun, and\n"
      "over hosts as threads and as processes with TCP between them.\n"
      "\n"
      "| Call | Argument | Others | One | On a host | Over hosts | Result |\n|---|---|---|---|---|---|---|\n";
  for (const Row& row : allRows()) {
    std::vector<std::string> named;
    for (const std::string& each : row.named) named.push_back(quoted(each));
    text += "| " + quoted(row.call) + " | " + row.argument + " | " + row.others + " | " + row.one + " | " +
            when(row, false) + " | " + when(row, true) + " | " +
            (named.empty() ? "may differ" : "error: " + pop::join(named, ", ")) + " |\n";
  }
  return text + kNotFound;
}

TEST(InstancesThatDiffer, AreAPageOfTheReference) {
  const std::string path = POP_SOURCE_DIR "/docs/reference/instances_that_differ.md";
  if (std::getenv("POP_WRITE_PAGE") != nullptr) std::ofstream(path) << page();
  std::ifstream file(path, std::ios::binary);
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(written, page()) << "write it: POP_WRITE_PAGE=1 build/dev/tests/instances_differ";
}

}  // namespace
}  // namespace popdist::testing
