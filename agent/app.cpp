// SPDX-License-Identifier: Apache-2.0
#include "agent/app.h"

#include <cstdio>

#include "agent/job_agent.h"
#include "common/contract/version.h"

namespace pop::agent {
namespace {

constexpr const char* kUsage =
    "usage: popdist-agent --stdio     serve one job over stdin and stdout, as poprun starts it\n"
    "       popdist-agent --version\n";

}  // namespace

int runApp(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments.front();
  if (command == "--stdio" && arguments.size() == 1) return runStdioAgent();
  if (command == "--version") {
    std::printf("popdist-agent %s\n", contract::kVersion);
    return 0;
  }
  std::fputs(kUsage, command == "--help" ? stdout : stderr);
  return command == "--help" ? 0 : 2;
}

}  // namespace pop::agent
