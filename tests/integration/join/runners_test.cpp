// SPDX-License-Identifier: Apache-2.0
// Runners: started as the jobs' users, spoken to, ended and removed, by order of popdistd.
#include "tests/integration/join/join_fixture.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Code's numbers, which are gRPC's.
constexpr int kNotFound = 5;
constexpr int kAlreadyExists = 6;
constexpr int kPermissionDenied = 7;
constexpr int kResourceExhausted = 8;
constexpr int kFailedPrecondition = 9;
constexpr int kUnavailable = 14;

class JoinedRunners : public JoinTest {
 protected:
  JoinedRunners() {
    serve("h0", *controller_);
    joins(*controller_, "h0");
  }

  void send(const v1::HostOrder& order) { controller_->send("h0", order); }
  v1::RunnerStarted start(std::int64_t job, const std::string& how = "wait") {
    send(startOrder(job, how));
    return started(*controller_, "h0", job);
  }
  v1::RunnerRefused refusal(const v1::HostOrder& order, std::int64_t job) {
    send(order);
    return refused(*controller_, "h0", job);
  }
  v1::RunnerReport said(std::int64_t job) {
    const auto report =
        controller_->next("h0", [job](const auto& each) { return each.said().key().job() == job; });
    EXPECT_TRUE(report.has_value()) << logOf("h0");
    return report ? report->said().report() : v1::RunnerReport();
  }
  std::string goneWhy(std::int64_t job) { return gone(*controller_, "h0", job); }
  bool isRemoved(std::int64_t job) {
    return controller_->next("h0", [job](const auto& each) { return each.removed().key().job() == job; })
        .has_value();
  }

  static v1::HostOrder feed(std::int64_t job) {
    v1::HostOrder order;
    *order.mutable_feed() = key(job);
    return order;
  }
  static v1::HostOrder remove(std::int64_t job) {
    v1::HostOrder order;
    *order.mutable_remove() = key(job);
    return order;
  }
  static v1::HostOrder kill(std::int64_t job) {
    v1::HostOrder order;
    *order.mutable_kill() = key(job);
    return order;
  }

  const std::unique_ptr<FakePopdistd> controller_ = popdistd();
};

