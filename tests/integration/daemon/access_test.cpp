// SPDX-License-Identifier: Apache-2.0
// Access to the real daemon, as people use it: the local socket, tokens, roles and the audit log.
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "tests/integration/daemon/daemon_fixture.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

class LocalAccess : public DaemonTest {
 protected:
  // popctl's output and exit code; as another user if we may.
  struct Said {
    std::string text;
    int exit_code = 0;
  };
  Said popctl(const std::string& words, const std::string& before = {}) {
    const std::string out = path("out");
    const std::string command = "cd " + path("") +
                                " && env -u POPDIST_TLS -u POPDIST_SERVER HOME=" + path("") + ' ' + before +
                                " " POP_BIN_DIR "/popctl " + words + " >" + out + " 2>&1";
    const int status = std::system(command.c_str());
    return {fileText(out), WEXITSTATUS(status)};
  }
  std::string local() const { return "--server unix:" + path("state/popdistd.sock") + ' '; }
  std::string byTls() const {
    return "--server localhost:" + std::to_string(port()) + " --tls " + path("tls") + ' ';
  }
  /// A token of this user's, in a file for popctl.
  std::string tokenFile(const std::string& options) {
    const Said made = popctl(local() + "--quiet create token " + options);
    EXPECT_EQ(made.exit_code, 0) << made.text;
    std::ofstream(path("token")) << made.text;
    EXPECT_EQ(::chmod(path("token").c_str(), 0600), 0);
    return "--token-file " + path("token") + ' ';
  }
};

TEST_F(LocalAccess, KnowsUsersOfThisMachine) {
  startDaemon();
  const Said about = popctl(local() + "about");
  EXPECT_EQ(about.exit_code, 0) << about.text;
  EXPECT_THAT(about.text, HasSubstr("admin"));
  EXPECT_THAT(about.text, HasSubstr("local socket"));
  EXPECT_EQ(popctl(local() + "list users").exit_code, 0);
}

TEST_F(LocalAccess, RolesAndTokensCountAtOnce) {
  startDaemon();
  const std::string token = tokenFile("--scope viewer --expires 1h");
  EXPECT_THAT(popctl(byTls() + token + "about").text, HasSubstr("viewer"));
  const Said drain = popctl(byTls() + token + "drain host h0 --reason x");
  EXPECT_EQ(drain.exit_code, 5) << drain.text;
  EXPECT_EQ(popctl(byTls() + token + "list jobs").exit_code, 0);
  EXPECT_EQ(popctl(byTls() + token + "list users").exit_code, 5);
  EXPECT_EQ(popctl(local() + "create user bob --role viewer --vipu-key").exit_code, 0);
  EXPECT_THAT(fileText(path("bob.vipu-cli.hcl")), HasSubstr("api-access-key="));
  EXPECT_THAT(popctl(local() + "list users").text, HasSubstr("bob"));
  const std::string listed = popctl(local() + "list tokens").text;
  const std::string id = listed.substr(listed.find('\n') + 1, 12);
  EXPECT_EQ(popctl(local() + "remove token " + id).exit_code, 0) << listed;
  EXPECT_EQ(popctl(byTls() + token + "list jobs").exit_code, 5);
}

TEST_F(LocalAccess, AKilledDaemonLeavesAWholeAuditLog) {
  startDaemon();
  submit(shell("true"));
  popctl(local() + "create user carol --role viewer");
  kill("popdistd", SIGKILL);
  startDaemon();
  const Said check = popctl(local() + "check audit");
  EXPECT_EQ(check.exit_code, 0) << check.text;
  EXPECT_THAT(check.text, HasSubstr("2 entries"));
  const Said list = popctl(local() + "list audit");
  EXPECT_THAT(list.text, HasSubstr("CreateUser"));
  EXPECT_THAT(list.text, HasSubstr("job 1"));
  const std::string file = fileText(path("state/audit.jsonl"));
  std::ofstream(path("state/audit.jsonl")) << file.substr(file.find('\n') + 1);
  const Said changed = popctl(local() + "check audit");
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_THAT(changed.text, HasSubstr("line 1"));
}

}  // namespace
}  // namespace pop::testing
