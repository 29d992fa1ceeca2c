// SPDX-License-Identifier: Apache-2.0
// The agent service as a user who is not root: for that user's jobs only.
#include "tests/integration/service/service_fixture.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ServiceOfAUser : public ServiceTest {
 protected:
  ServiceOfAUser() : ServiceTest(1) {}

  static std::string asNobody(const std::string& command) {
    return "setpriv --reuid nobody --regid nogroup --clear-groups " + command;
  }

  void serveAsNobody(const std::string& options) {
    const TestHosts::Output started =
        hosts.run(0, asNobody(POP_BIN_DIR "/popdist-agent serve --spares 0 " + options) +
                         " >/tmp/agent.log 2>&1 </dev/null & echo $!");
    pid_ = started.text.substr(0, started.text.find('\n'));
    ASSERT_TRUE(waitForLog(0, "listening at")) << logOf(0);
  }

  // poprun runs there, too: without TLS the service is for its own host.
  TestHosts::Output poprunThere(const std::string& arguments, bool as_nobody = true) const {
    const std::string poprun =
        POP_BIN_DIR "/poprun --host 127.0.0.1 --agent-port " + std::to_string(kServicePort) + ' ' + arguments;
    return hosts.run(0, "cd / && USER=nobody TMPDIR=/tmp " + (as_nobody ? asNobody(poprun) : poprun));
  }

  void hangUp() const { EXPECT_EQ(hosts.run(0, "kill -HUP " + pid_).exit_code, 0); }
  void endService() const { EXPECT_EQ(hosts.run(0, "kill -TERM " + pid_).exit_code, 0); }

 private:
  std::string pid_;
};

TEST_F(ServiceOfAUser, RunsThatUsersJobsWithoutTls) {
  serveAsNobody("--listen 127.0.0.1:" + std::to_string(kServicePort));
  const TestHosts::Output own = poprunThere("-n 2 --tag-output no sh -c 'echo $(id -un; id -Gn)'");
  EXPECT_EQ(own.exit_code, 0) << own.text << logOf(0);
  EXPECT_EQ(said(own.text), "nobody nogroup\nnobody nogroup\n");
  // Other callers get that user's jobs, too, and nothing more.
  const TestHosts::Output others = poprunThere("id -u", false);
  EXPECT_EQ(said(others.text), hosts.run(0, "id -u nobody").text) << logOf(0);
  EXPECT_EQ(leftOfJobs(), "");
  endService();
  EXPECT_EQ(leftOnHosts(), "");
}

// The users file is for certificates: without them every caller would be one of its users.
TEST_F(ServiceOfAUser, ReadsNoUsersWithoutTls) {
  const std::string listen = "--listen 127.0.0.1:" + std::to_string(kServicePort);
  const TestHosts::Output refused =
      hosts.run(0, POP_BIN_DIR "/popdist-agent serve " + listen + " --users /tmp/users");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.text, StartsWith("popdist-agent serve: --users needs --tls DIR"));
  serveAsNobody(listen);
  hangUp();
  ASSERT_TRUE(waitForLog(0, "nothing to reload: without --tls")) << logOf(0);
  EXPECT_EQ(said(poprunThere("id -un").text), "nobody\n") << logOf(0);
  endService();
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(ServiceOfAUser, CannotBeReachedFromOtherHostsWithoutTls) {
  serveAsNobody("--listen 127.0.0.1:" + std::to_string(kServicePort));
  const Outcome outcome = run(jobOf("", {"id"}));
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_THAT(outcome.err, HasSubstr("connection refused"));
}

TEST_F(ServiceOfAUser, RefusesJobsOfOthers) {
  writeUsers(0, "alice = nobody\neve = root\n");
  ASSERT_EQ(hosts.run(0, "chown -R nobody /tmp/tls /tmp/users").exit_code, 0);
  serveAsNobody("--listen 0.0.0.0:" + std::to_string(kServicePort) + " --tls /tmp/tls --users /tmp/users");
  const Outcome own = run(jobOf("alice", {"id", "-un"}));
  EXPECT_EQ(own.exit_code, 0) << own.err;
  EXPECT_EQ(own.out, "nobody\n");
  const Outcome refused = run(jobOf("eve", {"id", "-un"}));
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("the agent on this host runs as 'nobody' and cannot run jobs of 'root': "
                                     "only an agent that runs as root can"));
  EXPECT_EQ(leftOfJobs(), "");
}

}  // namespace
}  // namespace pop::testing
