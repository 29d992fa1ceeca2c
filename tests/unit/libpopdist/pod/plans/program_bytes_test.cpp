// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/plans/program_bytes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pod/clock/tuner.h"

namespace popdist::pod {
namespace {

CompiledCollective compiledFor(const char* pod, const Collective& collective) {
  const ReplicaLayout layout{podSpecByName(pod).value(), collective.group.size, 1};
  TimedSchedule timed = quickestSchedule(Topology(layout.spec), layout, collective);
  return {std::move(timed.schedule),
          {.method = timed.name, .time = timed.time.total, .rounds = timed.time.rounds}};
}

std::vector<Transfer> transfersOf(const Schedule& schedule, std::vector<std::size_t>& ends_of_rounds) {
  std::vector<Transfer> transfers;
  for (const Phase& phase : schedule.phases) {
    for (int round = 0; round < phase.rounds; ++round) {
      phase.transfers(round, [&](const Transfer& each) { transfers.push_back(each); });
      ends_of_rounds.push_back(transfers.size());
    }
  }
  return transfers;
}

TEST(ProgramBytes, GiveTheSameCopiesAndTimes) {
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                    CollectiveKind::kAllGather, CollectiveKind::kBroadcast}) {
    const CompiledCollective compiled = compiledFor("pod16", {.kind = kind, .group = 16, .count = 1 << 20});
    pop::Result<CompiledCollective> read = programFromBytes(programBytes("key", compiled), "key");
    ASSERT_TRUE(read.ok());
    std::vector<std::size_t> ends;
    std::vector<std::size_t> ends_read;
    EXPECT_EQ(transfersOf(read->schedule, ends_read), transfersOf(compiled.schedule, ends));
    EXPECT_EQ(ends_read, ends);
    EXPECT_EQ(read->schedule.part_of_place, compiled.schedule.part_of_place);
    EXPECT_EQ(read->schedule.blocks, compiled.schedule.blocks);
    EXPECT_EQ(read->report.method, compiled.report.method);
    EXPECT_EQ(read->report.time, compiled.report.time);
    EXPECT_EQ(read->report.rounds, compiled.report.rounds);
  }
}

TEST(ProgramBytes, OfAnotherProgramOrDamagedAreRefused) {
  const std::string bytes = programBytes("key", compiledFor("pod4", {.group = 4, .count = 64}));
  EXPECT_FALSE(programFromBytes(bytes, "other").ok());
  EXPECT_FALSE(programFromBytes("", "key").ok());
  EXPECT_FALSE(programFromBytes(bytes + '\0', "key").ok());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    EXPECT_FALSE(programFromBytes(bytes.substr(0, at), "key").ok()) << at;
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_FALSE(programFromBytes(damaged, "key").ok()) << at;
  }
}

TEST(ProgramBytes, OfMoreCopiesThanAreStoredAreNone) {
  CompiledCollective compiled;
  compiled.schedule.replicas = 16;
  compiled.schedule.phases.push_back({"many", 1 << 20, {}, [](int, const Take& take) {
                                        for (int replica = 0; replica < 8; ++replica)
                                          take({replica, 15, 0, 1});
                                      }});
  EXPECT_EQ(programBytes("key", compiled), "");
}

}  // namespace
}  // namespace popdist::pod
