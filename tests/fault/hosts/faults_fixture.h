// SPDX-License-Identifier: Apache-2.0
// A job over three hosts to which something happens: who runs where, and what is left when it is over.
#pragma once

#include "tests/integration/hosts/hosts_fixture.h"

namespace pop::testing {

class HostFaults : public HostsTest {
 protected:
  /// One instance on each host, all waiting for ever.
  PoprunSetup waitingJob(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"-n", std::to_string(hosts.count())});
    return job(std::move(options), {"wait"});
  }

  /// A job whose launcher runs on one of the hosts itself.
  PoprunSetup jobFrom(int host, const std::string& job_hosts, const std::vector<std::string>& options,
                      std::vector<std::string> child = {}) const {
    PoprunSetup setup{.options = {"--agent-path", POP_BIN_DIR "/popdist-agent", "--host", job_hosts},
                      .child = std::move(child),
                      .environment = {{"TMPDIR", "/tmp"}},
                      .program = poprunOn(host)};
    setup.options.insert(setup.options.end(), options.begin(), options.end());
    return setup;
  }

  /// Soon enough after `cause`, nothing of the job is left anywhere, also where no link could say so: only
  /// sshd waits for the other end of a connection, and no longer than the link is down.
  void expectCleanBehindCutLink(const std::vector<int>& cut, Clock::time_point cause) {
    EXPECT_EQ(leftOnHosts(restOfLimit(cause)), "");
    for (const int host : cut) {
      EXPECT_EQ(hosts.processesOn(host).size(), named(host, "sshd").size());
      hosts.linkUp(host);
    }
    EXPECT_EQ(leftOnHosts(), "");
  }
};

}  // namespace pop::testing
