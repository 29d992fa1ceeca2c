// SPDX-License-Identifier: Apache-2.0
// Hosts of our own where the agent service runs as root, with certificates by init-tls, and poprun as one of
// its users.
#pragma once

#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "common/tls/tls_files.h"
#include "tests/integration/hosts/hosts_fixture.h"
#include "tests/testing/file_text.h"
#include "tests/testing/process_tree.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {

inline constexpr int kServicePort = 7571;

class ServiceTest : public HostsTest {
 protected:
  explicit ServiceTest(int count = 2) : HostsTest(count) {
    makeCertificates(tls());
    for (const char* user : {"alice", "eve"}) giveTo(user, tls());
    for (int host = 0; host < count; ++host) {
      installAt(host);
      writeUsers(host, "alice = nobody\nadmin = root\n");
    }
  }

  /// The directory of init-tls: certificates of h0, h1, … and of alice, eve.
  std::string tls() const { return directory_.path() + "/tls"; }
  /// The files that a user has been given.
  std::string tlsOf(const std::string& user) const { return directory_.path() + '/' + user; }

  tls::TlsFiles filesOf(const std::string& user) const {
    const std::string base = tlsOf(user) + "/user-" + user;
    const Result<tls::TlsFiles> files =
        tls::loadTls({tlsOf(user) + "/ca.pem", base + ".pem", base + "-key.pem"}, tls::TlsRole::kClient,
                     std::time(nullptr));
    EXPECT_TRUE(files.ok()) << files.status().message();
    return files.value();
  }

  /// The cache directory of the users' jobs.
  std::string cache() const { return directory_.path() + "/cache"; }

  void makeCertificates(const std::string& directory) const {
    std::string names;
    for (int host = 0; host < hosts.count(); ++host)
      names += (host == 0 ? "" : ",") + hosts.name(host) + '+' + hosts.address(host);
    const std::string command = POP_BIN_DIR "/popdist-agent init-tls --dir " + directory + " --host " +
                                names + " --user alice,eve >/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  void giveTo(const std::string& user, const std::string& from) const {
    std::filesystem::create_directories(tlsOf(user));
    for (const std::string& file : {std::string("ca"), "user-" + user, "user-" + user + "-key"})
      copy(from + '/' + file + ".pem", tlsOf(user) + '/' + file + ".pem");
  }

  void installAt(int host) const { installAt(host, tls()); }
  void installAt(int host, const std::string& from) const {
    const std::string there = hosts.tmp(host) + "/tls";
    std::filesystem::create_directories(there);
    copy(from + "/ca.pem", there + "/ca.pem");
    copy(from + "/host-" + hosts.name(host) + ".pem", there + "/host.pem");
    copy(from + "/host-" + hosts.name(host) + "-key.pem", there + "/host-key.pem");
  }

  void writeUsers(int host, const std::string& text) const {
    std::ofstream file(hosts.tmp(host) + "/users");
    file << text;
    file.close();
    EXPECT_TRUE(file) << "fs.protected_regular forbids it once the file is somebody else's";
  }

  /// `options` after those that it needs. `program`: takes the agent of jobs from its own directory.
  void start(int host, const std::string& options = "--spares 0",
             const std::string& program = POP_BIN_DIR "/popdist-agent") {
    const TestHosts::Output started =
        hosts.run(host, program + " serve --listen 0.0.0.0:" + std::to_string(kServicePort) +
                            " --tls /tmp/tls --users /tmp/users " + options +
                            " >/tmp/agent.log 2>&1 </dev/null & echo $!");
    pids_.resize(static_cast<std::size_t>(hosts.count()));
    pids_[static_cast<std::size_t>(host)] = started.text.substr(0, started.text.find('\n'));
  }
  /// Listening, when this returns.
  void serve(int host, const std::string& options = "--spares 0",
             const std::string& program = POP_BIN_DIR "/popdist-agent") {
    start(host, options, program);
    ASSERT_TRUE(waitUntil([&] { return logOf(host).find("listening at") != std::string::npos; }, kTimeout))
        << logOf(host);
  }
  void serveAll(const std::string& options = "--spares 0",
                const std::string& program = POP_BIN_DIR "/popdist-agent") {
    for (int host = 0; host < hosts.count(); ++host) serve(host, options, program);
  }

