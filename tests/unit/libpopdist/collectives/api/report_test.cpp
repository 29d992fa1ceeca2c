// SPDX-License-Identifier: Apache-2.0
// Context::report, from the call to the page that the agent looks at.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <vector>

#include "libpopdist/collectives/api/context_impl.h"
#include "popdist/error.hpp"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

pop::contract::SegmentHeader* headerOf(Context& context) {
  return context.impl().state.link->segment().header();
}

std::vector<pop::contract::ReadReport> pageOf(Context& context) {
  pop::contract::SegmentHeader* const header = headerOf(context);
  const auto self = static_cast<std::size_t>(context.instanceIndex());
  return pop::contract::readReports(pop::contract::reportPagesOf(header, header->instances)[self]);
}

void listen(Context& context) {
  headerOf(context)->reports_wanted.store(1);
}

TEST(Report, IsForTheInstanceThatMakesIt) {
  testing::ThreadGroup group(3);
  group.run([](Context& context) {
    listen(context);
    EXPECT_TRUE(context.report("steps", 1, Fold::kMax));
    EXPECT_TRUE(context.report("samples_per_second", 100.0 + context.instanceIndex()));
    EXPECT_TRUE(context.report("steps", 2, Fold::kMax));
    const auto page = pageOf(context);
    ASSERT_EQ(page.size(), 2U);
    EXPECT_EQ(page[0], (pop::contract::ReadReport{"steps", pop::contract::Fold::kMax, 2}));
    EXPECT_EQ(page[1].value, 100.0 + context.instanceIndex());
  });
}

TEST(Report, DoesNothingWhileNobodyListens) {
  testing::ThreadGroup group(1);
  group.run([](Context& context) {
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(context.report("name" + std::to_string(i), i));
    EXPECT_TRUE(pageOf(context).empty());
    listen(context);
    EXPECT_TRUE(context.report("loss", 0.5));
    EXPECT_EQ(pageOf(context).size(), 1U);
  });
}

TEST(Report, AnswersBadInputWhoeverListens) {
  testing::ThreadGroup group(1);
  group.run([](Context& context) {
    for (const bool listens : {false, true}) {
      if (listens) listen(context);
      for (const std::string& name : {std::string(), std::string(65, 'n')}) {
        try {
          context.report(name, 1);
          ADD_FAILURE() << name;
        } catch (const popdist_error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
        }
      }
      EXPECT_TRUE(context.report(std::string(64, 'n'), 1));
      EXPECT_FALSE(context.report("loss", std::numeric_limits<double>::quiet_NaN()));
      EXPECT_FALSE(context.report("loss", -std::numeric_limits<double>::infinity()));
    }
  });
}

TEST(Report, HasRoomForSixteenNames) {
  testing::ThreadGroup group(1);
  group.run([](Context& context) {
    listen(context);
    for (int i = 0; i < 16; ++i) EXPECT_TRUE(context.report("name" + std::to_string(i), i));
    EXPECT_FALSE(context.report("one more", 1));
    EXPECT_TRUE(context.report("name7", 70));
    EXPECT_EQ(pageOf(context).size(), 16U);
    EXPECT_EQ(pageOf(context)[7].value, 70);
  });
}

TEST(Report, ComesFromAnyThread) {
  testing::ThreadGroup group(1);
  group.run([](Context& context) {
    listen(context);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&context] {
        for (int i = 0; i < 1000; ++i) EXPECT_TRUE(context.report("name" + std::to_string(i % 8), i));
      });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(pageOf(context).size(), 8U);
  });
}

}  // namespace
}  // namespace popdist
