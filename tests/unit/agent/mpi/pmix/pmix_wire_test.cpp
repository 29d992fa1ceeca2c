// SPDX-License-Identifier: Apache-2.0
#include "agent/mpi/pmix/pmix_wire.h"

#include <gtest/gtest.h>

namespace pop::agent {
namespace {

const PmixJob kJob{.name = "job",
                   .server_name = "server",
                   .directory = "/dev/shm/job",
                   .num_instances = 5,
                   .this_host = 1,
                   .programs = {0, 2, 2},
                   .hosts = {{"a", 0, 2}, {"b", 2, 3}}};

TEST(PmixJob, IsReadAsItWasWritten) {
  EXPECT_EQ(readJob(jobFrame(kJob)).value(), kJob);
}

TEST(PmixJob, IsRefusedWhenMalformed) {
  const auto refused = [](auto change) {
    contract::Frame frame = jobFrame(kJob);
    change(frame);
    return readJob(frame).code() == Code::kDataLoss;
  };
  EXPECT_TRUE(refused([](contract::Frame& frame) { frame.type = 2; }));
  EXPECT_TRUE(refused([](contract::Frame& frame) { frame.fields.pop_back(); }));
  EXPECT_TRUE(refused([](contract::Frame& frame) { frame.fields.resize(3); }));
  EXPECT_TRUE(refused([](contract::Frame& frame) { frame.fields[4] = "2"; }));
  EXPECT_TRUE(refused([](contract::Frame& frame) { frame.fields[5] = "0,2"; }));
  EXPECT_TRUE(refused([](contract::Frame& frame) { frame.fields[5] = "0,2,x"; }));
  EXPECT_TRUE(refused([](contract::Frame& frame) { frame.fields.back() = "-1"; }));
}

}  // namespace
}  // namespace pop::agent