  std::string logOf(int host) const { return fileText(hosts.tmp(host) + "/agent.log"); }
  bool waitForLog(int host, const std::string& text) const {
    return waitUntil([&] { return logOf(host).find(text) != std::string::npos; }, kTimeout);
  }
  void signalService(int host, const std::string& signal) const {
    ASSERT_EQ(hosts.run(host, "kill -" + signal + ' ' + pids_.at(static_cast<std::size_t>(host))).exit_code,
              0);
  }

  std::string addresses() const {
    std::string all;
    for (int host = 0; host < hosts.count(); ++host) all += (host == 0 ? "" : ",") + hosts.address(host);
    return all;
  }

  /// A job of `user` on all hosts; `user` empty: without TLS.
  PoprunSetup jobOf(const std::string& user, std::vector<std::string> options,
                    std::vector<std::string> child = {}) const {
    PoprunSetup setup{.options = {"--agent-port", std::to_string(kServicePort), "--host", addresses()},
                      .child = std::move(child),
                      .environment = {{"XDG_CACHE_HOME", cache()}},
                      .directory = "/"};
    if (!user.empty()) setup.options.insert(setup.options.end(), {"--agent-tls", tlsOf(user)});
    setup.options.insert(setup.options.end(), options.begin(), options.end());
    return setup;
  }

  static std::string commandOf(pid_t pid) { return fileText("/proc/" + std::to_string(pid) + "/cmdline"); }
  static std::string commandOfParent(pid_t pid) {
    const std::optional<ProcessStat> stat = statOf(pid);
    return stat ? commandOf(stat->parent) : "";
  }

  /// The agent of the one job there, of a service with `--spares 0`.
  pid_t agentOn(int host) const {
    for (const pid_t pid : hosts.processesOn(host)) {
      if (commandOf(pid).find("--stdio") != std::string::npos &&
          commandOfParent(pid).find("serve") != std::string::npos)
        return pid;
    }
    return -1;
  }

  /// Pids, as their host has them, of what the services have started ahead for jobs to come, by host.
  std::vector<std::string> spares() const {
    std::vector<std::string> found;
    for (int host = 0; host < hosts.count(); ++host) {
      for (const pid_t pid : hosts.processesOn(host)) {
        const std::string process = "/proc/" + std::to_string(pid);
        if (fileText(process + "/cmdline").find("--wait") == std::string::npos) continue;
        const std::string status = fileText(process + "/status");
        const std::size_t line = status.find("NSpid:");
        if (line == std::string::npos) continue;
        std::istringstream words(status.substr(line + 6, status.find('\n', line) - line - 6));
        std::string own, inner;
        words >> own >> inner;
        const std::string parent_command = commandOfParent(pid);
        const bool taken = logOf(host).find("started, pid " + inner + '\n') != std::string::npos;
        if (!taken && parent_command.find("serve") != std::string::npos) found.push_back(inner);
      }
    }
    return found;
  }

  /// Processes on hosts beside the services and those that have been started ahead; soon empty.
  std::string leftOfJobs(Milliseconds limit = kTimeout) const {
    std::string left;
    waitUntil([&] { return (left = jobProcesses()).empty(); }, limit);
    return left;
  }
  std::string jobProcesses() const {
    std::string left;
    for (int host = 0; host < hosts.count(); ++host) {
      for (const pid_t pid : hosts.processesOn(host)) {
        const std::string command = fileText("/proc/" + std::to_string(pid) + "/cmdline");
        // One that exits has no command line any more, but is not gone.
        const std::optional<ProcessStat> stat = statOf(pid);
        if (!stat || stat->state == 'Z' || command.find("serve") != std::string::npos) continue;
        left += hosts.name(host) + ": " + std::to_string(pid) + ' ' + command + '\n';
      }
    }
    return left;
  }

 private:
  static void copy(const std::string& from, const std::string& to) {
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  }

  TempDir directory_;
  std::vector<std::string> pids_;
};

}  // namespace pop::testing
