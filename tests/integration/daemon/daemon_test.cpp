// SPDX-License-Identifier: Apache-2.0
// Jobs of the real daemon, from a client's view.
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/integration/daemon/daemon_fixture.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

std::string lines(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += std::to_string(i) + '\n';
  return text;
}

TEST_F(DaemonTest, RunsAJobOnAHostThatHasJoined) {
  startDaemon();
  startHost("h0");
  const std::int64_t id = submit(shell("echo hello from $POPDIST_INSTANCE_INDEX", 2));
  const v1::JobInfo ended = waitForEnd(id);
  EXPECT_EQ(ended.end(), v1::END_SUCCEEDED) << ended.reason();
  Log log;
  readLog(id, false, log);
  EXPECT_THAT(log.text, HasSubstr("hello from 0"));
  EXPECT_THAT(log.text, HasSubstr("hello from 1"));
  EXPECT_TRUE(log.outcome.has_value());

  const v1::JobInfo failed = waitForEnd(submit(shell("exit 3")));
  EXPECT_EQ(failed.end(), v1::END_FAILED);
  EXPECT_EQ(failed.outcome().exit_code(), 3);
  EXPECT_THAT(failed.reason(), HasSubstr("exited with code 3"));
}

TEST_F(DaemonTest, AJobWaitsForAHostAndSaysSo) {
  startDaemon();
  const std::int64_t id = submit(shell("true"));
  EXPECT_EQ(job(id).state(), v1::JOB_QUEUED);
  EXPECT_THAT(job(id).reason(), HasSubstr("no host has joined"));
  startHost("h0");
  EXPECT_EQ(waitForEnd(id).end(), v1::END_SUCCEEDED);
}

// The plan that is made while it is held has fewer reasons than the one it waited with.
TEST_F(DaemonTest, AReleasedJobWaitsAsItDidBefore) {
  startDaemon();
  startHost("h0", 2);
  waitForState(submit(shell("sleep 60")), v1::JOB_RUNNING);
  const std::int64_t waits = submit(shell("true", 2));
  ASSERT_TRUE(waitUntil([&] { return job(waits).reason().find("2 slots") != std::string::npos; }, kTimeout));
  v1::JobRef ref;
  ref.set_id(waits);
  v1::JobInfo info;
  grpc::ClientContext hold;
  ASSERT_TRUE(client().Hold(&hold, ref, &info).ok());
  waitForState(submit(shell("sleep 60")), v1::JOB_RUNNING);
  grpc::ClientContext release;
  const grpc::Status released = client().Release(&release, ref, &info);
  EXPECT_TRUE(released.ok()) << released.error_message();
  EXPECT_TRUE(waitUntil([&] { return job(waits).reason().find("2 slots") != std::string::npos; }, kTimeout))
      << job(waits).reason();
}

TEST_F(DaemonTest, ShowsWhatInstancesReport) {
  startDaemon();
  startHost("h0");
  v1::SubmitRequest request = shell("", 2);
  request.mutable_spec()->mutable_programs(0)->clear_words();
  for (const char* const word : {POPDIST_CHILD_PATH, "report"})
    request.mutable_spec()->mutable_programs(0)->add_words(word);
  const std::int64_t id = submit(request);
  const auto values = [&] {
    std::map<std::string, double> all;
    const v1::JobInfo info = job(id);
    for (const v1::JobValue& each : info.values()) all[each.name()] = each.value();
    return all;
  };
  const std::map<std::string, double> both{{"mean", 1.5}, {"most", 2}, {"numbers", 3}};
  EXPECT_TRUE(waitUntil([&] { return values() == both; }, kTimeout)) << job(id).ShortDebugString();
  v1::SignalRequest go;
  go.mutable_job()->set_id(id);
  go.set_signal(SIGUSR1);
  grpc::ClientContext context;
  v1::JobInfo info;
  EXPECT_TRUE(client().Signal(&context, go, &info).ok());
  EXPECT_EQ(waitForEnd(id).end(), v1::END_SUCCEEDED);
  EXPECT_EQ(values()["last"], 7) << "what an instance has reported just before its end";
}

// As `systemctl restart popdist-agent` does.
TEST_F(DaemonTest, AJobWhoseAgentServiceIsStoppedNamesIt) {
  startDaemon();
  startHost("h0");
  const std::int64_t id = submit(shell("echo ready; exec sleep 1000"));
  waitForState(id, v1::JOB_RUNNING);
  kill("h0", SIGTERM);
  const v1::JobInfo ended = waitForEnd(id);
  EXPECT_EQ(ended.end(), v1::END_FAILED);
  EXPECT_EQ(ended.reason(), "ended because the agent service of its first host was stopped");
}

