// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/option_table.h"

#include <algorithm>
#include <array>

#include "common/base/similar_word.h"
#include "common/base/text.h"

namespace pop::cli {
bool isAmong(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

std::span<const GroupTitle> groupTitles() {
  static constexpr std::array kTitles{
      GroupTitle{Group::kGeneric, "Generic options"},
      GroupTitle{Group::kJob, "The job"},
      GroupTitle{Group::kPlacement, "Hosts and placement"},
      GroupTitle{Group::kHosts, "Reaching other hosts"},
      GroupTitle{Group::kProgram, "The program's environment"},
      GroupTitle{Group::kOutput, "Output"},
      GroupTitle{Group::kLife, "Limits and restarts"},
      GroupTitle{Group::kDetached, "Detached jobs and popdistd"},
      GroupTitle{Group::kDebug, "Debug options"},
      GroupTitle{Group::kConfiguration, "Configuration files"},
      GroupTitle{Group::kPartition, "V-IPU partition"},
      GroupTitle{Group::kMpi, "Options of mpirun"},
  };
  return kTitles;
}

const OptionRow* findOption(std::string_view name) {
  for (const OptionRow& row : optionTable()) {
    if (row.name == name || isAmong(row.other_names, name)) return &row;
  }
  return nullptr;
}

std::string_view similarOption(std::string_view name) {
  if (name.size() < 5) return {};  // with its two dashes
  std::vector<std::string_view> names;
  for (const OptionRow& row : optionTable()) names.push_back(row.name);
  return similarWord(name, names);
}

bool isValueOf(const OptionRow& row, std::string_view word) {
  const std::string_view end = row.traits.value_end;
  if (!end.empty()) return word.size() > end.size() && word.ends_with(end);
  return isAmong(row.traits.words, word) || parseBool(word).ok();
}

std::vector<std::string> namesOf(const OptionRow& row) {
  std::vector<std::string> names{std::string(row.name)};
  if (!row.other_names.empty()) {
    for (std::string& name : split(row.other_names, ' ')) names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> wordsOf(const OptionRow& row) {
  if (!row.traits.words.empty()) return split(row.traits.words, ' ');
  if (row.traits.rule == ValueRule::kOptional && row.traits.value_end.empty()) return {"yes", "no"};
  return {};
}

}  // namespace pop::cli
