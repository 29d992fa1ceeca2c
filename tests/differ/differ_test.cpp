// SPDX-License-Identifier: Apache-2.0
// Every instance hears at once of an argument that is another on one of them, whichever that is.
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "common/base/text.h"
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
                               .timeout = deadlineOf(row, over_hosts),
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
    for (const int before : {0, kEqualCalls}) {
      SCOPED_TRACE(nameOf(row) + " after " + std::to_string(before));
      expect(row, {.instances_per_host = 1, .before = before});
    }
  }
}

/// Each instance has a thread that calls on another communicator than the one that made both, and each is
/// late with another of the two, for longer than a wait goes unseen.
TEST(InstancesThatDiffer, MayHaveThreadsThatComeLate) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1}, .timeout = kDeadline});
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

std::string quoted(const std::string& text) {
  return '`' + text + '`';
}

const char* when(const Row& row, bool over_hosts) {
  if (row.named.empty()) return "";
  if (waitsForDeadline(row, over_hosts)) return "deadline";
  return row.heard == Heard::kInNextCall && over_hosts ? "next call" : "at once";
}

std::string page() {
  std::string text =
      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
      "<!-- Made from the rows of tests/differ: POP_WRITE_PAGE=1 build/dev/tests/instances_differ -->\n"
      "# Instances that differ\n\n"
      "What happens when instances make a call with different arguments, or different calls, as their first "
      "call or later.\n"
      "An error comes on all instances, and its text has what the last column says, with both values and the "
      "instances\n"
      "that have them. *At once*: within a second of the last one's call. *Next call*: one hears of it at "
      "once, and a member\n"
      "whose part was done already when it next waits for others; where two take each other for the root, "
      "both wait for the\n"
      "deadline. *Deadline*: that of `Context::setTimeout`; the others may still come. *May differ*: each "
      "instance has its\n"
      "own. Each row is a test, of the first call and of a later one: on one host as threads and as "
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
  return text;
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
