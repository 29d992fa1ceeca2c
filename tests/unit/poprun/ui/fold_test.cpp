// SPDX-License-Identifier: Apache-2.0
// Folding in virtual time.
#include "poprun/ui/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "common/base/random.h"
#include "tests/testing/fake_loop.h"

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FoldTest : public ::testing::Test {
 protected:
  void makeFold(int num_instances) {
    fold_ = std::make_unique<Fold>(
        loop_, num_instances,
        [this](const std::vector<int>& instances, std::string_view line) {
          lines_.push_back(rangesOf(instances) + ' ' + std::string(line.substr(0, line.size() - 1)));
          for (const int instance : instances) said_[instance] += line;
        },
        [] {});
  }

  testing::FakeLoop loop_;
  std::unique_ptr<Fold> fold_;
  std::vector<std::string> lines_;
  std::map<int, std::string> said_;  ///< by each instance, as it came out
};

TEST_F(FoldTest, ALineThatAllHaveSaidComesOutAtOnceAndOnce) {
  makeFold(3);
  fold_->write(2, "hello\n");
  fold_->write(0, "hello\n");
  EXPECT_THAT(lines_, IsEmpty());
  fold_->write(1, "hello\n");
  EXPECT_THAT(lines_, ElementsAre("0-2 hello"));
}

TEST_F(FoldTest, ALineIsNotHeldForLong) {
  makeFold(3);
  fold_->write(1, "mine\n");
  loop_.advance(std::chrono::milliseconds(249));
  EXPECT_THAT(lines_, IsEmpty());
  loop_.advance(std::chrono::milliseconds(1));
  EXPECT_THAT(lines_, ElementsAre("1 mine"));
  fold_->write(0, "mine\n");
  loop_.advance(Fold::kLongestHold);
  EXPECT_THAT(lines_, ElementsAre("1 mine", "0 mine"));
}

TEST_F(FoldTest, NobodyWaitsForAnInstanceThatIsClosed) {
  makeFold(3);
  fold_->close(1);
  fold_->write(0, "hello\n");
  EXPECT_THAT(lines_, IsEmpty());
  fold_->write(2, "hello\n");
  EXPECT_THAT(lines_, ElementsAre("0,2 hello"));
  fold_->close(0);
  fold_->close(2);
  fold_->write(1, "a grandchild\n");
  EXPECT_THAT(lines_, ElementsAre("0,2 hello", "1 a grandchild"));
}

TEST_F(FoldTest, WhatOnlyAClosedInstanceHasNotSaidComesOutInOrder) {
  makeFold(3);
  fold_->write(0, "only me\nboth\nboth\n");
  fold_->write(1, "both\n");
  fold_->write(2, "bye\n");
  EXPECT_THAT(lines_, IsEmpty());
  fold_->close(2);
  EXPECT_THAT(lines_, ElementsAre("0 only me", "0-1 both"));
  fold_->write(1, "both\n");
  EXPECT_THAT(lines_, ElementsAre("0 only me", "0-1 both", "0-1 both"));
  loop_.advance(Fold::kLongestHold);
  EXPECT_THAT(lines_, ElementsAre("0 only me", "0-1 both", "0-1 both", "2 bye"));
}

TEST_F(FoldTest, AllThatTheOthersHaveSaidComesOutWhenTheLastOneMissingIsClosed) {
  makeFold(3);
  fold_->write(0, "a\nb\na\n0\n");
  fold_->write(1, "a\nb\na\n1\n");
  fold_->write(2, "b\n2\n");
  EXPECT_THAT(lines_, ElementsAre("0-1 a", "0-2 b"));
  fold_->close(2);
  EXPECT_THAT(lines_, ElementsAre("0-1 a", "0-2 b", "0-1 a"));
  fold_->close(0);
  EXPECT_THAT(lines_, ElementsAre("0-1 a", "0-2 b", "0-1 a", "1 1"));
  fold_->close(1);
  EXPECT_THAT(lines_, ElementsAre("0-1 a", "0-2 b", "0-1 a", "1 1", "0 0", "2 2"));
}

TEST_F(FoldTest, AClosedInstanceIsNamedWithThoseWhoSayTheSameLater) {
  makeFold(2);
  fold_->write(1, "hello\n");
  fold_->close(1);
  EXPECT_THAT(lines_, IsEmpty());
  fold_->write(0, "hello\n");
  EXPECT_THAT(lines_, ElementsAre("0-1 hello"));
}

