// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/assignments.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pop::cli {
namespace {

using List = std::vector<Assignment>;

constexpr std::string_view kPlacement = "--process-placement";
constexpr std::string_view kOlderPlacement = "--numa-aware";

// Two rows of which the later one wins, as they write the same settings.
bool sameSetting(const OptionRow& one, const OptionRow& other) {
  const auto pair = [&](std::string_view a, std::string_view b) {
    return (one.name == a && other.name == b) || (one.name == b && other.name == a);
  };
  return &one == &other || one.traits.excludes == other.name || pair("--verbose", "--vv") ||
         pair(kPlacement, kOlderPlacement);
}

bool sets(const List& list, const OptionRow& row) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Assignment& each) { return sameSetting(*each.row, row); });
}

List overrideList(List below, List above) {
  std::erase_if(
      below, [&](const Assignment& each) { return !each.row->traits.repeatable && sets(above, *each.row); });
  std::move(above.begin(), above.end(), std::back_inserter(below));
  return below;
}

void read(const List& list, Settings settings, std::vector<std::string>& mistakes) {
  for (const Assignment& each : list) {
    const Status status = each.row->codec.read(settings, each.value);
    if (status.ok()) continue;
    std::string mistake = std::string(each.row->name) + ": " + status.message();
    // Options for all programs are read with each program.
    if (std::find(mistakes.begin(), mistakes.end(), mistake) == mistakes.end()) {
      mistakes.push_back(std::move(mistake));
    }
  }
}

// The options of the only program that do not apply to all programs.
std::vector<std::string_view> saidOfOneProgram(const Assignments& assignments) {
  std::vector<std::string_view> names;
  auto of_all = assignments.every_program.begin();
  for (const Assignment& each : assignments.programs.front().options) {
    if (of_all != assignments.every_program.end() && each.row == of_all->row && each.value == of_all->value) {
      ++of_all;
    } else {
      names.push_back(each.row->name);
    }
  }
  return names;
}

// Names the pair once, whichever came first.
void checkExclusion(const List& list, std::vector<std::string>& mistakes) {
  for (const OptionRow& row : optionTable()) {
    if (row.traits.excludes.empty() || row.name > row.traits.excludes) continue;
    const auto given = [&](std::string_view name) {
      return std::any_of(list.begin(), list.end(),
                         [&](const Assignment& each) { return each.row->name == name; });
    };
    if (!given(row.name) || !given(row.traits.excludes)) continue;
    mistakes.push_back(std::string(row.name) + " and " + std::string(row.traits.excludes) +
                       " exclude each other: give only one");
  }
}

// The last one wins; null: the option was not given.
const Assignment* lastOf(const List& list, std::string_view name) {
  const auto found = std::find_if(list.rbegin(), list.rend(),
                                  [&](const Assignment& each) { return each.row->name == name; });
  return found == list.rend() ? nullptr : &*found;
}

model::BindPolicy bindingBy(const Assignment& assignment) {
  Options options;
  static_cast<void>(assignment.row->codec.read({options, options.programs.front()}, assignment.value));
  return options.binding;
}

void checkPlacement(const List& list, std::vector<std::string>& warnings) {
  const Assignment* one = lastOf(list, kPlacement);
  const Assignment* other = lastOf(list, kOlderPlacement);
  if (one == nullptr || other == nullptr || bindingBy(*one) == bindingBy(*other)) return;
  if (one > other) std::swap(one, other);
  warnings.push_back(std::string(one->row->name) + ' ' + one->value + " is overridden by " +
                     std::string(other->row->name) + ' ' + other->value);
}

}  // namespace

Assignments override(Assignments file, Assignments line, std::vector<std::string>& mistakes) {
  Assignments merged;
  merged.job = overrideList(std::move(file.job), std::move(line.job));
  merged.every_program = overrideList(file.every_program, line.every_program);
  const bool names_programs = line.programs.size() > 1 || !line.programs.front().command.empty();
  if (file.programs.size() == 1 && line.programs.size() == 1) {
    Assignments::Program& below = file.programs.front();
    Assignments::Program& above = line.programs.front();
    merged.programs = {{overrideList(std::move(below.options), std::move(above.options)),
                        names_programs ? std::move(above.command) : std::move(below.command)}};
    return merged;
  }
  if (names_programs) {
    for (Assignments::Program& each : line.programs) {
      each.options = overrideList(file.every_program, std::move(each.options));
    }
    merged.programs = std::move(line.programs);
    return merged;
  }
  for (const std::string_view name : saidOfOneProgram(line)) {
    mistakes.push_back(std::string(name) +
                       ": the file of --import-config has several programs: name the programs on the command "
                       "line, or set it in the file");
  }
  for (Assignments::Program& each : file.programs) {
    each.options = overrideList(std::move(each.options), line.every_program);
  }
  merged.programs = std::move(file.programs);
  return merged;
}

void apply(const Assignments& assignments, Options& options, std::vector<std::string>& mistakes,
           std::vector<std::string>& warnings) {
  options.programs.resize(assignments.programs.size());
  checkExclusion(assignments.job, mistakes);
  checkPlacement(assignments.job, warnings);
  read(assignments.job, {options, options.programs.front()}, mistakes);
  for (std::size_t i = 0; i < assignments.programs.size(); ++i) {
    read(assignments.programs[i].options, {options, options.programs[i]}, mistakes);
    options.programs[i].command = assignments.programs[i].command;
  }
}

}  // namespace pop::cli
