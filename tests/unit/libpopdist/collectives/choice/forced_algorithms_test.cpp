// SPDX-License-Identifier: Apache-2.0
// What POPDIST_SHARED_ALGORITHM and POPDIST_MESSAGE_ALGORITHM do.
#include "libpopdist/collectives/choice/forced_algorithms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "libpopdist/collectives/api/context_impl.h"
#include "tests/testing/thread_group.h"

namespace popdist::choice {
namespace {

using ::testing::HasSubstr;

class AlgorithmsThatAreForced : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* const name : {"POPDIST_SHARED_ALGORITHM", "POPDIST_MESSAGE_ALGORITHM"}) ::unsetenv(name);
  }
};

TEST_F(AlgorithmsThatAreForced, ThatDoNotExistAreRefusedWithThoseThatDo) {
  ::setenv("POPDIST_SHARED_ALGORITHM", "fastest", 1);
  EXPECT_EQ(forcedByEnvironment().status().message(),
            "POPDIST_SHARED_ALGORITHM='fastest' is not one of eager, staged, direct, pull, messages");
  ::setenv("POPDIST_SHARED_ALGORITHM", "", 1);
  ::setenv("POPDIST_MESSAGE_ALGORITHM", "tree", 1);
  EXPECT_EQ(forcedByEnvironment().status().message(),
            "POPDIST_MESSAGE_ALGORITHM='tree' is not one of recursive-doubling, halving-doubling, "
            "segmented-ring, ring");
}

TEST_F(AlgorithmsThatAreForced, AreInTheTagByWhichMembersAgree) {
  EXPECT_EQ(forcedByEnvironment().value().inTag(), "");
  ::setenv("POPDIST_SHARED_ALGORITHM", "messages", 1);
  ::setenv("POPDIST_MESSAGE_ALGORITHM", "ring", 1);
  EXPECT_EQ(forcedByEnvironment().value().inTag(),
            ", POPDIST_SHARED_ALGORITHM=messages, POPDIST_MESSAGE_ALGORITHM=ring");
}

// Of 2 floats recursive doubling is the table's choice over a network, and levels are it over hosts.
TEST_F(AlgorithmsThatAreForced, OfMessagesAreTakenWithinAHostAndOverHosts) {
  for (const int instances_per_host : {0, 2}) {
    for (const char* const name : {"recursive-doubling", "halving-doubling", "segmented-ring", "ring"}) {
      ::setenv("POPDIST_MESSAGE_ALGORITHM", name, 1);
      testing::ThreadGroup group({.replicas_of_instance = {1, 1, 1, 1},
                                  .transport = {.tcp_only = instances_per_host == 0},
                                  .instances_per_host = instances_per_host});
      group.run([&](Context& context) {
        std::vector<float> data{1.0F, 2.0F};
        context.world().allReduce(std::span(data));
        EXPECT_EQ(data[1], 8.0F);
        EXPECT_STREQ(context.world().impl().group().path().algorithmTaken(), name);
        context.world().broadcast(std::span<float>(data), 0);
        EXPECT_EQ(std::string(context.world().impl().group().path().algorithmTaken()) == "tree",
                  instances_per_host == 0)
            << "all-reduces only";
      });
    }
  }
}

}  // namespace
}  // namespace popdist::choice
