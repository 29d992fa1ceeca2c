// SPDX-License-Identifier: Apache-2.0
#include "poprun/session/mpi_check.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "agent/keeper/find_program.h"
#include "poprun/plan/mpi_libraries.h"
#include "poprun/session/elf_libraries.h"

namespace pop {
namespace {

// The last one of a name wins.
const std::string* pathIn(const std::vector<model::Variable>& environment) {
  const auto found = std::find_if(environment.rbegin(), environment.rend(),
                                  [](const model::Variable& each) { return each.first == "PATH"; });
  return found == environment.rend() ? nullptr : &found->second;
}

std::string_view searchPath(const model::JobSpec& spec, const model::Program& program) {
  for (const auto* const environment : {&program.environment, &spec.environment}) {
    if (const std::string* const path = pathIn(*environment)) return *path;
  }
  const char* const own = std::getenv("PATH");
  return own == nullptr ? "" : own;
}

}  // namespace

std::string checkMpi(const model::JobSpec& spec) {
  if (spec.num_instances < 2) return {};
  for (const model::Program& program : spec.programs) {
    const std::string& name = program.command.front();
    const std::string& directory = program.working_directory;
    const keeper::FoundProgram found = keeper::findProgram(name, searchPath(spec, program), directory);
    if (found.error != 0 || found.path.empty()) continue;
    std::string warning =
        mpiWarning(name, neededLibraries(keeper::seenFromHere(found.path, directory)), spec.env_families);
    if (!warning.empty()) return warning;
  }
  return {};
}

}  // namespace pop
