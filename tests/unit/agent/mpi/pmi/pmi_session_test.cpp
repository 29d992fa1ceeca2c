// SPDX-License-Identifier: Apache-2.0
#include "agent/mpi/pmi/pmi_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/mpi/pmi/process_mapping.h"

namespace pop::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PmiWorld worldOf(std::set<int> local, int size, std::string mapping = "(vector,(0,2,2))") {
  PmiWorld world{.name = "job-7", .size = size, .programs = {}, .process_mapping = std::move(mapping)};
  for (const int instance : local) world.programs[instance] = 0;
  return world;
}

class PmiSessionTest : public ::testing::Test {
 protected:
  std::string answerTo(int instance, std::string_view line) {
    const PmiOutcome outcome = session.take(instance, line);
    EXPECT_EQ(outcome.warning, "");
    EXPECT_FALSE(outcome.is_garbage || outcome.reached || outcome.abort) << line;
    return outcome.answer;
  }

  /// All of this host enter the barrier; the values that they have put.
  PutValues enterAll() {
    EXPECT_FALSE(session.take(2, "cmd=barrier_in").reached);
    std::optional<PutValues> values = session.take(3, "cmd=barrier_in").reached;
    EXPECT_TRUE(values);
    return values.value_or(PutValues{});
  }

  PmiSession session{worldOf({2, 3}, 4)};
};

