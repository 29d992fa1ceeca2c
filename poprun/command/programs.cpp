// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/programs.h"

#include <algorithm>
#include <array>

namespace pop {
namespace {

struct Row {
  Program program;
  const char* name;
  bool (*wanted)(const Needs& needs);
};

// The first row that is wanted.
constexpr std::array kPrograms{
    Row{Program::kDaemon, "poprun-daemon", [](const Needs& needs) { return needs.popdistd; }},
    Row{Program::kHosts, "poprun-hosts",
        [](const Needs& needs) { return needs.runner || (needs.other_hosts && !needs.by_service); }},
    Row{Program::kService, "poprun-service", [](const Needs& needs) { return needs.other_hosts; }},
    Row{Program::kPoprun, "poprun", [](const Needs&) { return true; }},
};

}  // namespace

Program programFor(const Needs& needs) {
  return std::find_if(kPrograms.begin(), kPrograms.end(), [&](const Row& row) { return row.wanted(needs); })
      ->program;
}

const char* nameOf(Program program) {
  return std::find_if(kPrograms.begin(), kPrograms.end(),
                      [&](const Row& row) { return row.program == program; })
      ->name;
}

}  // namespace pop
