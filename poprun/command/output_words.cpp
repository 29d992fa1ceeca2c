// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/output_words.h"

#include "poprun/cli/option_table.h"

namespace pop {

std::vector<std::string> outputWords(const Options& options) {
  std::vector<std::string> words;
  if (options.verbosity > 0) words.emplace_back(options.verbosity > 1 ? "-vv" : "-v");
  const Options defaults;
  const cli::ConstSettings unset{defaults, defaults.programs.front()};
  const cli::ConstSettings set{options, options.programs.front()};
  for (const cli::OptionRow& row : cli::optionTable()) {
    if (row.group != cli::Group::kOutput) continue;
    const std::vector<std::string> values = row.codec.write(set);
    if (values == row.codec.write(unset)) continue;
    for (const std::string& value : values) words.push_back(std::string(row.name) + '=' + value);
  }
  return words;
}

}  // namespace pop
