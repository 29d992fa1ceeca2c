// SPDX-License-Identifier: Apache-2.0
// What users of mpirun and horovodrun write, and what becomes of it: poprun's own options, a warning, or a
// mistake that says what to write instead.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pop::cli {

/// Whose command line it is, by the name under which poprun was called.
enum class Spelling : std::uint8_t { kPoprun, kMpirun, kHorovodrun };
Spelling spellingOf(std::string_view program_path);

enum class CompatAction : std::uint8_t {
  kSameAs,     ///< an option of poprun, with the same value; target: its name
  kMeans,      ///< target: options of poprun, "--name=value" separated by blanks
  kVariable,   ///< sets a variable of the program's environment; target: its name
  kMebibytes,  ///< the same, from MiB to bytes
  kSet,        ///< -env NAME VALUE, -env NAME=VALUE
  kForward,    ///< -envlist NAME,NAME
  kBindTo,
  kMapBy,
  kArguments,  ///< options of mpirun in one word
  kTransport,  ///< about MPI's own transports: one warning for all
  kNothing,    ///< nothing to do: poprun works so anyway
  kRefused,    ///< target: what to do instead
};

struct CompatRow {
  std::string_view names;  ///< separated by blanks
  int values = 0;          ///< words that follow; of kSet one, if it holds the value, too
  CompatAction action = CompatAction::kNothing;
  std::string_view target = {};
  bool in_arguments = false;   ///< also honoured within --mpi-global-args and --mpi-local-args
  bool every_program = false;  ///< kSet and kForward: in all programs, wherever it stands
};

/// The row of that launcher's `name`, dashes included; null if it has none. poprun itself knows the long
/// names of mpirun's.
const CompatRow* findCompat(Spelling spelling, std::string_view name);

/// "a,a,b" → "a:2,b:1": for mpirun and horovodrun, a host that is named twice has two slots.
std::string withCountedHosts(const std::string& hosts);

/// "a,b" → "a:1,b:1", unless slots are given already.
std::string withOneSlotEach(const std::string& hosts);

}  // namespace pop::cli
