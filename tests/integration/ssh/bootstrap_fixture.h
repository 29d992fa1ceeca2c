// SPDX-License-Identifier: Apache-2.0
// A bootstrapper on a real loop, everything that it reports, and a stand-in for the agent: a script.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/os/epoll_loop.h"
#include "poprun/bootstrap/ssh/ssh_bootstrapper.h"
#include "tests/testing/process_tree.h"
#include "tests/testing/run_until.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_hosts.h"

namespace pop::testing {

inline void writeScript(const std::string& path, const std::string& text) {
  std::ofstream(path) << "#!/bin/sh\n" << text << '\n';
  ::chmod(path.c_str(), 0755);
}

/// An agent that says who it is, and then sends back what it gets.
inline void writeEchoAgent(const std::string& path, const std::string& version = "0.1.0") {
  writeScript(path, "[ \"$1\" = --version ] && { echo popdist-agent " + version +
                        "; exit 0; }\n[ \"$1\" = --stdio ] || exit 9\n"
                        "echo \"version " +
                        version + " on $(uname -n)\" >&2\nexec cat");
}

/// One bootstrap of some hosts; ended with the object.
class Bootstrap {
 public:
  Bootstrap(const TestHosts& hosts, std::vector<std::string> names, SshOptions options = {},
            AgentProgram agent = {}) {
    if (options.config_file.empty()) options.config_file = hosts.sshConfig();
    if (agent.version.empty()) agent.version = "0.1.0";
    count_ = static_cast<int>(names.size());
    bootstrapper_ = std::make_unique<SshBootstrapper>(loop_, std::move(names), options, std::move(agent));
    bootstrapper_->start({.reached = [this](int host, ReachedHost it) { reached[host] = std::move(it); },
                          .failed = [this](int host, Status why) { failed[host] = std::move(why); },
                          .ended = [this](int host, int exit_code) { ended[host] = exit_code; },
                          .phase =
                              [this](int host, const std::string& name) {
                                phases[host].push_back(name);
                                all_phases.emplace_back(host, name);
                              },
                          .said = [this](int host, const std::string& line) { said[host].push_back(line); }});
  }

  /// Waits until every host is either.
  void waitForAll() {
    runUntil(loop_, [this] { return static_cast<int>(reached.size() + failed.size()) == count_; });
  }
  void runUntilTrue(const std::function<bool()>& done) { runUntil(loop_, done); }
  void end() { bootstrapper_.reset(); }

  std::string whyFailed(int host) const {
    return failed.contains(host) ? failed.at(host).message() : "it did not";
  }
  std::string problems() const {
    std::string text;
    for (const auto& [host, why] : failed) text += why.message() + '\n';
    return text;
  }

  std::map<int, ReachedHost> reached;
  std::map<int, Status> failed;
  std::map<int, int> ended;
  std::map<int, std::vector<std::string>> phases;
  std::vector<std::pair<int, std::string>> all_phases;  ///< every host's, in their order
  std::map<int, std::vector<std::string>> said;

 private:
  os::EpollLoop loop_;
  int count_ = 0;
  std::unique_ptr<SshBootstrapper> bootstrapper_;
};

inline bool waitFor(int fd, short events) {
  pollfd ready{fd, events, 0};
  return ::poll(&ready, 1, 20000) > 0;
}

/// Reads until `bytes` are there, or the end; the text that came.
inline std::string readBytes(int fd, std::size_t bytes) {
  std::string text;
  std::vector<char> buffer(64 << 10);
  while (text.size() < bytes && waitFor(fd, POLLIN)) {
    const ssize_t got = ::recv(fd, buffer.data(), std::min(buffer.size(), bytes - text.size()), 0);
    if (got < 0 && errno == EAGAIN) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// True when the other side of the stream ends it.
inline bool endsSoon(int fd) {
  char byte = 0;
  return waitFor(fd, POLLIN) && ::recv(fd, &byte, 1, 0) == 0;
}

inline std::string echo(int fd, const std::string& text) {
  EXPECT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  return readBytes(fd, text.size());
}

}  // namespace pop::testing
