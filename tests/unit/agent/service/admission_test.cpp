// SPDX-License-Identifier: Apache-2.0
#include "agent/service/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

namespace pop::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const UnixUser kRoot{"root", 0, 0, "/root", "/bin/sh"};
const UnixUser kAlice{"alice", 1000, 1000, "/home/alice", "/bin/sh"};
const UnixUser kRunner{"runner", 1001, 1001, "/srv", "/bin/sh"};

UsersFile users() {
  UsersFile file;
  file.users = {{"alice", {kAlice, {}}}, {"ci", {kRunner, {2, 8}}}, {"bob", {kRunner, {}}}};
  file.limits = {4, 20};
  return file;
}

class AdmissionTest : public ::testing::Test {
 protected:
  Admission admission_{users(), kRoot, makeJobToken};

  std::string tokenOf(const std::string& name, const std::string& job, int instances = 1) {
    const Result<AdmittedJob> admitted = admission_.admit({name, job, instances});
    EXPECT_TRUE(admitted.ok()) << admitted.status().message();
    return admitted.ok() ? admitted.value().token : "";
  }
  Status refusal(const std::string& name, const std::string& job, int instances = 1) {
    const Result<AdmittedJob> admitted = admission_.admit({name, job, instances});
    EXPECT_FALSE(admitted.ok());
    return admitted.status();
  }
};

TEST_F(AdmissionTest, RunsAJobAsTheUserOfTheName) {
  const Result<AdmittedJob> admitted = admission_.admit({"ci", "job1", 4});
  ASSERT_TRUE(admitted.ok()) << admitted.status().message();
  EXPECT_EQ(admitted.value().user, kRunner);
  EXPECT_THAT(admitted.value().token, MatchesRegex("[0-9a-f]{32}"));
}

TEST_F(AdmissionTest, RefusesANameThatIsNotInTheFile) {
  EXPECT_EQ(refusal("eve", "job1").code(), Code::kPermissionDenied);
  EXPECT_THAT(refusal("eve", "job1").message(), HasSubstr("'eve' is not in the users file"));
  EXPECT_EQ(refusal("", "job1").code(), Code::kPermissionDenied);
  EXPECT_EQ(admission_.usageOf("alice")->running, (JobLimits{}));
}

TEST_F(AdmissionTest, OfAServiceThatIsNotRootRunsItsOwnUsersJobsOnly) {
  Admission own(users(), kAlice, makeJobToken);
  EXPECT_TRUE(own.admit({"alice", "job1", 1}).ok());
  const Status refused = own.admit({"ci", "job2", 1}).status();
  EXPECT_EQ(refused.code(), Code::kPermissionDenied);
  EXPECT_THAT(refused.message(), HasSubstr("runs as 'alice' and cannot run jobs of 'runner'"));
}

TEST_F(AdmissionTest, KeepsTheLimitsOfAName) {
  tokenOf("ci", "job1", 6);
  EXPECT_EQ(refusal("ci", "job2", 3).code(), Code::kResourceExhausted);
  EXPECT_THAT(refusal("ci", "job2", 3).message(),
              HasSubstr("'ci' may have 8 instances at once on this host, but has 6 and asks for 3 more"));
  tokenOf("ci", "job2", 2);
  EXPECT_THAT(refusal("ci", "job3").message(), HasSubstr("'ci' may have 2 jobs at once"));
  tokenOf("bob", "job3");  // another name of the same Unix user has limits of its own
  admission_.release("job1");
  tokenOf("ci", "job4", 6);
}

TEST_F(AdmissionTest, CountsRunnersLikeOtherJobs) {
  EXPECT_EQ(admission_.admitRunner({"ci", "r1", 6}).value(), kRunner);
  EXPECT_THAT(refusal("ci", "job1", 3).message(),
              HasSubstr("may have 8 instances at once on this host, but has 6"));
  tokenOf("ci", "job2", 2);
  EXPECT_EQ(admission_.admitRunner({"ci", "r2", 1}).code(), Code::kResourceExhausted);
  EXPECT_EQ(admission_.usageOf("ci")->own_running, (JobLimits{2, 8}));
  admission_.releaseRunner("r1");
  EXPECT_TRUE(admission_.admitRunner({"ci", "r2", 1}).ok());
  EXPECT_EQ(admission_.admitRunner({"ci", "r2", 1}).code(), Code::kAlreadyExists);
  EXPECT_EQ(admission_.admitRunner({"eve", "r3", 1}).code(), Code::kPermissionDenied);
  EXPECT_EQ(admission_.admitRunner({"alice", "r3", 0}).code(), Code::kInvalidArgument);
}

