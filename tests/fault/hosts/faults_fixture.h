// SPDX-License-Identifier: Apache-2.0
// A job over three hosts to which something happens: who runs where, and what is left when it is over.
#pragma once

#include <filesystem>
#include <fstream>

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
    const std::string script = launchers_.path() + "/poprun-on-" + hosts.name(host);
    std::string command;
    for (const std::string& word : hosts.commandOn(host, {"/bin/sh", "-c"})) command += word + ' ';
    std::ofstream(script) << "#!/bin/sh\nexec " << command << "'cd \"$0\" && exec \"$@\"' " << POP_BIN_DIR
                          << ' ' << POP_BIN_DIR "/poprun \"$@\"\n";
    std::filesystem::permissions(script, std::filesystem::perms::all);
    PoprunSetup setup{.options = {"--agent-path", POP_BIN_DIR "/popdist-agent", "--host", job_hosts},
                      .child = std::move(child),
                      .environment = {{"TMPDIR", "/tmp"}},
                      .program = script};
    setup.options.insert(setup.options.end(), options.begin(), options.end());
    return setup;
  }

  /// Nothing of the job is left where nobody could say so: only sshd waits for the other end of a connection,
  /// and no longer than the link is down.
  void expectCleanBehindCutLink(const std::vector<int>& cut) {
    for (const int host : cut) {
      EXPECT_TRUE(waitUntil([&] { return hosts.processesOn(host).size() == named(host, "sshd").size(); },
                            Milliseconds(3000)))
          << leftNow();
      hosts.linkUp(host);
    }
    EXPECT_EQ(leftOnHosts(kPatience), "");
  }

 private:
  TempDir launchers_;
};

}  // namespace pop::testing
