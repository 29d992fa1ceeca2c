// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/mpi/pmi_answers.h"

#include <gtest/gtest.h>

#include "common/base/random.h"

namespace popdist::backends {
namespace {

std::string onlyAnswer(PmiAnswers& answers, int rank, std::string_view line) {
  const auto lines = answers.to(rank, line);
  EXPECT_EQ(lines.size(), 1U) << line;
  if (lines.empty()) return "";
  EXPECT_EQ(lines.front().rank, rank);
  return lines.front().text;
}

TEST(PmiAnswers, GiveAnyRankWhatAnyRankHasPut) {
  PmiAnswers answers(2);
  EXPECT_EQ(onlyAnswer(answers, 0, "cmd=put kvsname=popdist key=card-0 value=a=b c"),
            "cmd=put_result rc=0 msg=success");
  EXPECT_EQ(onlyAnswer(answers, 1, "cmd=get kvsname=popdist key=card-0"),
            "cmd=get_result rc=0 msg=success value=a=b c");
  EXPECT_EQ(onlyAnswer(answers, 1, "cmd=get kvsname=popdist key=card"),
            "cmd=get_result rc=-1 msg=key_not_found value=unknown");
}

TEST(PmiAnswers, LetAllOutOfABarrierWhenTheLastIsIn) {
  PmiAnswers answers(3);
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(answers.to(2, "cmd=barrier_in").empty());
    EXPECT_TRUE(answers.to(0, "cmd=barrier_in").empty());
    const auto out = answers.to(1, "cmd=barrier_in");
    ASSERT_EQ(out.size(), 3U);
    for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(out[static_cast<std::size_t>(rank)].rank, rank);
  }
}

TEST(PmiAnswers, KnowTheSize) {
  PmiAnswers answers(7);
  EXPECT_EQ(onlyAnswer(answers, 6, "cmd=get_universe_size"), "cmd=universe_size size=7");
}

TEST(PmiAnswers, LeaveWhatTheyDoNotUnderstand) {
  PmiAnswers answers(2);
  pop::SplitMix64 random(1);
  const std::string letters = "cmd=put gkeyvalu_in ";
  for (int round = 0; round < 20'000; ++round) {
    std::string line;
    for (std::uint64_t i = random.below(40); i > 0; --i) line += letters[random.below(letters.size())];
    for (const auto& answer : answers.to(0, line)) EXPECT_LT(answer.rank, 2);
  }
}

}  // namespace
}  // namespace popdist::backends