TEST_F(JoinedRunners, AreTheirUsersAndHaveADirectoryForThemselves) {
  const pid_t pid = start(1).pid();
  const std::string uid = output("id -u " + unixUser());
  EXPECT_THAT(fileText("/proc/" + std::to_string(pid) + "/status"), HasSubstr("Uid:\t" + uid + '\t' + uid));
  struct stat status {};
  ASSERT_EQ(::stat(directoryOf("h0", 1).c_str(), &status), 0);
  EXPECT_EQ(std::to_string(status.st_uid), uid);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
  ASSERT_EQ(::stat(path("h0.state/jobs/c1").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, ::geteuid());
  EXPECT_EQ(status.st_mode & 07777U, ::geteuid() == 0 ? 0711U : 0700U);
  EXPECT_EQ(fileText(directoryOf("h0", 1) + "/records"), "wait") << "it has got the order as it was";
}

TEST_F(JoinedRunners, AreSpokenTo) {
  start(1);
  EXPECT_EQ(said(1).up().last_sequence(), 5U);
  v1::RunnerOrder order;
  order.set_signal(12);
  send(orderOf(1, order));
  EXPECT_EQ(said(1).end().stream(), 12);
  send(follow(1, 3000));
  EXPECT_TRUE(waitUntil([&] { return controller_->bytesRead() == 3000; }, kTimeout));
  order.mutable_retire();
  send(orderOf(1, order));
  EXPECT_EQ(goneWhy(1), "ended with exit code 0");
  send(orderOf(1, order));  // its runner is gone
  start(2);
}

TEST_F(JoinedRunners, AreStartedOnceForAnAttempt) {
  const pid_t pid = start(1).pid();
  EXPECT_EQ(start(1).pid(), pid);
  send(kill(1));
  EXPECT_EQ(goneWhy(1), "was killed");
  const v1::RunnerRefused refused = refusal(startOrder(1), 1);
  EXPECT_EQ(refused.code(), kAlreadyExists);
}

TEST_F(JoinedRunners, ThatCannotStartSayWhyAndLeaveNothing) {
  const v1::RunnerRefused refused = refusal(startOrder(1, "fail"), 1);
  EXPECT_EQ(refused.code(), kUnavailable);
  EXPECT_THAT(refused.why(), AllOf(HasSubstr("ended with exit code 125 (it said: "),
                                   HasSubstr("no space left; on the disk)")));
  EXPECT_FALSE(std::filesystem::exists(directoryOf("h0", 1)));
  EXPECT_EQ(refusal(startOrder(2, "leave"), 2).code(), kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(directoryOf("h0", 2))) << "nor what it had made";
}

TEST_F(JoinedRunners, ThatEndSayHow) {
  start(1, "exit");
  EXPECT_EQ(goneWhy(1), "ended with exit code 7");
}

TEST_F(JoinedRunners, AreRefusedToWhoIsNotInTheUsersFile) {
  const v1::RunnerRefused refused = refusal(startOrder(1, "wait", "eve"), 1);
  EXPECT_EQ(refused.code(), kPermissionDenied);
  EXPECT_THAT(refused.why(), HasSubstr("'eve' is not in the users file"));
  EXPECT_FALSE(std::filesystem::exists(directoryOf("h0", 1)));
}

TEST_F(JoinedRunners, CountForTheLimitsOfTheirUsers) {
  send(startOrder(1, "wait", "bob"));
  started(*controller_, "h0", 1);
  const v1::RunnerRefused refused = refusal(startOrder(2, "wait", "bob"), 2);
  EXPECT_EQ(refused.code(), kResourceExhausted);
  EXPECT_THAT(refused.why(), HasSubstr("'bob' may have 1 job at once"));
  send(kill(1));
  goneWhy(1);
  send(startOrder(3, "wait", "bob"));
  started(*controller_, "h0", 3);
}

TEST_F(JoinedRunners, ThatAreGoneAreFed) {
  start(1);
  send(feed(1));
  EXPECT_GT(started(*controller_, "h0", 1).pid(), 0) << "while it lives, it feeds itself";
  send(kill(1));
  EXPECT_EQ(goneWhy(1), "was killed");
  send(feed(1));
  started(*controller_, "h0", 1);
  EXPECT_TRUE(said(1).up().is_feeder());
  send(feed(1));
  started(*controller_, "h0", 1);
  EXPECT_TRUE(said(1).up().is_feeder()) << "also to a daemon that has lost the first one";
  send(follow(1, 1000));
  EXPECT_TRUE(waitUntil([&] { return controller_->bytesRead() == 1000; }, kTimeout));
  v1::RunnerOrder retire;
  retire.mutable_retire();
  send(orderOf(1, retire));
  EXPECT_EQ(goneWhy(1), "ended with exit code 0");
}

TEST_F(JoinedRunners, WithoutRecordsAreNotFed) {
  EXPECT_EQ(refusal(feed(1), 1).code(), kNotFound);
  start(1);
  std::filesystem::remove(directoryOf("h0", 1) + "/records");
  send(kill(1));
  goneWhy(1);
  EXPECT_EQ(refusal(feed(1), 1).code(), kNotFound);
  EXPECT_TRUE(std::filesystem::exists(directoryOf("h0", 1)));
}

TEST_F(JoinedRunners, ThatAreOverAreRemoved) {
  start(1);
  send(kill(1));
  goneWhy(1);
  send(remove(1));
  EXPECT_TRUE(isRemoved(1));
  EXPECT_FALSE(std::filesystem::exists(directoryOf("h0", 1)));
  send(remove(1));
  EXPECT_TRUE(isRemoved(1)) << "as often as it is asked for";
}

// popdistd forgets a job at once after its end, and its runner takes a moment to leave.
TEST_F(JoinedRunners, AreRetiredAndThenRemoved) {
  start(1);
  send(remove(1));
  EXPECT_EQ(goneWhy(1), "ended with exit code 0");
  EXPECT_TRUE(isRemoved(1));
  EXPECT_FALSE(std::filesystem::exists(directoryOf("h0", 1)));
}

TEST_F(JoinedRunners, AreRemovedWithTheirFeeders) {
  start(1);
  send(kill(1));
  goneWhy(1);
  send(feed(1));
  started(*controller_, "h0", 1);
  send(remove(1));
  EXPECT_EQ(goneWhy(1), "was killed");
  EXPECT_TRUE(isRemoved(1));
}

TEST_F(JoinedRunners, ThatTalkNonsenseAreEndedAndNobodyElse) {
  const pid_t other = start(9).pid();
  for (const char* how : {"noise", "long"}) {
    const std::int64_t job = how == std::string("noise") ? 1 : 2;
    start(job, how);
    EXPECT_THAT(goneWhy(job), HasSubstr("what it says is not a runner's: ")) << how;
  }
  v1::RunnerOrder order;
  order.set_signal(3);
  send(orderOf(9, order));
  EXPECT_EQ(said(9).end().stream(), 3);
  EXPECT_TRUE(statOf(other).has_value());
  EXPECT_THAT(logOf("h0"), Not(HasSubstr("lost popdistd")));
}

class JoinedAgents : public JoinTest {
 protected:
  bool runs(FakePopdistd& controller, const std::string& agent_job_id) {
    v1::HostOrder order;
    order.mutable_ask()->set_job(5);
    order.mutable_ask()->set_agent_job_id(agent_job_id);
    controller.send("h0", order);
    const auto report = controller.next("h0", [](const auto& each) { return each.has_here(); });
    EXPECT_TRUE(report.has_value()) << logOf("h0");
    return report && report->here().job() == 5 && report->here().runs();
  }

  // "… job ID of 'alice': started, pid 12"
  std::string startedJob() const {
    const std::string log = logOf("h0");
    const std::size_t end = log.find(" of 'alice': started");
    const std::size_t begin = log.rfind(' ', end - 1) + 1;
    return end == std::string::npos ? "" : log.substr(begin, end - begin);
  }
};

TEST_F(JoinedAgents, AreToldOfWhileTheyRun) {
  const auto controller = popdistd();
  serve("h0", *controller);
  const int port = joins(*controller, "h0").agent_port();
  EXPECT_FALSE(runs(*controller, "none"));
  const std::string job = "exec " POP_BIN_DIR "/poprun --agent-port " + std::to_string(port) +
                          " --agent-tls " + path("tls") +
                          " --host 127.0.0.1 -n 1 sleep 600 </dev/null >/dev/null 2>&1";
  Result<os::HelperProgram> poprun =
      os::HelperProgram::start({"/bin/sh", "-c", job}, {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
  ASSERT_TRUE(poprun.ok());
  ASSERT_TRUE(waitUntil([&] { return !startedJob().empty(); }, kTimeout)) << logOf("h0");
  EXPECT_TRUE(runs(*controller, startedJob()));
  poprun->signal(SIGKILL);
  EXPECT_TRUE(waitUntil([&] { return !runs(*controller, startedJob()); }, kTimeout));
}

}  // namespace
}  // namespace pop::testing
