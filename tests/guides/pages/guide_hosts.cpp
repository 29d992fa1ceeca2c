// SPDX-License-Identifier: Apache-2.0
// Test hosts for a program that is not in C++: `guide_hosts NAME...` makes one host for each name, and prints
// a line for each: the command that runs another one there, in front of that other one. The hosts live until
// stdin ends.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/testing/test_hosts.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: guide_hosts NAME...\n");
    return 2;
  }
  const std::vector<std::string> names(argv + 1, argv + argc);
  const pop::testing::TestHosts hosts({.count = argc - 1, .sshd_options = {}, .names = names});
  for (int host = 0; host < hosts.count(); ++host) {
    std::string line;
    for (const std::string& word : hosts.commandOn(host, {})) line += (line.empty() ? "" : " ") + word;
    std::printf("%s\n", line.c_str());
  }
  std::fflush(stdout);
  char ignored = 0;
  while (::read(STDIN_FILENO, &ignored, 1) > 0) continue;
}
