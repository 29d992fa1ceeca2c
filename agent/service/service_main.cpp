// SPDX-License-Identifier: Apache-2.0
// popdist-agent-service: the program behind `popdist-agent serve`, `init-tls` and `health`. It contains
// OpenSSL, so that the agent that is copied to every host stays small.
#include <cstdio>
#include <string>
#include <vector>

#include "agent/service/health_options.h"
#include "agent/service/serve_options.h"
#include "agent/tls/tls_options.h"

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  const std::vector<std::string> arguments(argv + (argc > 1 ? 2 : argc), argv + argc);
  if (command == "serve") return pop::agent::runServe(arguments);
  if (command == "init-tls") return pop::agent::runInitTls(arguments);
  if (command == "health") return pop::agent::runHealth(arguments);
  std::fputs("popdist-agent-service: started by popdist-agent serve, init-tls and health\n", stderr);
  return 2;
}
