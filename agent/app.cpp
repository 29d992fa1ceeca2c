// SPDX-License-Identifier: Apache-2.0
#include "agent/app.h"

#include <cstdio>
#include <functional>
#include <map>

#include "agent/job_agent.h"
#include "agent/serve_options.h"
#include "agent/service/become.h"
#include "agent/tls_options.h"
#include "common/contract/version.h"

namespace pop::agent {
namespace {

constexpr const char* kUsage =
    "usage: popdist-agent serve …       run jobs of poprun on this host (serve --help)\n"
    "       popdist-agent init-tls …    make the certificates for that (init-tls --help)\n"
    "       popdist-agent --stdio       serve one job over stdin and stdout, as poprun starts it\n"
    "       popdist-agent --version\n";

using Arguments = std::vector<std::string>;

int stdio(const Arguments& arguments) {
  return runStdioAgent(arguments == Arguments{"--wait"} ? Patience::kForEver : Patience::kShort);
}

int version(const Arguments&) {
  return std::printf("popdist-agent %s\n", contract::kVersion) < 0;
}

int help(const Arguments&) {
  return std::fputs(kUsage, stdout) < 0;
}

}  // namespace

int runApp(const Arguments& arguments) {
  static const std::map<std::string, int (*)(const Arguments&)> kCommands{
      {"--stdio", stdio},  {"--version", version},   {"--help", help},
      {"serve", runServe}, {"init-tls", runInitTls}, {"become", runBecome},
  };
  const auto command = arguments.empty() ? kCommands.end() : kCommands.find(arguments.front());
  if (command != kCommands.end()) return command->second({arguments.begin() + 1, arguments.end()});
  std::fputs(kUsage, stderr);
  return 2;
}

}  // namespace pop::agent
