// SPDX-License-Identifier: Apache-2.0
// popdist-agent-service: what `popdist-agent serve`, `init-tls` and `health` execute. OpenSSL is here, so
// that the agent that goes to every host is small.
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
