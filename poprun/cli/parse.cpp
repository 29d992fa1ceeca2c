// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/parse.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "common/contract/env_family.h"
#include "poprun/cli/assignments.h"
#include "poprun/cli/config_file.h"
#include "poprun/cli/word_reader.h"

namespace pop::cli {
namespace {

bool isSaid(std::string_view name, const std::vector<Assignment>& list) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Assignment& each) { return each.row->name == name; });
}

// mpirun and horovodrun have other defaults for output.
void tagAsLauncher(Spelling spelling, Assignments& assignments) {
  if (spelling == Spelling::kPoprun || isSaid("--tag-output", assignments.job)) return;
  const char* const own_way = spelling == Spelling::kHorovodrun ? "mpi" : "no";
  assignments.job.push_back({findOption("--tag-output"), own_way});
}

// Hydra gives its programs its whole environment on every host, and slots are no limit for it.
void startAsHydra(Spelling spelling, Assignments& assignments) {
  if (spelling != Spelling::kHydra) return;
  for (const char* name : {"--genvall", "--oversubscribe"}) {
    if (!isSaid(name, assignments.job)) assignments.job.push_back({findOption(name), "yes"});
  }
}

// Horovod under mpirun finds its ranks by MPI. The variables of that family would send it elsewhere.
void leaveHorovodToMpi(Spelling spelling, Assignments& assignments) {
  const bool has_mpi = spelling == Spelling::kMpirun || spelling == Spelling::kHydra;
  if (!has_mpi || isSaid("--env-for", assignments.job)) return;
  contract::EnvFamilies families = contract::allEnvFamilies();
  families.erase(contract::EnvFamily::kHorovod);
  assignments.job.push_back({findOption("--env-for"), contract::envFamiliesText(families)});
}

const std::string* importedFile(const Assignments& assignments) {
  const std::string* path = nullptr;
  for (const Assignment& each : assignments.job) {
    if (each.row->name == "--import-config") path = &each.value;
  }
  return path;
}

}  // namespace

ParsedOptions parseOptions(const std::vector<std::string>& arguments, Spelling spelling,
                           const FileReader& read) {
  ReadWords words = WordReader(spelling).read(arguments);
  Assignments assignments = std::move(words.assignments);
  ParsedOptions parsed{{}, std::move(words.mistakes), std::move(words.warnings)};
  if (const std::string* path = importedFile(assignments)) {
    ConfigFile file = readConfigFile(*path, read);
    parsed.mistakes.insert(parsed.mistakes.end(), file.mistakes.begin(), file.mistakes.end());
    parsed.warnings.insert(parsed.warnings.end(), file.warnings.begin(), file.warnings.end());
    assignments = override(std::move(file.assignments), std::move(assignments), parsed.mistakes);
  }
  tagAsLauncher(spelling, assignments);
  startAsHydra(spelling, assignments);
  leaveHorovodToMpi(spelling, assignments);
  parsed.program_hint = std::move(words.program_hint);
  if (!words.ends_in_value.empty()) {
    parsed.without_program = inQuotes(words.ends_in_value[1]) + " was taken for the value of " +
                             words.ends_in_value[0] + ": write -- before a program of that name";
  }
  parsed.options.hosts_are_slots = spelling != Spelling::kPoprun;
  parsed.options.fills_cores = spelling == Spelling::kMpirun;
  apply(assignments, parsed.options, parsed.mistakes, parsed.warnings);
  return parsed;
}

}  // namespace pop::cli
