// SPDX-License-Identifier: Apache-2.0
// poprun over some hosts of our own.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_hosts.h"

namespace pop::testing {

/// From the cause until the job has ended and nothing of it is left, as promised: 5 s to notice a silent
/// host, 5 s of grace for the others. The rest is for a machine that is busy with other things.
inline constexpr Milliseconds kEndLimit{10000 + 2000};
/// The silence in tests that are not about the time itself.
inline constexpr const char* kShortSilence = "2";

/// A text of which a piece that is left out, or comes twice, is noticed; each line has ten bytes.
inline std::string numberedLines(std::size_t bytes) {
  std::string text;
  for (int line = 100'000'000; text.size() < bytes; ++line) text += std::to_string(line) + '\n';
  return text;
}

/// Texts in pipes: who reads a second time gets nothing, or waits for ever.
class OptionPipes {
 public:
  ~OptionPipes() {
    if (!writer_.joinable()) return;
    const sys::Fd reader(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // if no reader has come
    writer_.join();
  }

  /// The path of a pipe that gives `text` to the first who opens it.
  std::string named(const std::string& text) {
    path_ = directory_.path() + "/pipe";
    POP_CHECK(::mkfifo(path_.c_str(), 0600) == 0);
    writer_ = std::thread([this, text] {
      const sys::Fd pipe(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
      POP_CHECK(sys::writeAll(pipe.get(), text).ok());
    });
    return path_;
  }

  /// A pipe that holds `text`, and its end.
  int filled(const std::string& text) {
    sys::Pipe pipe = sys::makePipe().value();
    POP_CHECK(sys::writeAll(pipe.write_end.get(), text).ok());
    filled_ = std::move(pipe.read_end);
    return filled_.get();
  }

 private:
  TempDir directory_;
  std::string path_;
  sys::Fd filled_;
  std::thread writer_;
};

class HostsTest : public ::testing::Test {
 protected:
  using Clock = std::chrono::steady_clock;

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

  /// The same, whose hosts and other options are read from two pipes: a named one, and stdin.
  PoprunSetup jobFromPipes(OptionPipes& pipes, const std::string& config) const {
    PoprunSetup setup = job({"--import-config", pipes.named(config), "--hostfile", "/dev/stdin"});
    const auto host = std::find(setup.options.begin(), setup.options.end(), "--host");
    setup.options.erase(host, host + 2);
    std::string lines = names();
    std::replace(lines.begin(), lines.end(), ',', '\n');
    setup.descriptors[0] = pipes.filled(lines);
    return setup;
  }

  /// A program that runs poprun on one of the hosts itself, there in `directory`, with another $PWD if there
  /// is one.
  std::string poprunOn(int host, const std::string& directory = POP_BIN_DIR,
                       const std::string& pwd = "") const {
    const std::string script = launchers_.path() + "/poprun-on-" + hosts.name(host);
    std::string command;
    for (const std::string& word : hosts.commandOn(host, {"/bin/sh", "-c"})) command += word + ' ';
    std::ofstream(script) << "#!/bin/sh\nexec " << command << "'cd \"$0\" && "
                          << (pwd.empty() ? "" : "PWD=" + pwd + ' ') << "exec \"$@\"' " << directory << ' '
                          << POP_BIN_DIR "/poprun \"$@\"\n";
    std::filesystem::permissions(script, std::filesystem::perms::all);
    return script;
  }

  /// Empty: soon nothing of any job runs on any host; an agent that has said its last word still has to exit.
  std::string leftOnHosts(Milliseconds limit = kTimeout) const {
    std::string left;
    waitUntil([&] { return (left = leftNow()).empty(); }, limit);
    return left;
  }

  static Milliseconds since(Clock::time_point cause) {
    return std::chrono::duration_cast<Milliseconds>(Clock::now() - cause);
  }
  /// The rest of the time that a job has after `cause`.
  static Milliseconds restOfLimit(Clock::time_point cause) {
    return std::max(kEndLimit - since(cause), Milliseconds(0));
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

  /// poprun's messages but those about hosts that it waits for, which depend on the machine's load.
  static std::string said(const std::string& err) {
    std::string text;
    for (const std::string& line : linesOf(err)) {
      if (!line.starts_with("poprun: waiting for ")) text += line + '\n';
    }
    return text;
  }
  static std::string said(const PoprunProcess& poprun) { return said(poprun.err()); }

  /// poprun's exit code. It comes soon enough after `cause`.
  int endAfter(Clock::time_point cause, PoprunProcess& poprun, Milliseconds limit = kEndLimit) const {
    const int exit_code = poprun.wait();
    const Milliseconds took = since(cause);
    EXPECT_LE(took, limit);
    std::printf("ended %d ms after the cause, with code %d:\n%s", static_cast<int>(took.count()), exit_code,
                poprun.err().substr(0, 1000).c_str());
    RecordProperty("ended_after_ms", static_cast<int>(took.count()));
    return exit_code;
  }

  TestHosts hosts;

 private:
  static std::string commandLine(pid_t pid) {
    const Result<std::string> text = sys::readFile("/proc/" + std::to_string(pid) + "/cmdline");
    return text.ok() ? text.value().substr(0, 200) : "(gone)";
  }

  TempDir launchers_;
};

}  // namespace pop::testing
