// SPDX-License-Identifier: Apache-2.0
// poprun over some hosts of our own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/testing/poprun_process.h"
#include "tests/testing/test_hosts.h"

namespace pop::testing {

class HostsTest : public ::testing::Test {
 protected:
  explicit HostsTest(int count = 3) : hosts(count) {}

  /// "h0,h1,h2"
  std::string names() const {
    std::string all;
    for (int host = 0; host < hosts.count(); ++host) all += (host == 0 ? "" : ",") + hosts.name(host);
    return all;
  }

  /// The options that reach our hosts; the agent is where it was built. Then `options`, then the test child.
  PoprunSetup job(std::vector<std::string> options, std::vector<std::string> child = {}) const {
    PoprunSetup setup{.options = {"--ssh-config", hosts.sshConfig(), "--agent-path",
                                  POP_BIN_DIR "/popdist-agent", "--host", names()},
                      .child = std::move(child),
                      .directory = POP_BIN_DIR};
    setup.options.insert(setup.options.end(), options.begin(), options.end());
    return setup;
  }

  /// Empty: soon nothing of any job runs on any host; an agent that has said its last word still has to exit.
  std::string leftOnHosts(std::chrono::milliseconds within = std::chrono::milliseconds(3000)) const {
    const auto deadline = std::chrono::steady_clock::now() + within;
    std::string left = leftNow();
    while (!left.empty() && std::chrono::steady_clock::now() < deadline) left = leftNow();
    return left;
  }

  std::string leftNow() const {
    std::string left;
    for (int host = 0; host < hosts.count(); ++host) {
      for (const pid_t pid : hosts.processesOn(host))
        // A session of sshd waits for a connection that is cut; that is its business, not the job's.
        if (!commandLine(pid).starts_with("sshd:"))
          left += hosts.name(host) + ": " + std::to_string(pid) + ' ' + commandLine(pid) + '\n';
    }
    return left;
  }

  TestHosts hosts;

 private:
  static std::string commandLine(pid_t pid) {
    const Result<std::string> text = sys::readFile("/proc/" + std::to_string(pid) + "/cmdline");
    return text.ok() ? text.value().substr(0, 200) : "(gone)";
  }
};

}  // namespace pop::testing
