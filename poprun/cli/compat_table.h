// SPDX-License-Identifier: Apache-2.0
// Options of mpirun and horovodrun, and how poprun treats each: as its own options, with a warning, or as a
// mistake that says what to write instead.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pop::cli {

/// The launcher whose command line poprun reads, chosen by the name under which it was called. kHydra: that
/// of MPICH and its family. It reads the same options as kMpirun, Open MPI's.
enum class Spelling : std::uint8_t { kPoprun, kMpirun, kHydra, kHorovodrun };
Spelling spellingOf(std::string_view program_path);

enum class CompatAction : std::uint8_t {
  kSameAs,      ///< an option of poprun, with the same value; target: its name
  kMeans,       ///< target: options of poprun, "--name=value" separated by blanks
  kVariable,    ///< sets a variable of the program's environment; target: its name
  kMebibytes,   ///< the same, from MiB to bytes
  kSet,         ///< -env NAME VALUE, -env NAME=VALUE
  kForward,     ///< -envlist NAME,NAME
  kParameter,   ///< -mca NAME VALUE, for all programs; target: how the variable's name begins
  kRsh,         ///< an option of ssh with the same value; target: its name
  kInterfaces,  ///< network interfaces, as horovodrun tells them to the programs
  kBindTo,
  kMapBy,
  kArguments,  ///< options of mpirun in one word
  kTransport,  ///< about MPI's own transports: one warning for all
  kNothing,    ///< ignored: poprun works like that anyway
  kRefused,    ///< target: what to do instead
};

struct CompatRow {
  std::string_view names;  ///< separated by blanks
  int values = 0;          ///< number of words that follow; for kSet one, if that contains the value
  CompatAction action = CompatAction::kNothing;
  std::string_view target = {};
  bool in_arguments = false;   ///< also allowed within --mpi-global-args and --mpi-local-args
  bool every_program = false;  ///< kSet and kForward: for all programs, wherever it appears
};

/// The row of that launcher for `name`, dashes included; null if there is none. poprun itself also knows
/// mpirun's long names.
const CompatRow* findCompat(Spelling spelling, std::string_view name);

}  // namespace pop::cli
