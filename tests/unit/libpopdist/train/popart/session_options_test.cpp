// SPDX-License-Identifier: Apache-2.0
// Options of PopART that exclude each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "libpopdist/train/popart/session_options.h"

namespace popdist::popart {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const SessionOptions& options, int replicas = 1) {
  const pop::Status status = check(options, replicas);
  EXPECT_EQ(status.code(), pop::Code::kInvalidArgument);
  return status.message();
}

SessionOptions updatedByTheHost() {
  return {.host_all_reduce = true, .host_weight_update = true};
}

TEST(SessionOptions, HostUpdatesWhatItReduces) {
  EXPECT_TRUE(check(updatedByTheHost(), 1).ok());
  EXPECT_THAT(refusal({.host_weight_update = true}),
              AllOf(HasSubstr("host_weight_update"), HasSubstr("turn host_all_reduce on")));
}

TEST(SessionOptions, HostReducesTheGradientOfEachWeight) {
  EXPECT_TRUE(check({.merge_var_update = MergeVarUpdate::kAll}, 1).ok());
  for (const MergeVarUpdate merge :
       {MergeVarUpdate::kAll, MergeVarUpdate::kAutoLoose, MergeVarUpdate::kAutoTight})
    EXPECT_THAT(refusal({.host_all_reduce = true, .merge_var_update = merge}),
                AllOf(HasSubstr("host_all_reduce"), HasSubstr("set merge_var_update = kNone")));
}

TEST(SessionOptions, HostUpdatesNoPipeline) {
  EXPECT_TRUE(check({.host_all_reduce = true, .enable_pipelining = true}, 1).ok());
  SessionOptions options = updatedByTheHost();
  options.enable_pipelining = true;
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("enable_pipelining"), HasSubstr("host_weight_update off")));
}

TEST(SessionOptions, HostUpdatesDoNotAccumulate) {
  EXPECT_TRUE(
      check({.host_all_reduce = true, .enable_gradient_accumulation = true, .accumulation_factor = 4}, 1)
          .ok());
  SessionOptions options = updatedByTheHost();
  options.enable_gradient_accumulation = true;
  EXPECT_THAT(refusal(options),
              AllOf(HasSubstr("enable_gradient_accumulation"), HasSubstr("host_weight_update off")));
}

TEST(SessionOptions, HostUpdatesTakeNoRemoteBuffers) {
  EXPECT_TRUE(check({.host_all_reduce = true, .host_all_reduce_remote_buffer = true}, 1).ok());
  SessionOptions options = updatedByTheHost();
  options.host_all_reduce_remote_buffer = true;
  EXPECT_THAT(refusal(options),
              AllOf(HasSubstr("host_all_reduce_remote_buffer"), HasSubstr("one of them off")));
}

TEST(SessionOptions, RemoteBuffersAreOfOneReplica) {
  EXPECT_TRUE(
      check({.host_all_reduce = true, .enable_replicated_graphs = true, .replicated_graph_count = 2}, 2)
          .ok());
  EXPECT_THAT(refusal({.host_all_reduce = true,
                       .host_all_reduce_remote_buffer = true,
                       .enable_replicated_graphs = true,
                       .replicated_graph_count = 2},
                      2),
              AllOf(HasSubstr("enable_replicated_graphs"), HasSubstr("host_all_reduce_remote_buffer off")));
}

TEST(SessionOptions, CountsNeedTheirSwitches) {
  EXPECT_THAT(refusal({.accumulation_factor = 2}), HasSubstr("enable_gradient_accumulation is off"));
  EXPECT_THAT(refusal({.enable_gradient_accumulation = true, .accumulation_factor = 0}),
              HasSubstr("accumulation_factor is 0"));
  EXPECT_THAT(refusal({.replicated_graph_count = 2}, 2), HasSubstr("enable_replicated_graphs is off"));
  EXPECT_THAT(refusal({.enable_replicated_graphs = true, .replicated_graph_count = 2}, 4),
              AllOf(HasSubstr("4 replicas"), HasSubstr("--num-replicas")));
}

}  // namespace
}  // namespace popdist::popart
