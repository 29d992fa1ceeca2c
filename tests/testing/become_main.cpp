// SPDX-License-Identifier: Apache-2.0
// popdist-agent become, without the rest of popdist-agent.
#include <cstdio>
#include <string>

#include "agent/service/become.h"

int main(int argc, char** argv) {
  if (argc < 2 || std::string(argv[1]) != "become") {
    std::fputs("usage: become_program become …\n", stderr);
    return 2;
  }
  return pop::agent::runBecome({argv + 2, argv + argc});
}
