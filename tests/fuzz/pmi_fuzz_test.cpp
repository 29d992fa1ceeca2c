// SPDX-License-Identifier: Apache-2.0
// Damaged messages of an instance on its connection for PMI: the answer is one line that the instance can
// read, it leaves no barrier that others have not entered, and no other instance loses what it has put.
// Seeded, so that a failure comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "agent/mpi/pmi/pmi_session.h"
#include "common/base/random.h"

namespace pop::agent {
namespace {

constexpr std::uint64_t kPmiRounds = 200'000;
constexpr std::size_t kMaxAnswerBytes = 1024 + 64;

constexpr std::array kLines{"cmd=init pmi_version=1 pmi_subversion=1",
                            "cmd=get_maxes",
                            "cmd=get_my_kvsname",
                            "cmd=get_universe_size",
                            "cmd=put kvsname=job key=-allgather-shm-1-0 value=/tmp/mpich_shar_tmp",
                            "cmd=get kvsname=job key=PMI_process_mapping",
                            "cmd=get kvsname=job key=-allgather-shm-1-0",
                            "cmd=barrier_in",
                            "cmd=finalize",
                            "cmd=abort exitcode=7",
                            "cmd=lookup_name service=s",
                            "mcmd=spawn",
                            "totspawns=2",
                            "spawnssofar=2",
                            "endcmd"};

std::string damaged(std::string line, SplitMix64& random) {
  for (std::uint64_t times = random.below(4); times > 0 && !line.empty(); --times) {
    const std::size_t at = random.below(line.size());
    if (random.below(3) == 0)
      line.erase(at, random.below(8));
    else if (random.below(2) == 0)
      line.insert(at, line.substr(random.below(line.size()), random.below(2000)));
    else
      line[at] = static_cast<char>(random.next());
  }
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

TEST(PmiFuzz, DamageDoesNotReachOtherInstances) {
  PmiSession session({.name = "job",
                      .size = 3,
                      .programs = {{0, 0}, {1, 0}},
                      .process_mapping = "(vector,(0,1,2),(1,1,1))"});
  session.take(1, "cmd=put kvsname=job key=card value=7");
  for (std::uint64_t round = 0; round < kPmiRounds; ++round) {
    SplitMix64 random(round);
    const PmiOutcome outcome = session.take(0, damaged(kLines[random.below(kLines.size())], random));
    ASSERT_LE(outcome.answer.size(), kMaxAnswerBytes) << round;
    ASSERT_EQ(outcome.answer.find('\n'), std::string::npos) << round;
    ASSERT_FALSE(outcome.reached) << round << ": instance 1 has not entered";
    if (outcome.is_garbage) session.leave(0);
    ASSERT_EQ(outcome.abort.value_or(PmiAbort{}).instance, 0) << round;
  }
  session.leave(0);
  EXPECT_FALSE(session.take(0, "cmd=barrier_in").reached);
  const PmiOutcome last = session.take(1, "cmd=barrier_in");
  ASSERT_TRUE(last.reached);
  EXPECT_EQ(last.reached->at("card"), "7");
}

}  // namespace
}  // namespace pop::agent
