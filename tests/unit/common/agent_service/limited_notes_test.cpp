// SPDX-License-Identifier: Apache-2.0
#include "common/agent_service/limited_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/testing/fake_loop.h"

namespace pop::wire {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(LimitedNotes, AreSaidUntilTheyAreTooManyAndThenCounted) {
  testing::FakeLoop loop;
  std::vector<std::string> said;
  LimitedNotes notes(
      loop, [&](const std::string& line) { said.push_back(line); }, "connections were refused");
  for (int line = 0; line < LimitedNotes::kMostInAMinute + 805; ++line) notes.add(std::to_string(line));
  EXPECT_THAT(said, SizeIs(LimitedNotes::kMostInAMinute));
  EXPECT_EQ(said.back(), std::to_string(LimitedNotes::kMostInAMinute - 1));
  said.clear();
  loop.advance(60s);
  EXPECT_THAT(said, ElementsAre("805 more connections were refused within a minute"));
  notes.add("again");
  EXPECT_EQ(said.back(), "again");
  said.clear();
  loop.advance(60s);
  EXPECT_THAT(said, SizeIs(0));
}

}  // namespace
}  // namespace pop::wire
