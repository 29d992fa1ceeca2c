// SPDX-License-Identifier: Apache-2.0
// Jobs that are started by popctl submit job and by poprun --controller.
#include <sys/stat.h>

#include <chrono>
#include <csignal>

#include "tests/integration/popctl/popctl_fixture.h"
#include "tests/testing/free_port.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Submit : public PopctlTest {
 protected:
  v1::SubmitRequest onlyRequest() {
    const std::vector<v1::SubmitRequest> requests = daemon.submitted();
    EXPECT_EQ(requests.size(), 1U);
    return requests.empty() ? v1::SubmitRequest() : requests.front();
  }
};

TEST_F(Submit, PoprunDetachedPrintsTheNumber) {
  const Outcome outcome = run(poprunOf({"--detach", "--name", "night", "-np", "2", "./train", "x y"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "100\n");
  const v1::SubmitRequest request = onlyRequest();
  EXPECT_EQ(request.name(), "night");
  EXPECT_GE(request.request_id().size(), 32U);
  EXPECT_THAT(request.spec().hosts(), IsEmpty());
  EXPECT_EQ(request.spec().num_instances(), 2);
  EXPECT_THAT(request.spec().programs(0).command(), ElementsAre("./train", "x y"));
  EXPECT_THAT(request.spec().programs(0).working_directory(), StartsWith("/"));
  EXPECT_FALSE(request.has_num_hosts());
}

TEST_F(Submit, PoprunSaysWhereAndWhen) {
  PoprunSetup setup = poprunOf({"--detach", "--num-hosts", "3", "--priority", "-2", "--held", "--log-limit",
                                "8M", "-np", "3", "./train"});
  setup.directory = home();
  EXPECT_EQ(run(setup).exit_code, 0);
  const v1::SubmitRequest request = onlyRequest();
  EXPECT_EQ(request.num_hosts(), 3);
  EXPECT_EQ(request.priority(), -2);
  EXPECT_TRUE(request.held());
  EXPECT_EQ(request.log_limit_bytes(), 8 << 20);
  EXPECT_EQ(request.spec().programs(0).working_directory(), home());
  EXPECT_THAT(request.spec().hosts(), IsEmpty());
  const Outcome named = run(poprunOf({"--detach", "--host", "a:2,b:2", "-np", "4", "./train"}));
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_EQ(daemon.submitted().back().spec().hosts(1).name(), "b");
}

TEST_F(Submit, AReplyThatIsLostDoesNotStartTheJobTwice) {
  daemon.loseReplies(2);
  const Outcome outcome = run(poprunOf({"--detach", "./train"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "100\n");
  const std::vector<v1::SubmitRequest> requests = daemon.submitted();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].request_id(), requests[2].request_id());
  EXPECT_EQ(run(poprunOf({"--detach", "./train"})).out, "101\n") << "another job";
}

TEST_F(Submit, PoprunShowsTheJobAndCtrlCIsForIt) {
  PoprunProcess job(poprunOf({"--tag-output", "no", "-np", "2", "./train"}));
  ASSERT_TRUE(job.waitFor([&] { return !daemon.submitted().empty(); }));
  daemon.addOutput(100, 1, "hello\n");
  ASSERT_TRUE(job.waitFor([&] { return job.out() == "hello\n"; })) << job.out() << job.err();
  job.signal(SIGINT);
  ASSERT_TRUE(job.waitFor([&] { return !daemon.signals().empty(); }));
  EXPECT_THAT(daemon.signals(), ElementsAre(SIGINT));
  daemon.endJob(100, 130);
  EXPECT_EQ(job.wait(), 130);
}

TEST_F(Submit, CtrlCOfAJobThatWaitsEndsIt) {
  PoprunProcess job(poprunOf({"./train"}));
  ASSERT_TRUE(job.waitFor([&] { return !daemon.logsFrom().empty(); }));
  job.signal(SIGINT);
  ASSERT_TRUE(job.waitFor([&] { return !daemon.signals().empty(); }));
  daemon.cancelWaiting(100);
  EXPECT_EQ(job.wait(), 130);
  EXPECT_THAT(job.err(), HasSubstr("job 100 was cancelled"));
}

TEST_F(Submit, AHangupLeavesTheJobAlone) {
  PoprunProcess job(poprunOf({"./train"}));
  ASSERT_TRUE(job.waitFor([&] { return !daemon.submitted().empty(); }));
  daemon.addOutput(100, 0, "hello\n");
  ASSERT_TRUE(job.waitFor([&] { return job.out() == "hello\n"; })) << job.err();
  job.signal(SIGHUP);
  EXPECT_EQ(job.wait(), 0);
  EXPECT_THAT(job.err(), HasSubstr("job 100, which goes on"));
  EXPECT_THAT(daemon.signals(), IsEmpty());
}

TEST_F(Submit, PoprunFailsWithItsOwnCode) {
  const Outcome refused = run(poprunOf({"--detach", "--no-wait", "./train"}));
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_THAT(refused.err, AllOf(StartsWith("poprun: "), HasSubstr("no host is free")));
  EXPECT_EQ(refused.out, "");
  const Outcome keyless = run(poprunOf({"--controller-tls", "/nowhere", "./train"}));
  EXPECT_EQ(keyless.exit_code, 125);
  EXPECT_THAT(keyless.err, StartsWith("poprun: --controller-tls /nowhere"));
  PoprunSetup portless = setupOf({"--controller", "localhost:abc", "./train"});
  portless.program.clear();
  EXPECT_THAT(run(portless).err, StartsWith("poprun: --controller: 'localhost:abc'"));
  for (const Words& wrong : std::vector<Words>{{"--attach", "7"},
                                               {"--num-hosts", "2", "--host", "a", "./train"},
                                               {"--synchronise", "/tmp", "./train"},
                                               {"--stdin", "all", "./train"}}) {
    EXPECT_EQ(run(poprunOf(wrong)).exit_code, 125) << ::testing::PrintToString(wrong);
  }
  EXPECT_THAT(daemon.submitted(), IsEmpty());
}

TEST_F(Submit, PopctlRefusesPoprunsOptionsThatAreNotForIt) {
  for (const Words& server :
       std::vector<Words>{{"--controller", "elsewhere:1"}, {"--controller-tls", "/tmp"}}) {
    const Outcome outcome = popctl({"submit", "job", server[0], server[1], "./train"});
    EXPECT_EQ(outcome.exit_code, 2) << server[0];
    EXPECT_THAT(outcome.err, AllOf(StartsWith("popctl: --controller and --controller-tls are poprun's"),
                                   HasSubstr("--server and --tls")));
  }
  const Outcome jobs = popctl({"submit", "job", "--jobs"});
  EXPECT_NE(jobs.exit_code, 0);
  EXPECT_THAT(jobs.err,
              AllOf(HasSubstr("--jobs"), HasSubstr("popctl list jobs"), Not(HasSubstr("--controller"))));
  const Outcome port = popctl({"submit", "job", "--agent-port", "7571", "./train"});
  EXPECT_NE(port.exit_code, 0);
  EXPECT_THAT(port.err,
              AllOf(HasSubstr("--agent-port: "), HasSubstr("popdistd"), Not(HasSubstr("--controller"))));
  EXPECT_THAT(daemon.submitted(), IsEmpty());
}

TEST_F(Submit, PopctlTakesPoprunsOptions) {
  const Outcome outcome = popctl({"submit", "job", "--name", "n1", "--hosts", "2", "--priority", "4", "-np",
                                  "4", "--timeout", "10m", "./train", "--wait"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "100\n");
  const v1::SubmitRequest request = onlyRequest();
  EXPECT_EQ(request.name(), "n1");
  EXPECT_EQ(request.num_hosts(), 2);
  EXPECT_EQ(request.priority(), 4);
  EXPECT_EQ(request.spec().timeout_ms(), 600000);
  EXPECT_THAT(request.spec().programs(0).command(), ElementsAre("./train", "--wait"));
}

TEST_F(Submit, PopctlFailsWithItsOwnCode) {
  EXPECT_EQ(popctl({"submit", "job", "--no-wait", "./train"}).exit_code, 1);
  EXPECT_EQ(popctl({"submit", "job"}).exit_code, 2);
  daemon.stop();
  const Outcome unreachable = popctl({"--reconnect", "0", "submit", "job", "./train"});
  EXPECT_EQ(unreachable.exit_code, 4);
  EXPECT_THAT(unreachable.err, AllOf(HasSubstr("submit job"), HasSubstr(daemon.address())));
  daemon.start();
}

// gRPC's own pauses between attempts are longer than all of this may last.
TEST_F(Submit, PopctlFindsWhicheverOfItsServersComesBack) {
  const std::string servers = "127.0.0.1:" + std::to_string(freePort()) + ',' + daemon.address();
  daemon.stop();
  PoprunProcess job(setupOf({"--server", servers, "--timeout", "20", "submit", "job", "./train"}));
  ASSERT_TRUE(job.waitFor([&] { return job.err().find("reconnecting") != std::string::npos; }));
  daemon.start();
  EXPECT_EQ(job.wait(), 0) << job.err();
  EXPECT_EQ(job.out(), "100\n");
}

TEST_F(Submit, PopctlTriesNoLongerThanItsTimeout) {
  daemon.stop();
  const auto began = std::chrono::steady_clock::now();
  const Outcome unreachable = popctl({"--timeout", "0.5", "submit", "job", "./train"});
  EXPECT_EQ(unreachable.exit_code, 4);
  EXPECT_THAT(unreachable.err, HasSubstr("cannot be reached"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  daemon.start();
}

TEST_F(Submit, PopctlWaitsForTheEnd) {
  PoprunProcess job(setupOf({"submit", "job", "--wait", "-x", "A=1", "./train"}));
  ASSERT_TRUE(job.waitFor([&] { return job.out() == "100\n"; })) << job.err();
  daemon.endJob(100, 6);
  EXPECT_EQ(job.wait(), 6);
}

TEST_F(Submit, PopctlsOwnVariableIsNoneOfTheJobs) {
  EXPECT_EQ(popctl({"--json", "submit", "job", "--genvall", "yes", "./train"}).exit_code, 0);
  const v1::SubmitRequest request = onlyRequest();
  for (const v1::Variable& variable : request.spec().environment())
    EXPECT_THAT(variable.name(), Not(StartsWith("POPCTL_")));
}

TEST_F(Submit, JsonIsTheServersReply) {
  const Outcome outcome = popctl({"--json", "submit", "job", "--held", "./train"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(isJson(outcome.out));
  EXPECT_THAT(outcome.out, HasSubstr("JOB_HELD"));
}

TEST_F(Submit, PopctlAttachesToWhatItHasSubmitted) {
  PoprunProcess job(setupOf({"submit", "job", "--attach", "./train"}));
  ASSERT_TRUE(job.waitFor([&] { return !daemon.submitted().empty(); }));
  daemon.addOutput(100, 0, "hello\n");
  daemon.endJob(100, 2);
  EXPECT_EQ(job.wait(), 2);
  EXPECT_EQ(job.out(), "hello\n");
}

// The guide's first job, and the same in other orders.
TEST_F(Submit, OptionsAreInAnyOrderAndHostsAloneAreOneInstanceOnEach) {
  for (const Words& words : {Words{"submit", "job", "--hosts", "2", "--", "hostname"},
                             Words{"submit", "job", "--tag-output", "--hosts", "2", "--", "hostname"},
                             Words{"submit", "job", "-np", "2", "--hosts", "2", "--name", "n", "hostname"}}) {
    const Outcome outcome = popctl(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(daemon.submitted().back().num_hosts(), 2);
    EXPECT_EQ(daemon.submitted().back().spec().num_instances(), 2);
  }
  const Outcome both = popctl({"submit", "job", "--hosts", "2", "--host", "a", "--", "hostname"});
  EXPECT_EQ(both.exit_code, 125);
  EXPECT_THAT(both.err, HasSubstr("popctl's --hosts"));
}

TEST_F(Submit, ADirectoryThatIsGoneIsAnError) {
  const std::string gone = home() + "/gone";
  for (const char* const command :
       {"exec \"$0\" submit job -- pwd", "exec \"$0\" submit job --wdir x -- pwd"}) {
    ASSERT_EQ(::mkdir(gone.c_str(), 0700), 0);
    PoprunSetup setup = setupOf({"-c", std::string("rmdir \"$PWD\"; ") + command, POP_BIN_DIR "/popctl"});
    setup.program = "/bin/sh";
    setup.directory = gone;
    const Outcome outcome = run(setup);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr("working directory"));
  }
  EXPECT_EQ(popctl({"submit", "job", "--name", "", "--", "pwd"}).exit_code, 2);
  EXPECT_THAT(daemon.submitted(), IsEmpty());
}

}  // namespace
}  // namespace pop::testing
