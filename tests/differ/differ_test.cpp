// SPDX-License-Identifier: Apache-2.0
// Every instance hears at once of an argument that is another on one of them, whichever that is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "common/base/text.h"
#include "popdist/error.hpp"
#include "tests/differ/row.h"
#include "tests/testing/thread_group.h"

namespace popdist::testing {
namespace {

using ::testing::HasSubstr;

// Of the instances' deadline. Nobody waits for it: errors come within a second, and later on a busy machine.
constexpr std::chrono::seconds kDeadline{20};
constexpr std::chrono::seconds kAtOnce{5};

Rows allRows() {
  Rows all;
  for (const Rows& rows : {collectiveRows(), dataRows(), trainingRows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

std::string nameOf(const Row& row) {
  return row.call + ": " + row.argument + " (" + row.others + ", " + row.one + ')' +
         (row.later ? ", later" : "");
}

void expect(const Row& row, int instances_per_host, int odd) {
  constexpr int kInstances = 2;
  std::vector<std::string> heard(kInstances);
  const auto begin = std::chrono::steady_clock::now();
  ThreadGroup group(GroupShape{
      .replicas_of_instance = {1, 1}, .timeout = kDeadline, .instances_per_host = instances_per_host});
  group.run([&](Context& context) {
    try {
      row.run(context, context.instanceIndex() == odd);
    } catch (const popdist_error& error) {
      heard[static_cast<std::size_t>(context.instanceIndex())] = error.what();
    }
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kAtOnce);
  for (const std::string& text : heard) {
    EXPECT_EQ(text.empty(), row.named.empty()) << text;
    for (const std::string& word : row.named) EXPECT_THAT(text, HasSubstr(word));
  }
}

TEST(InstancesThatDiffer, HearOfItAtOnceOnOneHost) {
  for (const Row& row : allRows()) {
    for (const int odd : {0, 1}) {
      SCOPED_TRACE(nameOf(row) + " on instance " + std::to_string(odd));
      expect(row, 0, odd);
    }
  }
}

TEST(InstancesThatDiffer, HearOfItAtOnceOverHosts) {
  for (const Row& row : allRows()) {
    if (!row.by_messages) continue;
    SCOPED_TRACE(nameOf(row));
    expect(row, 1, 1);
  }
}

std::string quoted(const std::string& text) {
  return '`' + text + '`';
}

std::string page() {
  std::string text =
      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
      "<!-- Made from the rows of tests/differ: POP_WRITE_PAGE=1 build/dev/tests/instances_differ -->\n"
      "# Instances that differ\n\n"
      "What happens when instances make a call with different arguments, or different calls. An error comes "
      "on all\n"
      "instances, within a second of the last one's call, and its text has what the last column says, with "
      "both\n"
      "values and the instances that have them. *Later*: the call is not the first of its kind. *May "
      "differ*: each\n"
      "instance has its own. A call that only some instances make, on an object that others do not use, is "
      "waited for\n"
      "until the deadline (`Context::setTimeout`). Each row is a test, on one host and, where a dagger does "
      "not say\n"
      "otherwise, over hosts; there (†) a member whose part was done already hears of it in its next "
      "call.\n\n"
      "| Call | Argument | Others | One | | Result |\n|---|---|---|---|---|---|\n";
  for (const Row& row : allRows()) {
    std::vector<std::string> named;
    for (const std::string& each : row.named) named.push_back(quoted(each));
    text += "| " + quoted(row.call) + (row.by_messages ? "" : " †") + " | " + row.argument + " | " +
            row.others + " | " + row.one + " | " + (row.later ? "later" : "") + " | " +
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
