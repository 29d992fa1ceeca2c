// SPDX-License-Identifier: Apache-2.0
// Completion in zsh and fish; bash's is in options_doc.cpp.
#include <string>
#include <string_view>
#include <vector>

#include "common/base/text.h"
#include "poprun/cli/option_table.h"
#include "poprun/cli/options_doc.h"
#include "poprun/cli/simulate_options.h"

namespace pop::cli {
namespace {

constexpr std::string_view kMade = "Made by scripts/gen_options_doc from poprun/cli/option_rows.cpp.\n";

constexpr std::string_view kZshEnd =
    R"zsh(  '(-)1: :{_alternative "programs:program:_command_names -e" "commands:command:(doctor simulate)"}' \
  '*:: :_normal'
)zsh";

// fish also calls this for options after the program, which belong to the program.
constexpr std::string_view kFishFunction = R"(
function __poprun_before_program
  set -l words (commandline -opc)
  set -l takes_value no
  for word in $words[2..]
    if test $takes_value = yes
      set takes_value no
      continue
    end
    switch $word
      case doctor yes no on off true false 0 1 auto instance host mpi text json
        continue
      case --
        return 1
      case '-*'
        contains -- $word $__poprun_take_value; and set takes_value yes
      case '*'
        return 1
    end
  end
end

complete -c poprun -n __poprun_before_program -x -a '(__fish_complete_command)'
function __poprun_simulates
  set -l words (commandline -opc)
  test (count $words) -gt 1; and test "$words[2]" = simulate
end

function __poprun_at_first_word
  test (count (commandline -opc)) -eq 1
end

complete -c poprun -n __poprun_before_program -a doctor -d 'Examine the hosts of a job'
complete -c poprun -n __poprun_at_first_word -a simulate -d 'Predict a training on other Pods'
complete -c poprun -n __poprun_simulates -f
)";

std::string escaped(std::string_view text, std::string_view signs) {
  std::string result;
  for (const char c : text) {
    if (signs.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// Escapes text for single quotes of zsh.
std::string inZshQuotes(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result;
}

std::string zshAction(const OptionRow& row) {
  const std::string words = join(wordsOf(row), " ");
  if (row.traits.list) return "_values -s , " + std::string(row.value_name) + ' ' + words;
  if (!words.empty()) return '(' + words + ')';
  if (row.traits.hint == Hint::kFile) return "_files";
  return row.traits.hint == Hint::kDirectory ? "_files -/" : " ";
}

// "'--host=[hosts, …]:HOSTS: '"
std::string zshSpec(const OptionRow& row, const std::string& name) {
  std::string spec = row.traits.repeatable || row.traits.per_program ? "*" : "";
  const bool is_long = name.starts_with("--");
  spec += name;
  if (row.traits.rule == ValueRule::kRequired && is_long) spec += '=';
  if (row.traits.rule == ValueRule::kOptional) spec += "=-";
  spec += '[' + escaped(row.description, "[]\\") + ']';
  if (row.traits.rule != ValueRule::kNone) {
    spec += row.traits.rule == ValueRule::kOptional ? "::" : ":";
    spec += escaped(row.value_name, ":") + ':' + zshAction(row);
  }
  return "  '" + inZshQuotes(spec) + "' \\\n";
}

// "-l host", "-s H", "-o np"
std::string fishName(const std::string& name) {
  if (name.starts_with("--")) return " -l " + name.substr(2);
  return (name.size() == 2 ? " -s " : " -o ") + name.substr(1);
}

std::string fishLine(const OptionRow& row) {
  const bool is_of_job = row.group != Group::kSimulate;
  std::string line =
      std::string("complete -c poprun -n ") + (is_of_job ? "__poprun_before_program" : "__poprun_simulates");
  for (const std::string& name : namesOf(row)) line += fishName(name);
  line += " -d '" + escaped(row.description, "'\\") + '\'';
  const std::string words = join(wordsOf(row), " ");
  if (row.traits.rule == ValueRule::kRequired) line += " -r";
  if (row.traits.hint == Hint::kDirectory) return line + " -f -a '(__fish_complete_directories)'\n";
  if (row.traits.hint == Hint::kFile) return line + " -F\n";
  if (row.traits.list) return line + " -f -a \"(__fish_append , " + words + ")\"\n";
  return line + " -f" + (words.empty() ? "" : " -a '" + words + '\'') + '\n';
}

}  // namespace

std::string zshCompletion() {
  std::string text =
      "#compdef poprun\n# SPDX-License-Identifier: Apache-2.0\n# Completion of poprun for zsh. " +
      std::string(kMade) +
      "\nif (( CURRENT > 2 )) && [[ $words[2] = simulate ]]; then\n"
      "  shift words; (( CURRENT-- ))\n  _arguments -S \\\n";
  for (const OptionRow& row : simulateTable()) text += "  " + zshSpec(row, std::string(row.name));
  text += "    && return\n  return 1\nfi\n\n_arguments -S -A '-*' \\\n";
  for (const OptionRow& row : optionTable()) {
    for (const std::string& name : namesOf(row)) text += zshSpec(row, name);
  }
  return text + std::string(kZshEnd);
}

std::string fishCompletion() {
  std::string lines;
  std::string take_value;
  for (const OptionRow& row : optionTable()) {
    lines += fishLine(row);
    if (row.traits.rule != ValueRule::kRequired) continue;
    for (const std::string& name : namesOf(row)) take_value += ' ' + name;
  }
  for (const OptionRow& row : simulateTable()) lines += fishLine(row);
  return "# SPDX-License-Identifier: Apache-2.0\n# Completion of poprun for fish. " + std::string(kMade) +
         "\n# Options that take the next word, whatever it is.\nset -g __poprun_take_value" + take_value +
         '\n' + std::string(kFishFunction) + lines;
}

}  // namespace pop::cli