TEST_F(FoldTest, TheNextAttemptWaitsForAllAgain) {
  makeFold(2);
  fold_->write(0, "first\n");
  fold_->close(1);
  fold_->reopen();
  EXPECT_THAT(lines_, ElementsAre("0 first"));
  fold_->write(0, "second\n");
  EXPECT_THAT(lines_, ElementsAre("0 first"));
  fold_->write(1, "second\n");
  EXPECT_THAT(lines_, ElementsAre("0 first", "0-1 second"));
}

TEST_F(FoldTest, ALineIsHeldNoLongerBecauseMoreCome) {
  makeFold(2);
  fold_->write(0, "first\n");
  loop_.advance(std::chrono::milliseconds(200));
  fold_->write(0, "second\n");
  loop_.advance(std::chrono::milliseconds(50));
  EXPECT_THAT(lines_, ElementsAre("0 first"));
  loop_.advance(std::chrono::milliseconds(200));
  EXPECT_THAT(lines_, ElementsAre("0 first", "0 second"));
}

TEST_F(FoldTest, LinesOfOneInstanceAreNotReordered) {
  makeFold(2);
  fold_->write(0, "a\nb\n");
  fold_->write(1, "b\na\n");  // this a came after its b: it is another one
  fold_->flush();
  EXPECT_EQ(said_[0], "a\nb\n");
  EXPECT_EQ(said_[1], "b\na\n");
}

TEST_F(FoldTest, WhatWasSaidBeforeALineOfAllComesBeforeIt) {
  makeFold(2);
  fold_->write(0, "only me\n");
  fold_->write(0, "both\n");
  fold_->write(1, "both\n");
  EXPECT_THAT(lines_, ElementsAre("0 only me", "0-1 both"));
}

// The instance that is read first has said everything before the others say anything.
TEST_F(FoldTest, LinesOfAllAreFoldedBetweenLinesOfOne) {
  makeFold(2);
  fold_->write(0, "start\nI am 0\nmiddle\n0 again\nend\n");
  fold_->write(1, "start\nI am 1\nmiddle\n1 again\nend\n");
  EXPECT_THAT(lines_, ElementsAre("0-1 start", "0 I am 0", "1 I am 1", "0-1 middle", "0 0 again", "1 1 again",
                                  "0-1 end"));
}

TEST_F(FoldTest, ALineOfSomeIsFoldedWhenItIsDue) {
  makeFold(3);
  fold_->write(0, "mine\nours\n");
  fold_->write(1, "ours\n");
  loop_.advance(Fold::kLongestHold);
  EXPECT_THAT(lines_, ElementsAre("0 mine", "0-1 ours"));
}

TEST_F(FoldTest, RepetitionsAreCounted) {
  makeFold(2);
  fold_->write(0, "again\nagain\n");
  fold_->write(1, "again\n");
  fold_->flush();
  EXPECT_THAT(lines_, ElementsAre("0-1 again", "0 again"));
}

TEST_F(FoldTest, SomethingWithoutANewlineIsALine) {
  makeFold(2);
  fold_->write(0, "the end");
  fold_->write(1, "the end\n");
  EXPECT_THAT(lines_, ElementsAre("0-1 the end"));
}

TEST_F(FoldTest, WhatIsHeldIsBounded) {
  makeFold(2);
  for (int number = 0; number < 100'000; ++number) fold_->write(0, std::to_string(number) + '\n');
  EXPECT_GE(lines_.size(), 100'000U - Fold::kMostHeldLines);
  fold_->flush();
  EXPECT_EQ(lines_.size(), 100'000U);
  fold_->write(0, std::string(2 * Fold::kMostHeldBytes, 'x') + '\n');
  EXPECT_EQ(lines_.size(), 100'001U) << "a line as long as that is not held at all";
}

TEST_F(FoldTest, LosesNothingWhateverIsSaid) {
  constexpr int kInstances = 5;
  makeFold(kInstances);
  SplitMix64 random(7);
  std::map<int, std::string> written;
  for (int round = 0; round < 20'000; ++round) {
    const int instance = static_cast<int>(random.next() % kInstances);
    const std::string line = std::to_string(random.next() % 4) + '\n';
    written[instance] += line;
    fold_->write(instance, line);
    if (round % 100 == 0) loop_.advance(std::chrono::milliseconds(random.next() % 100));
  }
  fold_->flush();
  EXPECT_EQ(said_, written);
}

TEST(RangesOf, AreShort) {
  EXPECT_EQ(rangesOf({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(rangesOf({3}), "3");
}

}  // namespace
}  // namespace pop
