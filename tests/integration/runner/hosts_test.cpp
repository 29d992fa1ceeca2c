// SPDX-License-Identifier: Apache-2.0
// A job over two hosts whose runner is on the first, with a certificate of its own for their agent services.
#include "tests/integration/runner/runner_process.h"
#include "tests/integration/service/service_fixture.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

class RunnerOnHosts : public ServiceTest {
 protected:
  // The directory as the first host sees it.
  const std::string job_ = "/tmp/job";

  RunnerOnHosts() {
    std::filesystem::create_directory(hosts.tmp(0) + "/job");
    std::filesystem::permissions(hosts.tmp(0) + "/job", std::filesystem::perms::owner_all);
  }

  v1::HostOrder scriptOrder(const std::string& script, const std::string& user = "alice") const {
    v1::JobSpec spec;
    for (int host = 0; host < hosts.count(); ++host) spec.add_hosts()->set_name(hosts.name(host));
    v1::Program& program = *spec.add_programs();
    for (const std::string& word : {std::string("/bin/sh"), std::string("-c"), script})
      program.add_words(word);
    program.set_num_instances(2);
    program.set_working_directory("/");
    spec.set_needs_pods(false);
    v1::HostOrder order;
    v1::StartRunner& start = *order.mutable_start();
    start.set_user(user);
    start.set_spec(spec.SerializeAsString());
    start.set_agent_port(kServicePort);
    start.set_agent_job_id("7-1");
    const std::string pair = tlsOf(user) + "/user-" + user;
    start.mutable_credentials()->set_authority_pem(fileText(tlsOf(user) + "/ca.pem"));
    start.mutable_credentials()->set_certificate_pem(fileText(pair + ".pem"));
    start.mutable_credentials()->set_key_pem(fileText(pair + "-key.pem"));
    return order;
  }

  std::vector<std::string> onFirst() const { return hosts.commandOn(0, {"/usr/bin/env", "HOME=/tmp"}); }
};

TEST_F(RunnerOnHosts, RunsTheJobByTheirAgentServices) {
  serveAll();
  RunnerProcess runner(job_, scriptOrder("echo \"on $(uname -n) as $(id -un)\""), onFirst());
  ASSERT_TRUE(runner.becomesUp()) << runner.errors();
  runner.follow(1, 1);
  const Followed& all = runner.waitForEnd(1);
  for (const char* line : {"on h0 as nobody\n", "on h1 as nobody\n"})
    EXPECT_THAT(all.output(Stream::kStdout, 2), HasSubstr(line));
  ASSERT_TRUE(all.outcome(2).has_value());
  EXPECT_EQ(all.outcome(2)->exit_code, 0);
  EXPECT_THAT(logOf(1), HasSubstr("7-1")) << "the job is known by the id that it was given";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(hosts.tmp(0) + "/job"))
    EXPECT_THAT(fileText(entry.path()), ::testing::Not(HasSubstr("PRIVATE KEY"))) << entry.path();
  runner.retire();
  EXPECT_EQ(runner.exitCode(), 0);
  EXPECT_FALSE(std::filesystem::exists(hosts.tmp(0) + "/.cache")) << "sessions of a certificate for one job";
  EXPECT_EQ(leftOfJobs(), "");
}

TEST_F(RunnerOnHosts, StopsTheJobOnAllHosts) {
  serveAll();
  RunnerProcess runner(job_, scriptOrder("echo ready; exec sleep 1000"), onFirst());
  runner.follow(1, 1);
  runner.runUntil([&] { return runner.followed(1).output(Stream::kStdout, 2) == "ready\nready\n"; });
  runner.stop(SIGTERM);
  EXPECT_EQ(runner.waitForEnd(1).outcome(2)->user_signal, SIGTERM);
  runner.retire();
  EXPECT_EQ(runner.exitCode(), 0);
  EXPECT_EQ(leftOfJobs(), "");
}

TEST_F(RunnerOnHosts, SaysWhichHostRefusesTheUser) {
  serveAll();
  RunnerProcess runner(job_, scriptOrder("true", "eve"), onFirst());
  runner.follow(1, 1);
  const Followed& all = runner.waitForEnd(1);
  ASSERT_TRUE(all.outcome(2) && all.outcome(2)->failure);
  EXPECT_THAT(all.outcome(2)->failure->reason, HasSubstr("eve"));
  runner.retire();
  EXPECT_EQ(runner.exitCode(), 0);
}

}  // namespace
}  // namespace pop::testing
