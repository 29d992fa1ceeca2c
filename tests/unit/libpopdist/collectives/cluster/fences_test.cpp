// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/cluster/link/fences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "libpopdist/collectives/cluster/link/wire.h"

namespace popdist::cluster {
namespace {

using pop::Code;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

Fences three() {
  return Fences({"instance 0", "instance 1", "instance 2"});
}

// Takes all through a fence, as at the start.
void open(Fences& fences) {
  fences.enter(0, "1", "tag");
  fences.enter(1, "1", "tag");
  ASSERT_THAT(fences.enter(2, "1", "tag"), SizeIs(3));
  fences.takeReleased();
}

TEST(Fences, OpensWhenAllAreInsideAndAnswersEachItsCall) {
  Fences fences = three();
  EXPECT_THAT(fences.enter(2, "c", "tag"), IsEmpty());
  EXPECT_THAT(fences.enter(0, "a", "tag"), IsEmpty());
  const std::vector<Answer> answers = fences.enter(1, "b", "tag");
  ASSERT_THAT(answers, SizeIs(3));
  for (const Answer& each : answers) {
    EXPECT_TRUE(each.error.ok());
    EXPECT_EQ(each.call, std::string(1, static_cast<char>('a' + each.instance)));
  }
}

TEST(Fences, ReleasesWhatWasPutInItsOrder) {
  Fences fences = three();
  fences.put("k", "1");
  fences.put("k", "2");
  fences.enter(0, "1", "tag");
  fences.enter(1, "1", "tag");
  EXPECT_THAT(fences.takeReleased(), IsEmpty());
  fences.enter(2, "1", "tag");
  EXPECT_THAT(fences.takeReleased(), ElementsAre(Pair("k", "1"), Pair("k", "2")));
  EXPECT_THAT(fences.takeReleased(), IsEmpty());
}

TEST(Fences, DifferentCallsAreAnErrorForAllInside) {
  Fences fences = three();
  fences.enter(0, "1", "a fence");
  const std::vector<Answer> answers = fences.enter(1, "1", "a communicator");
  ASSERT_THAT(answers, SizeIs(2));
  for (const Answer& each : answers) {
    EXPECT_EQ(each.error.status.code(), Code::kFailedPrecondition);
    EXPECT_THAT(each.error.status.message(),
                HasSubstr("instance 0 in 'a fence', instance 1 in 'a communicator'"));
  }
}

TEST(Fences, EndIsAnErrorForThoseInsideAndForThoseWhoCome) {
  Fences fences = three();
  fences.enter(0, "1", "tag");
  const std::vector<Answer> now = fences.ended(2, "instance 2 is gone");
  ASSERT_THAT(now, SizeIs(1));
  EXPECT_EQ(now[0].error.instance, 2);
  fences.ended(0, "instance 0 is gone");
  const std::vector<Answer> later = fences.enter(1, "1", "tag");
  ASSERT_THAT(later, SizeIs(1));
  EXPECT_EQ(later[0].error.status.code(), Code::kUnavailable);
  EXPECT_EQ(later[0].error.instance, 2) << "the first end is the reason";
}

TEST(Fences, FirstFenceThatIsLateFailsForAll) {
  Fences fences = three();
  fences.enter(0, "1", "start");
  fences.enter(1, "1", "start");
  const std::vector<Answer> answers = fences.timeIsUp(1, "; a hint");
  ASSERT_THAT(answers, SizeIs(2));
  for (const Answer& each : answers) {
    EXPECT_EQ(each.error.instance, 2);
    EXPECT_EQ(each.error.status.message(), "instance 2 has not come in time; a hint");
  }
}

TEST(Fences, LaterOneIsLeftByTheInstanceWhoseTimeIsUp) {
  Fences fences = three();
  open(fences);
  fences.enter(0, "2", "tag");
  fences.enter(1, "2", "tag");
  const std::vector<Answer> answers = fences.timeIsUp(0, "");
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].error.status.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(answers[0].error.instance, 2);
  EXPECT_THAT(fences.enter(2, "2", "tag"), IsEmpty()) << "instance 0 has left";
  EXPECT_THAT(fences.enter(0, "3", "tag"), SizeIs(3));
  EXPECT_THAT(fences.timeIsUp(0, ""), IsEmpty()) << "it is not inside any more";
}

TEST(Fences, MoreThanTheLimitIsAnErrorOfThatFenceOnly) {
  Fences fences = three();
  open(fences);
  for (int i = 0; i < 3; ++i) fences.put(std::to_string(i), std::string(kMostPutBytes / 2, 'x'));
  fences.enter(0, "2", "tag");
  fences.enter(1, "2", "tag");
  const std::vector<Answer> answers = fences.enter(2, "2", "tag");
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_EQ(answers[0].error.status.code(), Code::kResourceExhausted);
  EXPECT_THAT(fences.takeReleased(), IsEmpty());
  open(fences);
}

TEST(Fences, NamesAFewOfManyThatAreMissing) {
  Fences fences(std::vector<std::string>(1000, "instance"));
  fences.enter(0, "1", "start");
  EXPECT_THAT(fences.timeIsUp(0, "")[0].error.status.message(), HasSubstr("and 991 more have not come"));
}

}  // namespace
}  // namespace popdist::cluster
