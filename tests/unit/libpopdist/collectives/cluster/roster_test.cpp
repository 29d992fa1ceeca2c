// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/cluster/link/roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace popdist::cluster {
namespace {

using pop::Code;
using pop::contract::Frame;
using ::testing::AllOf;
using ::testing::HasSubstr;

Roster two() {
  return {.workers = {"a:1", "b:2"}, .tasks = {"chief:0", "worker:0"}, .options = "1 replica of 1 IPU"};
}

void expectRefused(const Frame& hello, Code code, const std::string& text) {
  const pop::Result<Member> member = memberOf(two(), hello);
  EXPECT_EQ(member.code(), code);
  EXPECT_THAT(member.status().message(), HasSubstr(text));
}

TEST(Roster, KnowsItsInstances) {
  for (const int instance : {0, 1}) {
    const Member member = memberOf(two(), helloOf(two(), instance)).value();
    EXPECT_EQ(member.instance, instance);
    EXPECT_THAT(member.process, AllOf(HasSubstr("pid "), HasSubstr(" on ")));
  }
  EXPECT_EQ(two().nameOf(1), "instance 1 (worker:0 at b:2)");
}

TEST(Roster, NamesWhatDiffers) {
  Roster other = two();
  other.workers[1] = "c:2";
  expectRefused(helloOf(other, 1), Code::kFailedPrecondition, "instance 1 is 'worker:0 c:2'");
  other = two();
  other.tasks = {"worker:0", "worker:1"};
  expectRefused(helloOf(other, 1), Code::kFailedPrecondition, "'worker:0 a:1'");
  other = two();
  other.workers.emplace_back("d:4");
  other.tasks.emplace_back("worker:1");
  expectRefused(helloOf(other, 1), Code::kFailedPrecondition,
                "has 3 instances in its cluster, instance 0 has 2");
  other = two();
  other.options = "2 replicas of 1 IPU";
  expectRefused(helloOf(other, 1), Code::kFailedPrecondition, "'2 replicas of 1 IPU'");
}

TEST(Roster, NamesAnotherVersionWhateverFollows) {
  expectRefused({1, {"popdist-cluster", "2"}}, Code::kFailedPrecondition, "version '2'");
}

TEST(Roster, TurnsStrangersAway) {
  Frame hello = helloOf(two(), 1);
  hello.type = 3;
  expectRefused(hello, Code::kInvalidArgument, "no instance of a cluster");
  for (const char* const index : {"2", "-1", "", "x", "99999999999999999999"}) {
    hello = helloOf(two(), 1);
    hello.fields[2] = index;
    expectRefused(hello, Code::kInvalidArgument, "index");
  }
  expectRefused({1, {}}, Code::kInvalidArgument, "hello");
  expectRefused({1, {"popdist-cluster", "1", "0"}}, Code::kInvalidArgument, "malformed");
  hello = helloOf(two(), 1);
  hello.fields[3] = std::string(1000, 'x');
  expectRefused(hello, Code::kInvalidArgument, "malformed");
}

TEST(Roster, WhatStrangersSayIsPrintable) {
  Frame hello = helloOf(two(), 0);
  hello.fields[3] = "\x1b[31mred";
  EXPECT_EQ(memberOf(two(), hello).value().process.find('\x1b'), std::string::npos);
  hello.fields[5] = "\x1b[31mred";
  EXPECT_EQ(memberOf(two(), hello).status().message().find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace popdist::cluster
