// SPDX-License-Identifier: Apache-2.0
#include "agent/app.h"

#include <unistd.h>

#include <cstdio>
#include <map>
#include <vector>

#include "agent/job/job_agent.h"
#include "agent/service/become.h"
#include "common/contract/exit_code.h"
#include "common/contract/version.h"
#include "common/sys/own_program.h"

namespace pop::agent {
namespace {

constexpr const char* kUsage =
    "usage: popdist-agent serve …       run poprun's jobs on this host (serve --help)\n"
    "       popdist-agent init-tls …    make the certificates of the agent service (init-tls --help)\n"
    "       popdist-agent health …      check whether an agent service accepts jobs (health --help)\n"
    "       popdist-agent --stdio       serve one job over stdin and stdout, as poprun starts it\n"
    "       popdist-agent --version\n";

using Arguments = std::vector<std::string>;

int stdio(const Arguments& arguments) {
  return runStdioAgent(arguments == Arguments{"--wait"} ? Timeout::kForEver : Timeout::kShort);
}

int version(const Arguments&) {
  return std::printf("popdist-agent %s\n", contract::kVersion) < 0;
}

int help(const Arguments&) {
  return std::fputs(kUsage, stdout) < 0;
}

// Returns only on failure.
int service(const char* command, const Arguments& arguments) {
  const std::string program = sys::ownProgram("popdist-agent-service");
  std::vector<const char*> words{program.c_str(), command};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  words.push_back(nullptr);
  ::execv(program.c_str(), const_cast<char**>(words.data()));
  std::perror(("popdist-agent: the service needs " + program).c_str());
  return contract::kExitLauncherFailed;
}

int serve(const Arguments& arguments) {
  return service("serve", arguments);
}

int initTls(const Arguments& arguments) {
  return service("init-tls", arguments);
}

int health(const Arguments& arguments) {
  return service("health", arguments);
}

}  // namespace

int runApp(const Arguments& arguments) {
  static const std::map<std::string, int (*)(const Arguments&)> kCommands{
      {"--stdio", stdio},    {"--version", version}, {"--help", help},      {"serve", serve},
      {"init-tls", initTls}, {"health", health},     {"become", runBecome},
  };
  const auto command = arguments.empty() ? kCommands.end() : kCommands.find(arguments.front());
  if (command != kCommands.end()) return command->second({arguments.begin() + 1, arguments.end()});
  std::fputs(kUsage, stderr);
  return 2;
}

}  // namespace pop::agent