TEST_F(DaemonTest, CancelStopsWithGraceAndThenKills) {
  startDaemon();
  startHost("h0");
  const std::int64_t id = submit(shell("trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done"));
  ASSERT_TRUE(waitUntil(
      [&] {
        Log log;
        readLog(id, false, log);
        return log.text == "ready\n";
      },
      kTimeout));
  EXPECT_EQ(cancel(id, "bob").error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(cancel(id).ok());
  ASSERT_TRUE(waitUntil(
      [&] {
        Log log;
        readLog(id, false, log);
        return log.text.find("asked") != std::string::npos;
      },
      kTimeout));
  EXPECT_EQ(job(id).state(), v1::JOB_ENDING);
  EXPECT_TRUE(cancel(id).ok());
  EXPECT_EQ(waitForEnd(id).end(), v1::END_CANCELLED);
}

TEST_F(DaemonTest, AUserWhomTheHostDoesNotKnowIsTold) {
  startDaemon();
  startHost("h0");
  grpc::ClientContext context;
  v1::SubmitReply reply;
  ASSERT_TRUE(client("root").Submit(&context, shell("true"), &reply).ok());
  const v1::JobInfo ended = waitForEnd(reply.job().id());
  EXPECT_EQ(ended.end(), v1::END_FAILED);
  EXPECT_THAT(ended.reason(), HasSubstr("users file"));
}

// Its output is complete and comes once, whatever of popdistd and its connections is killed meanwhile.
class Killed : public DaemonTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(Killed, AJobGoesOn) {
  startDaemon();
  startHost("h0");
  const std::int64_t id = submit(shell("for i in $(seq 300); do echo $i; sleep 0.01; done; until [ -e " +
                                       path("over") + " ]; do sleep 0.01; done; exit 5"));
  waitForState(id, v1::JOB_RUNNING);
  const pid_t runner = runnerOf(id);
  for (int round = 0; round < 2; ++round) {
    if (GetParam() == std::string("popdistd")) {
      kill("popdistd", SIGKILL);
      startDaemon();
    } else {
      killChild("h0", GetParam());
    }
  }
  std::ofstream(path("over")) << "";
  const Log log = wholeLog(id);
  EXPECT_EQ(log.text, lines(300));
  EXPECT_EQ(waitForEnd(id).outcome().exit_code(), 5);
  EXPECT_EQ(job(id).attempt(), 1);
  EXPECT_NE(runner, 0);
}

INSTANTIATE_TEST_SUITE_P(Process, Killed, ::testing::Values("popdistd", "popdist-join"));

TEST_F(DaemonTest, AKilledRunnersJobFailsWithItsOutputKept) {
  startDaemon();
  startHost("h0");
  const std::int64_t id = submit(shell("echo before; exec sleep 1000"));
  ASSERT_TRUE(waitUntil(
      [&] {
        Log log;
        readLog(id, false, log);
        return log.text == "before\n";
      },
      kTimeout));
  const pid_t runner = runnerOf(id);
  ASSERT_GT(runner, 1);
  ::kill(runner, SIGKILL);
  const v1::JobInfo ended = waitForEnd(id);
  EXPECT_EQ(ended.end(), v1::END_FAILED);
  EXPECT_THAT(ended.reason(), HasSubstr("runner on host h0 was killed"));
  Log log;
  readLog(id, false, log);
  EXPECT_EQ(log.text, "before\n");
}

TEST_F(DaemonTest, AKilledServicesJobsFailWhenItIsBack) {
  startDaemon();
  startHost("h0");
  const std::int64_t id = submit(shell("exec sleep 1000"));
  waitForState(id, v1::JOB_RUNNING);
  kill("h0", SIGKILL);
  startHost("h0");
  EXPECT_EQ(waitForEnd(id).end(), v1::END_FAILED);
  EXPECT_EQ(waitForEnd(submit(shell("true"))).end(), v1::END_SUCCEEDED);
}

TEST_F(DaemonTest, AStoppedDaemonSaysSoAndLeavesJobs) {
  startDaemon();
  startHost("h0");
  const std::int64_t id = submit(shell("until [ -e " + path("over") + " ]; do sleep 0.01; done; echo done"));
  waitForState(id, v1::JOB_RUNNING);
  kill("popdistd", SIGTERM);
  startDaemon();
  std::ofstream(path("over")) << "";
  EXPECT_EQ(waitForEnd(id).end(), v1::END_SUCCEEDED);
  EXPECT_EQ(wholeLog(id).text, "done\n");
}

TEST_F(DaemonTest, ForgettingRemovesWhatTheHostHas) {
  startDaemon();
  startHost("h0");
  const std::int64_t id = submit(shell("echo kept"));
  waitForEnd(id);
  grpc::ClientContext context;
  v1::JobRef job;
  job.set_id(id);
  v1::Nothing nothing;
  EXPECT_TRUE(client().Forget(&context, job, &nothing).ok());
  const std::string jobs = path("h0.state/jobs");
  EXPECT_TRUE(waitUntil(
      [&] {
        for (const auto& cluster : std::filesystem::directory_iterator(jobs)) {
          if (!std::filesystem::is_empty(cluster.path())) return false;
        }
        return true;
      },
      kTimeout));
}

}  // namespace
}  // namespace pop::testing
