// SPDX-License-Identifier: Apache-2.0
// A job over three hosts to which something happens: who runs where, and what is left when it is over.
#pragma once

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/integration/hosts/hosts_fixture.h"

namespace pop::testing {

/// From the cause to the job's end: 5 s to notice a silent host, 5 s of grace for the others.
inline constexpr Milliseconds kEndLimit{10000};
/// What a test that is not about the time itself calls silent.
inline constexpr const char* kShortSilence = "2";

class HostFaults : public HostsTest {
 protected:
  using Clock = std::chrono::steady_clock;

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

  /// Processes of that name on the host.
  std::vector<pid_t> named(int host, const std::string& name) const {
    std::vector<pid_t> found;
    for (const pid_t pid : hosts.processesOn(host)) {
      if (const auto stat = statOf(pid); stat && stat->name == name) found.push_back(pid);
    }
    return found;
  }
  std::vector<pid_t> agents(int host) const { return named(host, "popdist-agent"); }

  void send(int signal, const std::vector<pid_t>& pids) const {
    ASSERT_FALSE(pids.empty());
    for (const pid_t pid : pids) ::kill(pid, signal);
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

  /// What poprun has said on stderr, but for whom it waits, which depends on the machine's load.
  static std::string said(const PoprunProcess& poprun) {
    std::string text;
    for (const std::string& line : linesOf(poprun.err())) {
      if (!line.starts_with("poprun: waiting for ")) text += line + '\n';
    }
    return text;
  }

  /// poprun's exit code. It comes soon enough after `cause`.
  int endAfter(Clock::time_point cause, PoprunProcess& poprun, Milliseconds limit = kEndLimit) const {
    const int exit_code = poprun.wait();
    const auto took = std::chrono::duration_cast<Milliseconds>(Clock::now() - cause);
    EXPECT_LE(took, limit);
    std::printf("ended %d ms after the cause, with code %d:\n%s", static_cast<int>(took.count()), exit_code,
                poprun.err().substr(0, 1000).c_str());
    RecordProperty("ended_after_ms", static_cast<int>(took.count()));
    return exit_code;
  }

 private:
  TempDir launchers_;
};

}  // namespace pop::testing
