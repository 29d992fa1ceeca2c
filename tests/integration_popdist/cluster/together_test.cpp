// SPDX-License-Identifier: Apache-2.0
// Collectives of processes that were started by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "tests/integration_popdist/cluster/hand_started.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kTogether{"together", "20000"};

void expectTogether(std::vector<HandStarted> processes) {
  for (std::size_t i = 0; i < processes.size(); ++i) {
    EXPECT_EQ(processes[i].wait(), 0) << processes[i].out();
    EXPECT_THAT(processes[i].out(),
                HasSubstr("together " + std::to_string(i) + " of " + std::to_string(processes.size())));
  }
}

class StartedByHandInSizes : public ::testing::TestWithParam<int> {};

TEST_P(StartedByHandInSizes, FencesPutsAndReducesTogether) {
  expectTogether(startAll(freeAddresses(GetParam()), kTogether));
}

INSTANTIATE_TEST_SUITE_P(Sizes, StartedByHandInSizes, ::testing::Values(1, 2, 4));

// The same holds in a job of poprun.
TEST(StartedByHand, ContextsOutliveThePointerToThem) {
  const std::vector<std::string> beyond{"beyond", "20000"};
  expectTogether(startAll(freeAddresses(3), beyond));
  HandStarted alone(beyond, {});
  EXPECT_EQ(alone.wait(), 0) << alone.out();
  EXPECT_THAT(alone.out(), HasSubstr("together 0 of 1"));
}

TEST(StartedByHand, StartsInAnyOrder) {
  const std::vector<std::string> workers = freeAddresses(3);
  std::vector<HandStarted> processes;
  for (const int index : {2, 1, 0}) {
    processes.emplace_back(kTogether, HandStarted::Variables{{"TF_CONFIG", tfConfigOf(workers, index)}});
  }
  expectTogether(std::vector<HandStarted>(std::make_move_iterator(processes.rbegin()),
                                          std::make_move_iterator(processes.rend())));
}

TEST(StartedByHand, ChiefIsInstanceZero) {
  const std::vector<std::string> workers = freeAddresses(2);
  const std::string cluster = R"({"worker":[")" + workers[0] + R"("],"chief":[")" + workers[1] + R"("]})";
  std::vector<HandStarted> processes;
  processes.emplace_back(kTogether, HandStarted::Variables{{"TF_CONFIG", tfConfigOf(cluster, "chief", 0)}});
  processes.emplace_back(kTogether, HandStarted::Variables{{"TF_CONFIG", tfConfigOf(cluster, "worker", 0)}});
  expectTogether(std::move(processes));
}

TEST(StartedByHand, EvaluatorIsAloneAndAttachesToNothing) {
  const std::string cluster = R"({"worker":["127.0.0.1:1","127.0.0.1:2"]})";
  HandStarted evaluator({"who", "1000"}, {{"TF_CONFIG", tfConfigOf(cluster, "evaluator", 0)}});
  EXPECT_EQ(evaluator.wait(), 0);
  EXPECT_THAT(evaluator.out(), HasSubstr("0 of 1, offline 1"));
}

TEST(StartedByHand, WithoutTfConfigAProcessIsAlone) {
  HandStarted alone({"together", "1000"}, {});
  EXPECT_EQ(alone.wait(), 0) << alone.out();
}

TEST(StartedByHand, RunsOnTheRingOfGrpc) {
  expectTogether(startAll(freeAddresses(3), kTogether, {{"POPDIST_BACKEND", "grpc"}}));
}

TEST(StartedByHand, RunsOnIpv6AndOnNames) {
  const std::vector<int> ports = freePorts(2);
  expectTogether(
      startAll({"[::1]:" + std::to_string(ports[0]), "[::1]:" + std::to_string(ports[1])}, kTogether));
  expectTogether(startAll({"localhost:" + std::to_string(ports[0]), "LOCALHOST:" + std::to_string(ports[1])},
                          kTogether));
}

TEST(StartedByHand, ForkedChildIsRefusedAndHarmsNobody) {
  std::vector<HandStarted> processes = startAll(freeAddresses(2), {"forked", "20000"});
  for (HandStarted& each : processes) {
    EXPECT_EQ(each.wait(), 0) << each.out();
    EXPECT_THAT(each.out(), HasSubstr("child " + std::to_string(kFailedPreconditionCode)));
  }
}

}  // namespace
}  // namespace pop::testing