TEST_F(AdmissionTest, LetsNobodyTakeTheIdOfARunner) {
  tokenOf("bob", "r1");
  EXPECT_TRUE(admission_.admitRunner({"alice", "r1", 1}).ok());
  const std::string token = tokenOf("bob", "r2");
  EXPECT_TRUE(admission_.admitRunner({"alice", "r2", 1}).ok());
  EXPECT_TRUE(admission_.mayContinue("bob", "r2", token).ok());
  EXPECT_FALSE(admission_.mayContinue("alice", "r2", "").ok()) << "a runner has no token";
}

TEST_F(AdmissionTest, KnowsTheUnixUsersWhoseJobsMayRun) {
  EXPECT_EQ(admission_.unixUserOf(1000), "alice");
  EXPECT_EQ(admission_.unixUserOf(0), "root");
  EXPECT_EQ(admission_.unixUserOf(4711), std::nullopt);
}

TEST_F(AdmissionTest, KeepsTheLimitsOfAJobThatGrows) {
  tokenOf("ci", "job1", 2);
  EXPECT_TRUE(admission_.admitRun("job1", 8).ok());
  EXPECT_THAT(admission_.admitRun("job1", 9).message(), HasSubstr("may have 8 instances at once"));
  EXPECT_EQ(refusal("ci", "job2", 1).code(), Code::kResourceExhausted);
  EXPECT_EQ(admission_.admitRun("job3", 1).code(), Code::kNotFound);
  EXPECT_EQ(admission_.admitRun("job1", 1'000'000).code(), Code::kInvalidArgument)
      << "of whoever has no limits";
}

// An agent ignores a command whose number it knows: what has been started goes on.
TEST_F(AdmissionTest, CountsAJobAsTheMostThatItHasAskedFor) {
  tokenOf("ci", "job1", 8);
  EXPECT_TRUE(admission_.admitRun("job1", 1).ok());
  EXPECT_EQ(refusal("ci", "job2", 1).code(), Code::kResourceExhausted);
  EXPECT_EQ(admission_.usageOf("ci")->own_running, (JobLimits{1, 8}));
}

TEST_F(AdmissionTest, KeepsTheLimitsOfAllTogether) {
  tokenOf("alice", "job1", 15);
  EXPECT_THAT(refusal("bob", "job2", 6).message(), HasSubstr("all users together may have 20 instances"));
  tokenOf("bob", "job2");
  tokenOf("bob", "job3");
  tokenOf("bob", "job4");
  EXPECT_THAT(refusal("alice", "job5").message(), HasSubstr("all users together may have 4 jobs"));
}

