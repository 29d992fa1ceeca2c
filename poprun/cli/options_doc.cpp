// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/options_doc.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "common/base/text.h"
#include "poprun/cli/option_table.h"
#include "poprun/cli/simulate_options.h"

namespace pop::cli {
namespace {

constexpr std::size_t kHelpColumn = 30;
constexpr std::size_t kHelpWidth = 100;

constexpr std::string_view kUsage =
    "poprun [options] [--] program [arguments] [: [options] program [arguments] …]";
constexpr std::string_view kDoctorUsage = "poprun doctor [options]";
constexpr std::string_view kSimulateUsage =
    "poprun simulate --model FILE | --all-reduce SIZE --system PODS [options]";
constexpr std::string_view kSummary =
    "Runs a data-parallel program as several instances, each with its share of the model's replicas.";
constexpr std::string_view kSimulateSummary =
    "Predicts what a training would do on Pods that you do not have, from a few numbers of its program and "
    "from "
    "runs that you have measured. Nothing is started.";
constexpr std::string_view kNotes[] = {
    "Write options as --opt value or --opt=value; the last one wins. BOOL is yes/no, on/off, true/false or "
    "1/0 "
    "in any case, and yes if it is left out. A word that is not a value of such an option starts the "
    "program, "
    "and so does --.",
    "A word ':' alone separates programs. -np, -x and --wdir can be set for each program; all other options "
    "must precede the first. After --, ':' belongs to the program.",
    "`poprun doctor` examines the hosts of a job before you start it: it reports what would fail on any of "
    "them, and returns 0 if nothing would, else 1. To start a program of that name, write `poprun -- "
    "doctor`.",
    "`poprun simulate` predicts what a training would do on a Pod that you do not have, and has options of "
    "its "
    "own: `poprun simulate --help`. To start a program of that name, write `poprun -- simulate`.",
    "poprun also understands the options of mpirun that have a meaning here. If it is called by the name "
    "mpirun, mpiexec, orterun or horovodrun, that command's spelling takes precedence (links are in "
    "libexec/poprun/names).",
};

constexpr std::string_view kCompletionCode =
    R"(# The first word that is neither an option nor the value of one is the program.
_poprun_program_at() {
  local at=1 word
  [ "$COMP_CWORD" -gt 1 ] && [ "${COMP_WORDS[1]}" = doctor ] && at=2
  while [ "$at" -lt "$COMP_CWORD" ]; do
    word=${COMP_WORDS[at]}
    case $word in
      --) at=$((at + 1)); break ;;
      -?*) ;;
      *) break ;;
    esac
    at=$((at + 1))
    if [ "${COMP_WORDS[at]}" = = ]; then
      at=$((at + 2))
    elif [ "${_poprun_take_value#* "$word" }" != "$_poprun_take_value" ]; then
      at=$((at + 1))
    else
      case ${COMP_WORDS[at]} in
        yes | no | on | off | true | false | 0 | 1 | auto | instance | host | mpi | text | json)
          [ "$at" -lt "$COMP_CWORD" ] && at=$((at + 1)) ;;
      esac
    fi
  done
  echo "$at"
}

# Words that commas separate: the last of them.
_poprun_list() {
  local before=
  case $2 in *,*) before=${2%,*}, ;; esac
  COMPREPLY=($(compgen -P "$before" -W "$1" -- "${2##*,}"))
}

# Names of files (-f) or directories (-d), which may hold blanks.
_poprun_paths() {
  mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
  compopt -o filenames 2> /dev/null
}

_poprun() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program
  if [ "$COMP_CWORD" -gt 1 ] && [ "${COMP_WORDS[1]}" = simulate ]; then
    [ "$word" = = ] && word=
    [ "$before" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]}
    _poprun_simulate_value "$before" "$word"
    return
  fi
  program=$(_poprun_program_at)
  if [ "$program" -lt "$COMP_CWORD" ]; then
    _poprun_paths -f "$word"
  elif [ "$word" = = ]; then
    _poprun_value "$before" ''
  elif [ "$before" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
    _poprun_value "${COMP_WORDS[COMP_CWORD - 2]}" "$word"
  elif [ "${_poprun_take_value#* "$before" }" != "$_poprun_take_value" ]; then
    _poprun_value "$before" "$word"
  elif [ "${word#-}" != "$word" ]; then
    COMPREPLY=($(compgen -W "$_poprun_names" -- "$word"))
  else
    _poprun_value "$before" "$word"
    [ "${COMP_WORDS[1]}" = doctor ] || COMPREPLY+=($(compgen -c -- "$word"))
    [ "$COMP_CWORD" -gt 1 ] || COMPREPLY+=($(compgen -W 'doctor simulate' -- "$word"))
  fi
}

complete -o default -F _poprun poprun
)";

