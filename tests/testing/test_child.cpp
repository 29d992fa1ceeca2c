// SPDX-License-Identifier: Apache-2.0
// The test child's commands (test_child.h), those of few lines.
#include "tests/testing/test_child.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "common/sys/fd.h"

namespace pop::testing {

int instanceIndex() {
  const char* index = std::getenv("POPDIST_INSTANCE_INDEX");
  return index == nullptr ? -1 : std::atoi(index);
}

void sayReady() {
  std::printf("ready %d %d\n", instanceIndex(), ::getpid());
  std::fflush(stdout);
}

void pauseForever() {
  while (true) ::pause();
}

namespace {

int exit_code_of_wait = 0;

int write(int fd, const std::string& text) {
  return sys::writeAll(fd, text).ok() ? 0 : 1;
}

int dieOf(const Arguments& arguments) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int signal = std::stoi(arguments.at(0));
  std::signal(signal, SIG_DFL);  // sanitizers handle some
  ::raise(signal);
  return 0;
}

// In pieces that end anywhere, as a buffered stream would write them.
int writeLines(const Arguments& arguments) {
  constexpr std::size_t kPieceBytes = 1000;
  const int count = std::stoi(arguments.at(0));
  const std::size_t bytes = std::stoul(arguments.at(1));
  std::string pending[2];
  for (int number = 0; number < count; ++number) {
    for (const int fd : {1, 2}) {
      std::string& text = pending[fd - 1];
      text += lineText(instanceIndex(), fd == 1 ? 'o' : 'e', number, bytes);
      if (text.size() < kPieceBytes) continue;
      if (write(fd, text.substr(0, kPieceBytes)) != 0) return 1;
      text.erase(0, kPieceBytes);
    }
  }
  return write(1, pending[0]) + write(2, pending[1]);
}

int flood(const Arguments&) {
  for (int number = 0;; ++number) {
    if (write(1, lineText(instanceIndex(), 'o', number, 100)) != 0) return 1;
  }
}

int printEnvironment(const Arguments&) {
  for (char** variable = environ; *variable != nullptr; ++variable) std::puts(*variable);
  return 0;
}

int waitForUsr1(const Arguments& arguments) {
  exit_code_of_wait = arguments.empty() ? 0 : std::stoi(arguments[0]);
  std::signal(SIGUSR1, [](int) { ::_exit(exit_code_of_wait); });
  sayReady();
  pauseForever();
}

void saySignal(int signal) {
  const std::string text = "SIG" + std::string(sigabbrev_np(signal)) + '\n';  // short: nothing is allocated
  if (!sys::writeAll(1, text).ok() || signal == SIGTERM) ::_exit(0);
}

int saySignals(const Arguments&) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT})
    std::signal(signal, saySignal);
  sayReady();
  pauseForever();
}

int restartCount() {
  const char* count = std::getenv("POPDIST_RESTART_COUNT");
  return count == nullptr ? -1 : std::atoi(count);
}

// The last instance fails in every attempt before the one given; the others wait, and in that one all end
// well.
int failUntil(const Arguments& arguments) {
  sayReady();
  if (restartCount() >= std::stoi(arguments.at(0))) return 0;
  if (instanceIndex() + 1 == std::atoi(std::getenv("POPDIST_NUM_INSTANCES")))
    return std::stoi(arguments.at(1));
  pauseForever();
}

// The first attempt leaves a daemon and fails; the second one waits.
int leaveDaemonOnce(const Arguments& arguments) {
  if (restartCount() == 0) return leaveDaemon(arguments);
  return waitForUsr1({});
}

int ignoreTerm(const Arguments&) {
  std::signal(SIGTERM, SIG_IGN);
  sayReady();
  pauseForever();
}

using Command = int (*)(const Arguments&);

const std::map<std::string, Command>& commands() {
  static const std::map<std::string, Command> table{
      {"exit", [](const Arguments& arguments) { return std::stoi(arguments.at(0)); }},
      {"signal", dieOf},
      {"unterminated", [](const Arguments& arguments) { return write(1, arguments.at(0)); }},
      {"print-env", printEnvironment},
      {"lines", writeLines},
      {"long-line",
       [](const Arguments& arguments) { return write(1, lineText(0, 'o', 0, std::stoul(arguments.at(0)))); }},
      {"binary",
       [](const Arguments& arguments) { return write(1, binaryText(std::stoul(arguments.at(0)))); }},
      {"flood", flood},
      {"report", report},
      {"bind-ports", bindPorts},
      {"wait", waitForUsr1},
      {"say-signals", saySignals},
      {"ignore-term", ignoreTerm},
      {"fail-until", failUntil},
      {"leave-daemon-once", leaveDaemonOnce},
      {"spawn-grandchild", spawnGrandchild},
      {"leave-daemon", leaveDaemon},
      {"guard-grandchild", guardGrandchild},
      {"breed", breed},
  };
  return table;
}

}  // namespace
}  // namespace pop::testing

int main(int argc, char** argv) {
  const auto& commands = pop::testing::commands();
  const auto command = commands.find(argc > 1 ? argv[1] : "");
  if (command == commands.end()) {
    std::fprintf(stderr, "test child: no such command\n");
    return 97;
  }
  return command->second({argv + 2, argv + argc});
}
