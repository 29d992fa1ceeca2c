// SPDX-License-Identifier: Apache-2.0
// Jobs on hosts on which nothing is installed.
#include "tests/integration/hosts/hosts_fixture.h"
#include "tests/integration/install/installation.h"

namespace pop::testing {
namespace {

using ::testing::UnorderedElementsAre;

class InstalledPoprun : public HostsTest {
 protected:
  InstalledPoprun() : HostsTest(2) {}

  const Installation installed_;
};

TEST_F(InstalledPoprun, CopiesItsAgentToOtherHosts) {
  PoprunSetup job =
      installed_.job({"--ssh-config", hosts.sshConfig(), "--host", names(), "-n", "2", "uname", "-n"});
  job.directory = "/";
  const Outcome outcome = run(job);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(linesOf(outcome.out), UnorderedElementsAre("[0] h0", "[1] h1"));
  for (int host = 0; host < hosts.count(); ++host)
    EXPECT_TRUE(std::filesystem::exists(hosts.home(host) + "/.cache/poprun")) << hosts.name(host);
  EXPECT_EQ(leftOnHosts(), "");
}

}  // namespace
}  // namespace pop::testing
