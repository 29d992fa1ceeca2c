// SPDX-License-Identifier: Apache-2.0
// Reads the words of a command line: options of poprun, the programs, and the programs' own arguments.
// Returns assignments to poprun's own options, in whichever launcher's spelling they were written.
// docs/adr/0032 says why it uses no library.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "poprun/cli/assignments.h"
#include "poprun/cli/compat_table.h"
#include "poprun/cli/option_table.h"

namespace pop::cli {

struct ReadWords {
  Assignments assignments;
  std::vector<std::string> mistakes;
  std::vector<std::string> warnings;
  /// An option and its optional value, if they are the last words: the value may have been meant as the
  /// program.
  std::vector<std::string> ends_in_value = {};
  std::string program_hint = {};  ///< a program that may have been meant by the word; or empty
};

/// Number of `words`, which begin with an option in poprun's own spelling, that are the option and its
/// values.
std::size_t wordsOfOption(std::span<const std::string> words);

class WordReader {
 public:
  explicit WordReader(Spelling spelling) : spelling_(spelling) {}

  /// Reads a whole command line, without poprun's own name.
  ReadWords read(const std::vector<std::string>& words);

  /// Reads only the value of --mpi-global-args or --mpi-local-args.
  ReadWords readArguments(std::string_view option, const std::string& value);

 private:
  using Word = std::vector<std::string>::const_iterator;
  struct Option {
    std::string name;                  ///< as it was written
    std::optional<std::string> value;  ///< after '='
  };

  std::vector<Assignments::Program>& programs() { return read_.assignments.programs; }

  void readProgram();
  bool atOption() const;
  void readOption();
  void readOwn(const Option& option, const OptionRow& row);
  void readCompat(const Option& option, const CompatRow& row);
  void unknown(const Option& option);
  bool isKnown(const std::string& word) const;
  void hintAt(const OptionRow& row, const Option& option);

  void takeArguments(std::string_view option, const std::string& value);
  std::optional<std::string> takeValue(const Option& option);
  void apply(const CompatRow& row, const std::string& name, const std::vector<std::string>& values);
  void applyMeaning(std::string_view target, const std::string& name);
  void applyMapBy(const std::string& name, const std::string& value);
  void modifyMapping(const std::string& name, const std::string& modifier);
  void applyParameter(const std::string& prefix, const std::string& name,
                      const std::vector<std::string>& values);
  void applyInterfaces(const CompatRow& row, const std::string& name, const std::string& value);
  void applyBindTo(const std::string& name, const std::string& value);
  void emit(const OptionRow& row, const std::string& written_name, std::string value);
  void emitForAll(const OptionRow& row, const std::string& value);
  void emitVariable(const CompatRow& written, const std::string& written_name, std::string value);
  bool isBeforePrograms(const std::string& written_name);
  void mistake(const std::string& name, std::string_view text);
  void finish();

  const Spelling spelling_;
  std::string within_;  ///< the option whose value is being read; empty: the command line itself
  Word next_;
  Word end_;
  ReadWords read_;
  std::vector<std::string> transports_;
  std::string rsh_;            ///< MPI's program to reach hosts; empty: ssh
  std::string rsh_arguments_;  ///< each with a blank before it
  std::string bind_to_;
  std::string map_by_;
  std::string cores_;          ///< :PE=n
  std::size_t placed_at_ = 0;  ///< among the job's options, so that a --process-placement after it wins
};

}  // namespace pop::cli
