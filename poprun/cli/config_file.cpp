// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/config_file.h"

#include <utility>

#include "common/base/text.h"
#include "poprun/cli/shell_words.h"
#include "poprun/cli/word_reader.h"

namespace pop::cli {
namespace {

constexpr std::string_view kSection = "[program]";

bool needsQuotes(std::string_view value) {
  if (value.empty() || value.front() == '"' || trimmed(value).size() != value.size()) return true;
  return value.find_first_of("\n\r\t") != std::string_view::npos;
}

// Quotes are needed only for characters that would end the line or be trimmed.
std::string quoted(std::string_view value) {
  if (!needsQuotes(value)) return std::string(value);
  std::string text = "\"";
  for (const char c : value) {
    switch (c) {
      case '\n':
        text += "\\n";
        break;
      case '\r':
        text += "\\r";
        break;
      case '\t':
        text += "\\t";
        break;
      case '"':
      case '\\':
        text += '\\';
        [[fallthrough]];
      default:
        text += c;
    }
  }
  return text + '"';
}

// "2  # two" is not a number.
std::string aboutComments(std::string_view value) {
  const std::size_t sign = value.find('#');
  const bool is_comment =
      sign != std::string_view::npos && sign > 0 && (value[sign - 1] == ' ' || value[sign - 1] == '\t');
  return is_comment ? "; put comments on lines of their own" : "";
}

Result<std::string> unquoted(std::string_view value) {
  if (!value.starts_with('"')) return std::string(value);
  std::string text;
  std::size_t at = 1;
  for (; at < value.size() && value[at] != '"'; ++at) {
    if (value[at] != '\\') {
      text += value[at];
      continue;
    }
    if (++at == value.size()) break;
    const char c = value[at];
    text += c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
  }
  if (at + 1 == value.size()) return text;
  if (at >= value.size()) return invalidArgument("the value has an open quote");
  return invalidArgument("text after the closing quote" + aboutComments(value.substr(at + 1)));
}

class Parser {
 public:
  explicit Parser(std::string name) : name_(std::move(name)) {}

  ConfigFile parse(std::string_view text) {
    for (const std::string& line : split(text, '\n')) {
      ++line_;
      if (const Status status = readLine(trimmed(line)); !status.ok()) mistake(status.message());
    }
    shorten();
    return std::move(file_);
  }

 private:
  Status readLine(std::string_view line) {
    if (line.empty() || line.front() == '#') return {};
    if (line == kSection) {
      beginProgram();
      return {};
    }
    const std::size_t equals = line.find('=');
    if (line.front() == '[' || equals == std::string_view::npos) {
      return invalidArgument(inQuotes(line) + " is not `option = value`, [program] or a comment");
    }
    const std::string_view key = trimmed(line.substr(0, equals));
    POP_ASSIGN_OR_RETURN(const std::string value, unquoted(trimmed(line.substr(equals + 1))));
    if (value.find('\0') != std::string::npos) return invalidArgument("a value cannot hold a zero byte");
    return key == "command" ? readCommand(value) : readOption(key, value);
  }

  void beginProgram() {
    std::vector<std::string>& mistakes = file_.mistakes;
    if (in_section_) mistakes.insert(mistakes.end(), unless_alone_.begin(), unless_alone_.end());
    if (in_section_ || !programs().front().command.empty()) {
      unless_alone_.clear();
      programs().push_back({file_.assignments.every_program, {}});
    }
    in_section_ = true;
  }

  Status readCommand(const std::string& value) {
    POP_ASSIGN_OR_RETURN(programs().back().command, splitShell(value));
    return {};
  }

  Status readOption(std::string_view key, const std::string& value) {
    const std::string name = (key.starts_with('-') ? "" : key.size() == 1 ? "-" : "--") + std::string(key);
    const OptionRow* row = findOption(name);
    if (row == nullptr) {
      const std::string_view similar = similarOption(name);
      return invalidArgument(
          "no such option: " + inQuotes(key) +
          (similar.empty() ? "" : "; did you mean " + std::string(similar.substr(2)) + '?'));
    }
    const std::string shown(row->name);
    if (!row->traits.in_config) return invalidArgument(shown + " is for the command line only");
    if (in_section_ && !row->traits.per_program) {
      return invalidArgument(shown + " applies to all programs: put it before the first [program]");
    }
    if (shown == "--mpi-global-args" || shown == "--mpi-local-args") return readArguments(shown, value);
    Options options;  // is the value one at all?
    const Status status = row->codec.read({options, options.programs.front()}, value);
    if (!status.ok()) return invalidArgument(shown + ": " + status.message() + aboutComments(value));
    if (row->traits.per_program && !in_section_) {
      unless_alone_.push_back(here() + shown +
                              " applies to one program, and the file has several: put it below a [program]");
    }
    (row->traits.per_program ? programs().back().options : file_.assignments.job).push_back({row, value});
    return {};
  }

