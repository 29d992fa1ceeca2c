// SPDX-License-Identifier: Apache-2.0
#include "bench/training_speed/epochs.h"

#include <gtest/gtest.h>

#include "bench/training_speed/contestants.h"

namespace pop::bench {
namespace {

TEST(ParseEpochs, ReadsTheExamplesLinesAndThePeers) {
  const Result<std::vector<Epoch>> epochs = parseEpochs(
      "[0] instruction set: avx512\n"
      "[0] epoch 1/2: loss 0.5231, test accuracy 84.06 %, 35896 samples/s; on pod4: 29.1 us per step, 92.8 "
      "%\n"
      "epoch 2/2: loss 0.3806, test accuracy 86.29 %, 21726 samples/s\n",
      2);
  ASSERT_TRUE(epochs.ok()) << epochs.status().message();
  EXPECT_EQ(epochs.value()[0].samples_per_s, 35896);
  EXPECT_EQ(epochs.value()[0].accuracy, 84.06);
  EXPECT_EQ(epochs.value()[1].samples_per_s, 21726);
}

TEST(ParseEpochs, MissesAnEpoch) {
  const std::string second = "epoch 2/2: loss 0.3806, test accuracy 86.29 %, 21726 samples/s\n";
  EXPECT_EQ(parseEpochs(second, 2).status().code(), Code::kDataLoss);
  EXPECT_NE(parseEpochs("", 2).status().message().find("0 of 2 epochs"), std::string::npos);
}

Trainings trainings(const std::string& name, std::vector<std::vector<double>> speeds) {
  Trainings result{.contestant = name, .rounds = {}};
  for (const std::vector<double>& round : speeds) {
    result.rounds.emplace_back();
    for (const double speed : round) result.rounds.back().push_back({.samples_per_s = speed, .accuracy = 85});
  }
  return result;
}

const std::vector<Trainings> kThreeRounds{trainings(kExample, {{400, 420}, {80, 90}, {500, 475}}),
                                          trainings(kDdp, {{100, 105}, {20, 30}, {100, 100}})};

// A round in which everything was five times as slow does not matter: 4, 4, 5 and 4, 3, 4.75.
TEST(RatioOf, ComparesWithinARound) {
  EXPECT_DOUBLE_EQ(ratioOf(kThreeRounds[0], kThreeRounds[1], 0).median, 4);
  EXPECT_DOUBLE_EQ(ratioOf(kThreeRounds[0], kThreeRounds[1], 1).median, 4);
  EXPECT_DOUBLE_EQ(ratioOf(kThreeRounds[0], kThreeRounds[1], 1).min, 3);
}

TEST(RatioOf, LeavesOutRoundsInWhichOneFailed) {
  EXPECT_EQ(ratioOf(kThreeRounds[0], trainings(kDdp, {{100, 100}, {}, {50, 50}}), 0).count, 2U);
}

TEST(LastToFirst, ComparesWithinATraining) {
  EXPECT_DOUBLE_EQ(lastToFirst(kThreeRounds[0]).median, 1.05);  // of 1.05, 1.125, 0.95
}

TEST(JudgeTraining, WantsFourTimesThePeerInEveryEpochAndNoDecline) {
  const std::vector<Goal> goals = judge(kThreeRounds, 2);
  ASSERT_EQ(goals.size(), 3U);
  for (const Goal& goal : goals) EXPECT_TRUE(goal.reached()) << goal.text;
  const std::vector<Goal> missed =
      judge({trainings(kExample, {{400, 379}}), trainings(kDdp, {{101, 50}})}, 2);
  EXPECT_FALSE(missed[0].reached()) << "3.96 times";
  EXPECT_TRUE(missed[1].reached());
  EXPECT_FALSE(missed[2].reached()) << "94.75 %";
}

TEST(JudgeTraining, HasAGoalForEachNetwork) {
  const std::vector<Goal> goals =
      judge({trainings("example-cnn", {{160, 160}}), trainings("ddp-cnn", {{100, 100}}),
             trainings("example-small-cnn", {{290, 290}}), trainings("ddp-small-cnn", {{100, 100}})},
            2);
  ASSERT_EQ(goals.size(), 6U);
  EXPECT_TRUE(goals[0].reached()) << "1.6 times";
  EXPECT_FALSE(goals[3].reached()) << "2.9 times";
  EXPECT_EQ(oursFor("ddp-cnn"), "example-cnn");
  EXPECT_EQ(oursFor("example-cnn"), "");
  EXPECT_EQ(oursFor("example-avx2"), "example");
}

TEST(JudgeTraining, JudgesWhatWasMeasuredOnly) {
  EXPECT_EQ(judge({trainings(kDdp, {{100, 100}})}, 2).size(), 0U);
  EXPECT_EQ(judge({trainings(kExample, {{100, 100}})}, 2).size(), 1U);
  EXPECT_EQ(judge({trainings(kExample, {{}}), trainings(kDdp, {{}})}, 2).size(), 0U);
}

TEST(JudgeTraining, MarksWhatWasMostlyDisturbed) {
  std::vector<Trainings> all = kThreeRounds;
  all[1].disturbed = 1;
  EXPECT_FALSE(judge(all, 2)[0].is_noisy);
  all[1].disturbed = 2;
  EXPECT_TRUE(judge(all, 2)[0].is_noisy);
  EXPECT_FALSE(judge(all, 2).back().is_noisy) << "of the example alone";
}

TEST(TrainingInWords, HasARowForEachEpoch) {
  const std::string words = inWords(kThreeRounds, 2);
  EXPECT_NE(words.find("example / ddp"), std::string::npos) << words;
  EXPECT_NE(words.find("4.0 (4.0–5.0)"), std::string::npos) << words;
}

}  // namespace
}  // namespace pop::bench
