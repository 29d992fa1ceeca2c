// SPDX-License-Identifier: Apache-2.0
// The one table of poprun's options. Parsing, configuration files, --help, the reference page, the man page
// and the shell completion are all made from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "poprun/plan/settings.h"

namespace pop::cli {

/// The Pods that can be emulated, separated by blanks.
inline constexpr std::string_view kPodNames =
    "pod4 pod16 pod64 pod128 pod256 bow-pod16 bow-pod64 bow-pod128 bow-pod256 mk1-16 mk1-64 pod64-torus "
    "pod64-twist pod1024 pod4096 pod16384 pod65536";

/// Headings, in the order in which they are printed.
enum class Group : std::uint8_t {
  kGeneric,
  kJob,
  kPlacement,
  kHosts,
  kProgram,
  kOutput,
  kLife,
  kDetached,
  kDebug,
  kConfiguration,
  kPartition,
  kMpi,
  kSimulate,  ///< of `poprun simulate` only: see simulate_options.h
};
struct GroupTitle {
  Group group;
  std::string_view title;
};
std::span<const GroupTitle> groupTitles();

enum class ValueRule : std::uint8_t {
  kNone,      ///< a flag
  kOptional,  ///< a boolean, or one of `words`, or with `value_end`; left out: yes
  kRequired,
};

/// Shell completion's offer for a value in addition to `words`.
enum class Hint : std::uint8_t { kNone, kFile, kDirectory };

/// The target of reading an option and the source of writing it: the settings of the job and of the current
/// program.
struct Settings {
  Options& options;
  ProgramOptions& program;
};
struct ConstSettings {
  const Options& options;
  const ProgramOptions& program;
};

/// Converts a value from and to text. `write` returns one item for each occurrence of the option; reading
/// them gives the same settings.
struct Codec {
  Status (*read)(Settings settings, const std::string& value);
  std::vector<std::string> (*write)(ConstSettings settings);
};

/// Properties of options that differ from those of most.
struct OptionTraits {
  ValueRule rule = ValueRule::kRequired;
  std::string_view words = {};   ///< the possible values, separated by blanks, if they can be listed
  bool list = false;             ///< several of them may be given, separated by commas
  std::string_view others = {};  ///< a description of the values besides `words`
  Hint hint = Hint::kNone;
  bool per_program = false;        ///< can be set for each program
  bool in_config = true;           ///< allowed in a configuration file
  bool repeatable = false;         ///< every occurrence counts, not only the last
  std::string_view excludes = {};  ///< the option that this one excludes
  /// With kOptional: a value is a word with this end, and no boolean.
  std::string_view value_end = {};
};

struct OptionRow {
  Group group;
  std::string_view name;         ///< "--host"
  std::string_view other_names;  ///< "-H", separated by blanks
  std::string_view value_name;   ///< "HOSTS"; of a flag: ""
  std::string_view default_text;
  std::string_view description;  ///< begins with a small letter, has no full stop
  Codec codec;
  OptionTraits traits = {};
};

/// Every option: groups in order.
std::span<const OptionRow> optionTable();

/// The row with this `name`, dashes included; null if there is none.
const OptionRow* findOption(std::string_view name);

/// The name of an option that is similar to `name`; empty if there is none.
std::string_view similarOption(std::string_view name);

/// True if `word`, which follows an option whose value may be left out, is its value.
bool isValueOf(const OptionRow& row, std::string_view word);

/// All names of the option.
std::vector<std::string> namesOf(const OptionRow& row);

/// The values that can be listed: `words`, and yes and no for booleans.
std::vector<std::string> wordsOf(const OptionRow& row);

/// True if `word` is one of `words`, which blanks separate.
bool isAmong(std::string_view words, std::string_view word);

}  // namespace pop::cli