// "[BOOL]" if it may be left out.
std::string valueText(const OptionRow& row) {
  if (row.traits.rule == ValueRule::kNone) return {};
  const std::string name(row.value_name);
  return row.traits.rule == ValueRule::kOptional ? '[' + name + ']' : name;
}

// "-H, --host HOSTS": the short names first, as everywhere.
std::string optionText(const OptionRow& row) {
  std::vector<std::string> names = namesOf(row);
  std::stable_sort(names.begin(), names.end(),
                   [](const std::string& a, const std::string& b) { return a.size() < 3 && b.size() >= 3; });
  const std::string value = valueText(row);
  return join(names, ", ") + (value.empty() ? "" : ' ' + value);
}

// Capitalises the first letter, unless the text begins with a file name.
std::string describe(const OptionRow& row) {
  std::string text(row.description);
  if (text.substr(0, text.find_first_of(" ,;:")).find_first_of("-./_") != std::string::npos) return text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

// Wraps to lines of at most `width` characters; the first one already has some.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = indent;
  for (const std::string& word : split(text, ' ')) {
    if (column > indent && column + 1 + word.size() > width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

std::string helpLine(const OptionRow& row) {
  std::string text = "  " + optionText(row);
  text += text.size() + 2 > kHelpColumn ? '\n' + std::string(kHelpColumn, ' ')
                                        : std::string(kHelpColumn - text.size(), ' ');
  const std::string standard =
      row.default_text.empty() ? "" : " (default: " + std::string(row.default_text) + ')';
  return text + wrapped(describe(row) + standard, kHelpColumn, kHelpWidth) + '\n';
}

// Calls `title` for each heading and `option` for each row below it.
template <typename Title, typename Option>
void forEachGroup(Title title, Option option) {
  for (const GroupTitle& group : groupTitles()) {
    title(group.title);
    for (const OptionRow& row : optionTable()) {
      if (row.group == group.group) option(row);
    }
  }
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// roff: a dash of an option is not a hyphen, and a line must not begin with a dot or quote.
std::string roff(std::string text) {
  text = replaced(std::move(text), "\\", "\\e");
  text = replaced(std::move(text), "-", "\\-");
  text = replaced(std::move(text), "…", "...");
  return text.starts_with('.') || text.starts_with('\'') ? "\\&" + text : text;
}

std::string manOption(const OptionRow& row) {
  std::string names;
  for (const std::string& name : namesOf(row))
    names += (names.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
  const std::string value = valueText(row);
  std::string text = ".TP\n" + names + (value.empty() ? "" : " \\fI" + roff(value) + "\\fR") + '\n';
  text += roff(describe(row)) + ".\n";
  if (!row.default_text.empty()) text += "Default: " + roff(std::string(row.default_text)) + ".\n";
  return text;
}

constexpr std::string_view kColumns = "| Option | Value | Meaning | Default |\n|---|---|---|---|\n";

std::string tableCell(std::string text) {
  return replaced(replaced(std::move(text), "|", "\\|"), "<", "&lt;");
}

std::string referenceRow(const OptionRow& row) {
  std::string names;
  for (const std::string& name : namesOf(row)) names += (names.empty() ? "`" : ", `") + name + '`';
  const std::string value = valueText(row);
  const std::vector<std::string> words = wordsOf(row);
  std::string text =
      "| " + names + " | " + (value.empty() ? "" : '`' + value + '`') + " | " + tableCell(describe(row));
  if (row.traits.per_program) text += "; can be set for each program";
  if (!row.traits.excludes.empty()) text += "; excludes `" + std::string(row.traits.excludes) + '`';
  if (!words.empty() && row.traits.rule == ValueRule::kRequired)
    text += std::string(row.traits.list ? ". Values, separated by commas" : ". Values") + ": `" +
            join(words, "`, `") + '`' +
            (row.traits.others.empty() ? "" : ", or " + std::string(row.traits.others));
  return text + " | " + tableCell(std::string(row.default_text)) + " |\n";
}

struct BashParts {
  std::string names;
  std::string take_value;  // names of options whose value is the next word, whatever it is
  std::string cases;       // what is offered for the value of each
};

BashParts bashParts(std::span<const OptionRow> table) {
  BashParts parts;
  for (const OptionRow& row : table) {
    const std::vector<std::string> own = namesOf(row);
    parts.names += (parts.names.empty() ? "" : " ") + join(own, " ");
    if (row.traits.rule == ValueRule::kNone) continue;
    const std::string words = join(wordsOf(row), " ");
    std::string reply;
    if (!words.empty())
      reply = row.traits.list ? "_poprun_list '" + words + "' \"$word\""
                              : "COMPREPLY=($(compgen -W '" + words + "' -- \"$word\"))";
    if (row.traits.hint == Hint::kFile) reply = "_poprun_paths -f \"$word\"";
    if (row.traits.hint == Hint::kDirectory) reply = "_poprun_paths -d \"$word\"";
    if (reply.empty()) reply = "COMPREPLY=()";
    parts.cases += "    " + join(own, " | ") + ") " + reply + " ;;\n";
    if (row.traits.rule == ValueRule::kRequired)
      parts.take_value += (parts.take_value.empty() ? "" : " ") + join(own, " ");
  }
  return parts;
}

}  // namespace

std::string helpText() {
  std::string text = std::string(kSummary) + "\nUsage: " + std::string(kUsage) + "\n       " +
                     std::string(kDoctorUsage) + "\n       " + std::string(kSimulateUsage) + '\n';
  forEachGroup([&](std::string_view title) { text += '\n' + std::string(title) + ":\n"; },
               [&](const OptionRow& row) { text += helpLine(row); });
  for (const std::string_view note : kNotes) text += '\n' + wrapped(note, 0, kHelpWidth) + '\n';
  return text;
}

std::string simulateHelpText() {
  std::string text =
      wrapped(kSimulateSummary, 0, kHelpWidth) + "\nUsage: " + std::string(kSimulateUsage) + "\n\n";
  for (const OptionRow& row : simulateTable()) text += helpLine(row);
  return text;
}

std::string referencePage() {
  std::string text =
      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
      "<!-- Made by scripts/gen_options_doc from poprun/cli/option_rows.cpp. -->\n"
      "# Options of poprun\n\n    " +
      std::string(kUsage) + "\n    " + std::string(kDoctorUsage) + "\n    " + std::string(kSimulateUsage) +
      "\n\n" + std::string(kSummary) + "\n";
  for (const std::string_view note : kNotes) text += '\n' + wrapped(note, 0, kHelpWidth) + '\n';
  forEachGroup(
      [&](std::string_view title) { text += "\n## " + std::string(title) + "\n\n" + std::string(kColumns); },
      [&](const OptionRow& row) { text += referenceRow(row); });
  text += "\n## Options of poprun simulate\n\n" + wrapped(kSimulateSummary, 0, kHelpWidth) +
          "\nThe [guide](../guide/pods.md) has the files.\n\n" + std::string(kColumns);
  for (const OptionRow& row : simulateTable()) text += referenceRow(row);
  return text +
         "\nConfiguration files, and the options of mpirun and horovodrun: "
         "[command_line](command_line.md).\n";
}

std::string manPage() {
  std::string text =
      ".\\\" SPDX-License-Identifier: Apache-2.0\n"
      ".\\\" Made by scripts/gen_options_doc from poprun/cli/option_rows.cpp.\n"
      ".TH POPRUN 1\n.SH NAME\npoprun \\- run a data\\-parallel program as several instances\n"
      ".SH SYNOPSIS\n" +
      roff(std::string(kUsage)) + "\n.br\n" + roff(std::string(kDoctorUsage)) + "\n.br\n" +
      roff(std::string(kSimulateUsage)) + "\n.SH DESCRIPTION\n" + roff(std::string(kSummary)) + '\n';
  for (const std::string_view note : kNotes) text += ".PP\n" + roff(std::string(note)) + '\n';
  text += ".SH OPTIONS\n";
  forEachGroup([&](std::string_view title) { text += ".SS " + roff(std::string(title)) + '\n'; },
               [&](const OptionRow& row) { text += manOption(row); });
  text += ".SH OPTIONS OF POPRUN SIMULATE\n" + roff(std::string(kSimulateSummary)) + '\n';
  for (const OptionRow& row : simulateTable()) text += manOption(row);
  return text +
         ".SH EXIT STATUS\n"
         "The program's: the code of the first instance that failed, or 128 plus the signal that killed it; "
         "0 if "
         "none failed.\n124 after \\fB\\-\\-timeout\\fR, 125 if poprun itself failed, 126 or 127 if the "
         "program "
         "cannot be started, 130 after Ctrl\\-C.\n";
}

std::string bashCompletion() {
  const BashParts job = bashParts(optionTable());
  const BashParts simulate = bashParts(simulateTable());
  return R"(# SPDX-License-Identifier: Apache-2.0
# Completion of poprun for bash. Made by scripts/gen_options_doc from poprun/cli/option_rows.cpp.

_poprun_names=')" +
         job.names + "'\n\n# Options that take the next word, whatever it is.\n_poprun_take_value=' " +
         job.take_value + " '\n" + R"(
_poprun_value() {
  local word=$2
  case $1 in
)" + job.cases +
         R"(    *) COMPREPLY=() ;;
  esac
}

# All of `poprun simulate`: no program follows.
_poprun_simulate_value() {
  local word=$2
  case $1 in
)" + simulate.cases +
         "    *) COMPREPLY=($(compgen -W '" + simulate.names + "' -- \"$word\")) ;;\n  esac\n}\n\n" +
         std::string(kCompletionCode);
}

}  // namespace pop::cli
