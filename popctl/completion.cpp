// SPDX-License-Identifier: Apache-2.0
#include "popctl/completion.h"

#include <map>
#include <set>
#include <vector>

#include "common/base/text.h"
#include "popctl/popctl_options.h"

namespace pop::popctl {
namespace {

constexpr const char* kHeader =
    "# SPDX-License-Identifier: Apache-2.0\n# Made by scripts/gen_options_doc from popctl's command table.\n";

std::string verbs() {
  std::string all;
  std::set<std::string> seen;
  for (const CommandWords& command : commandWords()) {
    if (seen.insert(command.verb).second) all += (all.empty() ? "" : " ") + command.verb;
  }
  return all;
}

std::map<std::string, std::string> nounsOfVerbs() {
  std::map<std::string, std::string> nouns;
  for (const CommandWords& command : commandWords()) {
    std::string& all = nouns[command.verb];
    for (const std::string& noun : command.nouns) all += (all.empty() ? "" : " ") + noun;
    if (command.verb == "completion") all = "bash zsh fish";
  }
  return nouns;
}

// A case of the shell for each command: what comes after it.
std::string cases() {
  std::string text;
  for (const CommandWords& command : commandWords()) {
    std::vector<std::string> patterns;
    for (const std::string& noun : command.nouns) patterns.push_back('"' + command.verb + ' ' + noun + '"');
    if (patterns.empty()) patterns.push_back(command.verb + "*");
    text += "    " + join(patterns, "|") + ") words=\"" + join(command.options, " ") + "\" ;;\n";
  }
  return text;
}

// Finds verb and noun among the words before the cursor; then the words that fit there.
std::string shellBody() {
  std::string text =
      "  local verb= noun= word skip= words=\n"
      "  for word in \"${before[@]}\"; do\n"
      "    if [ -n \"$skip\" ]; then skip=; continue; fi\n"
      "    case $word in\n"
      "      --server|--tls|--timeout|--reconnect) skip=yes ;;\n"
      "      -*) ;;\n"
      "      *) if [ -z \"$verb\" ]; then verb=$word; elif [ -z \"$noun\" ]; then noun=$word; fi ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$verb $noun\" in\n"
      "    \" \") words=\"" +
      verbs() + "\" ;;\n";
  for (const auto& [verb, nouns] : nounsOfVerbs()) {
    if (!nouns.empty()) text += "    \"" + verb + " \") words=\"" + nouns + "\" ;;\n";
  }
  return text + cases() + "  esac\n  words=\"$words " + join(commonOptionNames(), " ") + "\"\n";
}

std::string bashCompletion() {
  return std::string(kHeader) +
         "_popctl() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]}\n"
         "  local before=(\"${COMP_WORDS[@]:1:COMP_CWORD-1}\")\n" +
         shellBody() +
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _popctl popctl\n";
}

std::string zshCompletion() {
  return "#compdef popctl\n" + std::string(kHeader) +
         "_popctl() {\n"
         "  local -a before; before=(\"${(@)words[2,CURRENT-1]}\")\n"
         "  _popctl_words() {\n" +
         shellBody() +
         "    print -r -- \"$words\"\n"
         "  }\n"
         "  local fitting=\"$(_popctl_words)\"\n"
         "  compadd -- ${=fitting}\n"
         "}\n"
         "_popctl \"$@\"\n";
}

std::string fishCompletion() {
  std::string text = kHeader;
  const std::string no_verb = "not __fish_seen_subcommand_from " + verbs();
  std::set<std::string> seen;
  for (const CommandWords& command : commandWords()) {
    if (seen.insert(command.verb).second)
      text += "complete -c popctl -n '" + no_verb + "' -f -a " + command.verb + '\n';
    const std::string after = "__fish_seen_subcommand_from " + command.verb;
    for (const std::string& noun : command.nouns)
      text += "complete -c popctl -n '" + after + "' -f -a " + noun + " -d '" + command.description + "'\n";
    for (const std::string& option : command.options)
      text += "complete -c popctl -n '" + after + "' -l " + option.substr(2) + '\n';
  }
  text += "complete -c popctl -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n";
  for (const std::string& option : commonOptionNames())
    text += "complete -c popctl -l " + option.substr(2) + '\n';
  return text;
}

}  // namespace

std::string completionFor(const std::string& shell) {
  if (shell == "bash") return bashCompletion();
  if (shell == "zsh") return zshCompletion();
  if (shell == "fish") return fishCompletion();
  return {};
}

}  // namespace pop::popctl
