// SPDX-License-Identifier: Apache-2.0
#include "poprun/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <utility>

#include "common/base/text.h"
#include "poprun/cli/assignments.h"
#include "poprun/cli/config_file.h"
#include "poprun/cli/word_reader.h"

namespace pop {
namespace {

using cli::Assignment;
using cli::FlatWords;
using cli::OptionRow;

// CLI11 pairs names and values, once for each object (it keeps the order of an earlier parse); what they
// mean, and all mistakes in them, is the table's to say.
class FlatParser {
 public:
  FlatParser() { app_.set_help_flag(); }  // --help is ours

  Result<std::vector<Assignment>> parse(FlatWords words) {
    for (std::size_t i = 0; i < words.size(); i += 2) known(words[i]);
    std::reverse(words.begin(), words.end());  // the order in which CLI11 wants a vector
    try {
      app_.parse(std::move(words));
    } catch (const CLI::Error& error) {
      return invalidArgument(error.what());
    }
    std::vector<Assignment> assignments;
    std::map<const CLI::Option*, std::size_t> taken;
    for (const CLI::Option* option : app_.parse_order()) {
      assignments.push_back({rows_.at(option), option->results().at(taken[option]++)});
    }
    return assignments;
  }

 private:
  // CLI11 is told only of what occurs: telling it of the whole table would take longer than all the rest.
  void known(const std::string& name) {
    if (app_.get_option_no_throw(name) != nullptr) return;
    CLI::Option* option = app_.add_option(name, CLI::callback_t([](const CLI::results_t&) { return true; }));
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
    rows_[option] = cli::findOption(name);
  }

  CLI::App app_;
  std::map<const CLI::Option*, const OptionRow*> rows_;
};

cli::Assignments assignmentsOf(cli::SortedWords& words) {
  cli::Assignments result;
  const auto parse = [&](FlatWords& flat) {
    if (flat.empty()) return std::vector<Assignment>{};
    Result<std::vector<Assignment>> parsed = FlatParser().parse(std::move(flat));
    if (parsed.ok()) return std::move(parsed).value();
    words.mistakes.push_back(parsed.status().message());
    return std::vector<Assignment>{};
  };
  result.every_program = parse(words.every_program);
  result.programs.clear();
  for (cli::SortedWords::Program& program : words.programs) {
    result.programs.push_back({{}, std::move(program.command)});
    for (Assignment& each : parse(program.options)) {
      (each.row->traits.per_program ? result.programs.back().options : result.job).push_back(std::move(each));
    }
  }
  return result;
}

bool isSaid(std::string_view name, const std::vector<Assignment>& list) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Assignment& each) { return each.row->name == name; });
}

// mpirun and horovodrun have their own way with output, unless told otherwise.
void tagAsLauncher(cli::Spelling spelling, cli::Assignments& assignments) {
  if (spelling == cli::Spelling::kPoprun || isSaid("--tag-output", assignments.job)) return;
  const char* const own_way = spelling == cli::Spelling::kMpirun ? "no" : "mpi";
  assignments.job.push_back({cli::findOption("--tag-output"), own_way});
}

// mpirun -H a,b without -np starts one instance on each.
void giveHostsSlots(cli::Assignments& assignments) {
  if (isSaid("--num-instances", assignments.programs.front().options)) return;
  for (Assignment& each : assignments.job) {
    if (each.row->name == "--host") each.value = cli::withOneSlotEach(each.value);
  }
}

const std::string* importedFile(const cli::Assignments& assignments) {
  const std::string* path = nullptr;
  for (const Assignment& each : assignments.job) {
    if (each.row->name == "--import-config") path = &each.value;
  }
  return path;
}

}  // namespace

ParsedOptions parseOptions(const std::vector<std::string>& arguments, cli::Spelling spelling,
                           const cli::FileReader& read) {
  cli::SortedWords words = cli::WordReader(spelling).read(arguments);
  cli::Assignments assignments = assignmentsOf(words);
  const bool names_hosts = isSaid("--host", assignments.job);
  ParsedOptions parsed{{}, std::move(words.mistakes), std::move(words.warnings)};
  if (const std::string* path = importedFile(assignments)) {
    cli::ConfigFile file = cli::readConfigFile(*path, read);
    parsed.mistakes.insert(parsed.mistakes.end(), file.mistakes.begin(), file.mistakes.end());
    parsed.warnings.insert(parsed.warnings.end(), file.warnings.begin(), file.warnings.end());
    assignments = cli::override(std::move(file.assignments), std::move(assignments), parsed.mistakes);
  }
  tagAsLauncher(spelling, assignments);
  if (spelling == cli::Spelling::kMpirun && names_hosts) giveHostsSlots(assignments);
  if (!words.ends_in_value.empty()) {
    parsed.without_program = inQuotes(words.ends_in_value[1]) + " was taken for the value of " +
                             words.ends_in_value[0] + ": write -- before a program of that name";
  }
  parsed.options.repeated_hosts_are_slots = spelling != cli::Spelling::kPoprun;
  cli::apply(assignments, parsed.options, parsed.mistakes, parsed.warnings);
  return parsed;
}

}  // namespace pop