  // The options before the first [program].
  Status readArguments(const std::string& name, const std::string& value) {
    ReadWords words = WordReader(Spelling::kPoprun).readArguments(name, value);
    for (const std::string& each : words.mistakes) mistake(each);
    for (const std::string& each : words.warnings) file_.warnings.push_back(here() + each);
    append(wellSaid(words.assignments.job), file_.assignments.job);
    const std::vector<Assignment> of_programs = wellSaid(words.assignments.every_program);
    append(of_programs, file_.assignments.every_program);
    append(of_programs, programs().front().options);
    return {};
  }

  // The mistakes of the other options.
  std::vector<Assignment> wellSaid(std::vector<Assignment> assignments) {
    std::erase_if(assignments, [this](const Assignment& each) {
      Options options;
      const Status status = each.row->codec.read({options, options.programs.front()}, each.value);
      if (!status.ok()) mistake(std::string(each.row->name) + ": " + status.message());
      return !status.ok();
    });
    return assignments;
  }

  static void append(const std::vector<Assignment>& assignments, std::vector<Assignment>& to) {
    to.insert(to.end(), assignments.begin(), assignments.end());
  }

  // A file of another kind would have a mistake in every line.
  void shorten() {
    constexpr std::size_t kMostMistakes = 32;
    std::vector<std::string>& mistakes = file_.mistakes;
    if (mistakes.size() <= kMostMistakes) return;
    const std::size_t unsaid = mistakes.size() - kMostMistakes;
    mistakes.resize(kMostMistakes);
    mistakes.push_back(name_ + ": and " + std::to_string(unsaid) + " more mistakes");
  }

  std::string here() const { return name_ + ':' + std::to_string(line_) + ": "; }
  void mistake(const std::string& text) { file_.mistakes.push_back(here() + text); }
  std::vector<Assignments::Program>& programs() { return file_.assignments.programs; }

  const std::string name_;
  int line_ = 0;
  bool in_section_ = false;
  std::vector<std::string> unless_alone_;  ///< mistakes in what stands before the first of several [program]
  ConfigFile file_;
};

std::string keyOf(const OptionRow& row) {
  return std::string(row.name.substr(row.name.find_first_not_of('-')));
}

// The lines of the options for programs, or of the others.
std::string linesOf(ConstSettings settings, bool per_program) {
  const Options defaults;
  std::string text;
  for (const OptionRow& row : optionTable()) {
    if (!row.traits.in_config || row.traits.per_program != per_program) continue;
    const std::vector<std::string> unset = row.codec.write({defaults, defaults.programs.front()});
    const std::vector<std::string> values = row.codec.write(settings);
    if (values == unset && !per_program && !unset.empty()) {
      text += "# " + keyOf(row) + " = " + quoted(unset.front()) + '\n';
    }
    if (values == unset) continue;
    for (const std::string& value : values) text += keyOf(row) + " = " + quoted(value) + '\n';
  }
  return text;
}

}  // namespace

ConfigFile parseConfig(std::string_view text, const std::string& name) {
  return Parser(name).parse(text);
}

ConfigFile readConfigFile(const std::string& path, const FileReader& read) {
  Result<std::string> text = read(path);
  if (text.ok()) return parseConfig(*text, path);
  ConfigFile file;
  file.mistakes.push_back("--import-config: " + text.status().message());
  return file;
}

std::string configText(const Options& options) {
  std::string text =
      "# Options of poprun, for --import-config. Those on the command line override them.\n"
      "# Commented-out options have their defaults.\n\n";
  text += linesOf({options, options.programs.front()}, false);
  for (const ProgramOptions& program : options.programs) {
    text += '\n' + std::string(kSection) + '\n' + linesOf({options, program}, true);
    if (!program.command.empty()) text += "command = " + quoted(quoteShell(program.command)) + '\n';
  }
  return text;
}

Status writeConfigFile(const std::string& path, const std::string& text, bool overwrite) {
  const Status status = writeFileText(path, text, overwrite);
  if (status.ok()) return {};
  return {status.code(),
          "--export-config: " + status.message() +
              (status.code() == Code::kAlreadyExists ? " (--overwrite-config yes replaces it)" : "")};
}

}  // namespace pop::cli