TEST_F(AdmissionTest, RefusesOddRequests) {
  EXPECT_EQ(refusal("alice", "").code(), Code::kInvalidArgument);
  EXPECT_EQ(refusal("alice", std::string(1000, 'x')).code(), Code::kInvalidArgument);
  for (const int instances : {0, -1, 1'000'000'000}) {
    EXPECT_EQ(refusal("alice", "job1", instances).code(), Code::kInvalidArgument) << instances;
  }
}

TEST_F(AdmissionTest, RefusesASecondJobOfTheSameId) {
  tokenOf("alice", "job1");
  EXPECT_EQ(refusal("alice", "job1").code(), Code::kAlreadyExists);
  EXPECT_EQ(refusal("bob", "job1").code(), Code::kAlreadyExists);
}

TEST_F(AdmissionTest, WithoutATokenToGiveAdmitsNothing) {
  Admission broken(users(), kRoot, [] { return Result<std::string>(unavailable("no random bits")); });
  EXPECT_EQ(broken.admit({"alice", "job1", 1}).status().message(), "no random bits");
  EXPECT_EQ(broken.usageOf("alice")->running, (JobLimits{}));
}

TEST_F(AdmissionTest, SaysWhatRunsAndMayRun) {
  tokenOf("ci", "job1", 3);
  tokenOf("bob", "job2", 5);  // the same Unix user by another name
  const JobUsage usage = admission_.usageOf("ci").value();
  EXPECT_EQ(usage.unix_user, "runner");
  EXPECT_EQ(usage.own_running, (JobLimits{1, 3}));
  EXPECT_EQ(usage.own_limits, (JobLimits{2, 8}));
  EXPECT_EQ(usage.running, (JobLimits{2, 8}));
  EXPECT_EQ(usage.limits, (JobLimits{4, 20}));
  EXPECT_EQ(admission_.usageOf("eve").code(), Code::kPermissionDenied);
}

TEST_F(AdmissionTest, ATokenOpensItsOwnJobOnly) {
  const std::string first = tokenOf("alice", "job1"), second = tokenOf("alice", "job2");
  EXPECT_TRUE(admission_.mayContinue("alice", "job1", first).ok());
  EXPECT_EQ(admission_.mayContinue("alice", "job1", second).code(), Code::kPermissionDenied);
  EXPECT_EQ(admission_.mayContinue("alice", "job1", "").code(), Code::kPermissionDenied);
  EXPECT_EQ(admission_.mayContinue("alice", "job3", first).code(), Code::kPermissionDenied);
}

TEST_F(AdmissionTest, AStolenTokenIsNothingWithoutTheCertificate) {
  const std::string stolen = tokenOf("alice", "job1");
  const Status refused = admission_.mayContinue("bob", "job1", stolen);
  EXPECT_EQ(refused.code(), Code::kPermissionDenied);
  // The same words as for a job that is not there.
  admission_.release("job1");
  EXPECT_EQ(admission_.mayContinue("bob", "job1", stolen), refused);
}

TEST_F(AdmissionTest, ATokenEndsWithItsJob) {
  const std::string token = tokenOf("alice", "job1");
  admission_.release("job1");
  EXPECT_FALSE(admission_.mayContinue("alice", "job1", token).ok());
}

TEST_F(AdmissionTest, WhoIsTakenOutOfTheFileCannotComeBack) {
  const std::string token = tokenOf("alice", "job1");
  UsersFile without = users();
  without.users.erase("alice");
  admission_.setUsers(without);
  EXPECT_FALSE(admission_.mayContinue("alice", "job1", token).ok());
  EXPECT_EQ(refusal("alice", "job2").code(), Code::kPermissionDenied);
  EXPECT_EQ(admission_.usageOf("bob")->running.jobs, 1);
}

TEST_F(AdmissionTest, WhoIsTakenOutOfTheFileStartsNothingMore) {
  tokenOf("alice", "job1", 8);
  tokenOf("ci", "job2", 1);
  UsersFile without = users();
  without.users.erase("alice");
  admission_.setUsers(without);
  EXPECT_EQ(admission_.admitRun("job1", 1).code(), Code::kPermissionDenied);
  EXPECT_TRUE(admission_.admitRun("job2", 1).ok());
}

TEST(JobToken, IsNeverTheSame) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(makeJobToken().value());
  EXPECT_EQ(tokens.size(), 100U);
}

TEST(EqualInConstantTime, ComparesWholeTexts) {
  EXPECT_TRUE(equalInConstantTime("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "abd", "xbc", "ABC"}) {
    EXPECT_FALSE(equalInConstantTime("abc", other)) << other;
  }
}

TEST(Joining, WithoutTlsIsForThisHostOnly) {
  EXPECT_TRUE(checkJoining("127.0.0.1", false).ok());
  EXPECT_TRUE(checkJoining("localhost", false).ok());
  EXPECT_TRUE(checkJoining("head", true).ok());
  EXPECT_THAT(checkJoining("head", false).message(), HasSubstr("without TLS anybody on the way to head"));
}

TEST(Listening, WithoutTlsIsForThisHostOnly) {
  for (const char* address : {"127.0.0.1", "127.8.9.10", "::1", "localhost"}) {
    EXPECT_TRUE(checkListening(address, false, 1000).ok()) << address;
  }
  for (const char* address : {"0.0.0.0", "::", "10.0.0.1", "", "128.0.0.1", "h0", "::ffff:127.0.0.1"}) {
    EXPECT_THAT(checkListening(address, false, 1000).message(), HasSubstr("init-tls")) << address;
    EXPECT_TRUE(checkListening(address, true, 0).ok()) << address;
  }
}

TEST(Listening, WithoutTlsIsNotForRoot) {
  EXPECT_THAT(checkListening("127.0.0.1", false, 0).message(), HasSubstr("run jobs as root"));
}

}  // namespace
}  // namespace pop::agent