TEST_F(PmiSessionTest, AnswersWhatAProgramAsksAtItsStart) {
  EXPECT_EQ(answerTo(2, "cmd=init pmi_version=1 pmi_subversion=1"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
  EXPECT_EQ(answerTo(2, "cmd=get_maxes"), "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024");
  EXPECT_EQ(answerTo(2, "cmd=get_appnum"), "cmd=appnum appnum=0");
  EXPECT_EQ(answerTo(2, "cmd=get_my_kvsname"), "cmd=my_kvsname kvsname=job-7");
  EXPECT_EQ(answerTo(2, "cmd=get_universe_size"), "cmd=universe_size size=4");
  EXPECT_EQ(answerTo(2, "cmd=get kvsname=job-7 key=PMI_process_mapping"),
            "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))");
  EXPECT_EQ(answerTo(2, "cmd=finalize"), "cmd=finalize_ack rc=0");
}

TEST_F(PmiSessionTest, NumbersTheProgramsOfAJob) {
  PmiSession two({.name = "job-7", .size = 2, .programs = {{0, 0}, {1, 1}}, .process_mapping = {}});
  EXPECT_EQ(two.take(0, "cmd=get_appnum").answer, "cmd=appnum appnum=0");
  EXPECT_EQ(two.take(1, "cmd=get_appnum").answer, "cmd=appnum appnum=1");
}

TEST_F(PmiSessionTest, RefusesAnotherVersion) {
  const PmiOutcome outcome = session.take(3, "cmd=init pmi_version=2 pmi_subversion=0");
  EXPECT_EQ(outcome.answer, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1");
  EXPECT_THAT(outcome.warning, HasSubstr("instance 3 asks for PMI version 2: build the program with PMI-1"));
  EXPECT_FALSE(outcome.is_garbage);
}

TEST_F(PmiSessionTest, ShowsValuesOfAllHostsWhenTheBarrierOpens) {
  EXPECT_EQ(answerTo(2, "cmd=put kvsname=job-7 key=card-2 value=a=b c"), "cmd=put_result rc=0 msg=success");
  const std::string question = "cmd=get kvsname=job-7 key=card-2";
  EXPECT_EQ(answerTo(3, question), "cmd=get_result rc=-1 msg=key_not_found value=unknown");
  const PutValues values = enterAll();
  EXPECT_EQ(values, (PutValues{{"card-2", "a=b c"}}));
  EXPECT_EQ(answerTo(3, "cmd=get_appnum"), "cmd=appnum appnum=0") << "nothing is released yet";
  EXPECT_THAT(session.release({{"card-2", "a=b c"}, {"card-0", "x"}}), ElementsAre(2, 3));
  EXPECT_EQ(answerTo(3, question), "cmd=get_result rc=0 msg=success value=a=b c");
  EXPECT_EQ(answerTo(3, "cmd=get kvsname=job-7 key=card-0"), "cmd=get_result rc=0 msg=success value=x");
  EXPECT_EQ(answerTo(3, "cmd=get kvsname=job-7 key=card"),
            "cmd=get_result rc=-1 msg=key_not_found value=unknown");
}

TEST_F(PmiSessionTest, OpensOneBarrierAfterTheOther) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(enterAll(), PutValues{});
    EXPECT_THAT(session.release({}), ElementsAre(2, 3));
  }
}

TEST_F(PmiSessionTest, KeepsToTheLimitsThatItTells) {
  const std::string put = "cmd=put kvsname=job-7 key=";
  EXPECT_EQ(answerTo(2, put + std::string(63, 'k') + " value=" + std::string(1023, 'v')),
            "cmd=put_result rc=0 msg=success");
  EXPECT_EQ(answerTo(2, put + std::string(64, 'k') + " value=v"), "cmd=put_result rc=-1 msg=key_too_long");
  EXPECT_EQ(answerTo(2, put + "k value=" + std::string(1024, 'v')),
            "cmd=put_result rc=-1 msg=value_too_long");
  EXPECT_EQ(answerTo(2, "cmd=put kvsname=job-7 value=v"), "cmd=put_result rc=-1 msg=no_key");
  EXPECT_EQ(answerTo(2, put + "empty value="), "cmd=put_result rc=0 msg=success");
}

// A link to another host would have to carry them.
TEST_F(PmiSessionTest, BoundsWhatIsPutForOneBarrier) {
  const std::string value(1000, 'v');
  std::string answer;
  int puts = 0;
  while (answer.find("rc=-1") == std::string::npos && puts < 100'000) {
    answer = answerTo(2, "cmd=put kvsname=job-7 key=" + std::to_string(puts++) + " value=" + value);
  }
  EXPECT_EQ(answer, "cmd=put_result rc=-1 msg=too_many_values");
  enterAll();
  session.release({});
  EXPECT_EQ(answerTo(2, "cmd=put kvsname=job-7 key=again value=v"), "cmd=put_result rc=0 msg=success");
}

TEST_F(PmiSessionTest, AbortsWithTheCodeThatTheProcessWouldExitWith) {
  const auto abortBy = [](const std::string& code) {
    PmiSession alone(worldOf({0}, 1));
    std::optional<PmiAbort> abort = alone.take(0, "cmd=abort exitcode=" + code).abort;
    EXPECT_TRUE(abort) << code;
    EXPECT_FALSE(alone.take(0, "cmd=abort exitcode=" + code).abort) << "one report ends the job";
    return abort.value_or(PmiAbort{});
  };
  EXPECT_EQ(abortBy("7").exit_code, 7);
  EXPECT_EQ(abortBy("7").message, "called MPI_Abort(7)");
  EXPECT_EQ(abortBy("-1").exit_code, 255);
  EXPECT_EQ(abortBy("263").exit_code, 7);
  EXPECT_EQ(abortBy("0").exit_code, 1) << "it is no success";
  EXPECT_EQ(abortBy("x").exit_code, 1);
  EXPECT_EQ(abortBy("x").message, "called MPI_Abort");
}

TEST_F(PmiSessionTest, RefusesToSpawnOnceAllIsTold) {
  for (const char* line :
       {"mcmd=spawn", "nprocs=2", "execname=./worker", "totspawns=2", "spawnssofar=1", "arg1=cmd=barrier_in",
        "argcnt=1", "preput_num=1", "preput_key_0=PARENT_ROOT", "preput_val_0=tag=3", "info_num=0", "endcmd",
        "mcmd=spawn", "nprocs=1", "totspawns=2", "spawnssofar=2"}) {
    EXPECT_EQ(answerTo(2, line), "");
  }
  const PmiOutcome outcome = session.take(2, "endcmd");
  EXPECT_EQ(outcome.answer, "cmd=spawn_result rc=-1 status=not_supported");
  EXPECT_THAT(outcome.warning, HasSubstr("instance 2 called MPI_Comm_spawn, which poprun refuses"));
  EXPECT_EQ(answerTo(2, "cmd=get_appnum"), "cmd=appnum appnum=0");
}

TEST_F(PmiSessionTest, RefusesNamesOfServices) {
  EXPECT_EQ(answerTo(2, "cmd=publish_name service=s port=p"), "cmd=publish_result rc=-1 info=not_supported");
  EXPECT_EQ(answerTo(2, "cmd=unpublish_name service=s"), "cmd=unpublish_result rc=-1 info=not_supported");
  EXPECT_EQ(answerTo(2, "cmd=lookup_name service=s"), "cmd=lookup_result rc=-1 info=not_supported");
}

TEST_F(PmiSessionTest, TellsWhatItDoesNotUnderstand) {
  for (const char* line : {"", "x", "cmd", "cmd=", "cmd=fullinit;pmirank=0;", "notcmd=init", "endcmd",
                           "mcmd=other", "cmd=barrier_out"}) {
    const PmiOutcome outcome = session.take(2, line);
    EXPECT_TRUE(outcome.is_garbage) << line;
    EXPECT_EQ(outcome.answer, "") << line;
    EXPECT_EQ(outcome.warning, "instance 2 sent '" + std::string(line) +
                                   "', which is not PMI-1: its connection for PMI is closed");
  }
  EXPECT_TRUE(PmiSession::takeEndless(2).is_garbage);
}

TEST_F(PmiSessionTest, LetsNobodyIntoABarrierTwice) {
  session.take(2, "cmd=barrier_in");
  const PmiOutcome again = session.take(2, "cmd=barrier_in");
  EXPECT_TRUE(again.is_garbage);
  EXPECT_FALSE(again.reached);
}

// A script that starts its program again, since the first was killed in its barrier.
TEST_F(PmiSessionTest, ForgetsWhereAnEarlierProgramOfTheInstanceWas) {
  answerTo(2, "cmd=put kvsname=job-7 key=old value=1");
  session.take(2, "cmd=barrier_in");
  answerTo(2, "cmd=init pmi_version=1 pmi_subversion=1");
  answerTo(2, "cmd=put kvsname=job-7 key=new value=2");
  EXPECT_EQ(enterAll(), (PutValues{{"new", "2"}}));
}

TEST_F(PmiSessionTest, EndsTheJobWhenAnInstanceWaitsForOneThatHasEnded) {
  session.take(3, "cmd=barrier_in");
  const std::optional<PmiAbort> abort = session.announce({.instance = 1, .clean = true, .text = ""});
  ASSERT_TRUE(abort);
  EXPECT_EQ(abort->instance, 3);
  EXPECT_EQ(abort->exit_code, 1);
  EXPECT_EQ(abort->message, "waits in MPI_Init or MPI_Finalize for instance 1, which has ended");
  EXPECT_FALSE(session.announce({.instance = 0, .clean = true, .text = ""})) << "one report ends the job";
}

TEST_F(PmiSessionTest, EndsTheJobWhenAnInstanceComesToWaitForOneThatHasEnded) {
  EXPECT_FALSE(session.announce({.instance = 1, .clean = true, .text = ""}));
  EXPECT_FALSE(session.announce({.instance = 0, .clean = true, .text = ""}));
  const std::optional<PmiAbort> abort = session.take(2, "cmd=barrier_in").abort;
  ASSERT_TRUE(abort);
  EXPECT_EQ(abort->message, "waits in MPI_Init or MPI_Finalize for instance 1, which has ended");
}

TEST_F(PmiSessionTest, DoesNotTakeTheOneThatHasEndedForOneThatWaits) {
  session.take(2, "cmd=barrier_in");
  EXPECT_FALSE(session.announce({.instance = 2, .clean = false, .text = ""}));
}

TEST_F(PmiSessionTest, EndsNothingAfterTheLastBarrier) {
  enterAll();
  session.release({});
  EXPECT_FALSE(session.announce({.instance = 2, .clean = true, .text = ""}));
  EXPECT_EQ(answerTo(3, "cmd=finalize"), "cmd=finalize_ack rc=0");
}

// Longer than what a client can read: MPICH then compares the names of hosts.
TEST(PmiMapping, IsLeftOutWhenItIsTooLong) {
  PmiSession session(worldOf({0}, 1, "(vector" + std::string(1100, ',') + ')'));
  EXPECT_EQ(session.take(0, "cmd=get kvsname=job-7 key=PMI_process_mapping").answer,
            "cmd=get_result rc=-1 msg=key_not_found value=unknown");
}

TEST(PmiMapping, JoinsHostsWithAsManyInstances) {
  const auto mappingOf = [](const std::vector<int>& counts) { return processMapping(counts); };
  EXPECT_EQ(mappingOf({4}), "(vector,(0,1,4))");
  EXPECT_EQ(mappingOf({2, 2, 2}), "(vector,(0,3,2))");
  EXPECT_EQ(mappingOf({4, 4, 3, 4}), "(vector,(0,2,4),(2,1,3),(3,1,4))");
}

}  // namespace
}  // namespace pop::agent
