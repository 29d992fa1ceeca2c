// SPDX-License-Identifier: Apache-2.0
// PMI-1, by which programs of MPICH's family start, as the instances of one host speak it: a line in, a line
// out. Pure. docs/adr/0034 says what is answered, and what is refused.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/rendezvous/fence.h"
#include "common/ports/agent_port.h"
#include "common/ports/fence_bytes.h"

namespace pop::agent {

/// The instances as MPI sees them: their numbers are the ranks in MPI_COMM_WORLD.
struct PmiWorld {
  std::string name;  ///< no other job has it
  int size = 1;
  std::map<int, int> programs;  ///< of this host's instances: which of the job's programs each one runs
  std::string process_mapping;  ///< which of all share a host: process_mapping.h
};

/// The end of the job that an instance asks for.
struct PmiAbort {
  int instance = 0;
  int exit_code = 1;
  std::string message;
};

/// Effects of a line.
struct PmiOutcome {
  std::string answer;       ///< to the instance that has sent it, without a newline; empty: none
  std::string warning;      ///< to the user; empty: none
  bool is_garbage = false;  ///< nothing that follows can be understood: close the connection
  std::optional<PutValues> reached = {};  ///< all instances of this host are in the barrier
  std::optional<PmiAbort> abort = {};
};

class PmiSession {
 public:
  static constexpr std::string_view kBarrierOut = "cmd=barrier_out";

  explicit PmiSession(PmiWorld world) : world_(std::move(world)), fence_(world_.programs.size()) {}

  /// `instance` has sent `line`.
  PmiOutcome take(int instance, std::string_view line);
  /// `instance` has sent a line without an end.
  static PmiOutcome takeEndless(int instance);

  /// All instances of the job are in the barrier. Returns those of this host, to be sent kBarrierOut.
  std::vector<int> release(const PutValues& values);

  /// An instance of any host has ended. Nobody leaves a barrier without it: the job has to end if somebody is
  /// inside, or enters later.
  std::optional<PmiAbort> announce(const EndNotice& end_notice);

  /// The connection of `instance` is closed.
  void leave(int instance);

 private:
  struct Spawn {
    std::string commands;  ///< of one call of MPI_Comm_spawn_multiple
    std::string number;    ///< of the command that is being told
  };

  PmiOutcome init(int instance, std::string_view line);
  PmiOutcome put(int instance, std::string_view line);
  std::string valueOf(std::string_view key) const;
  PmiOutcome enterBarrier(int instance);
  PmiOutcome spawn(int instance, std::string_view line);
  std::optional<PmiAbort> abort(int instance, std::string_view line);
  std::optional<PmiAbort> whoWaits();
  std::optional<PmiAbort> once(PmiAbort abort);

  const PmiWorld world_;
  Fence fence_;
  FenceBytes bytes_{FenceBytes::kMost};  ///< put since a barrier was left
  std::map<int, Spawn> spawns_;          ///< by instance: told in part
  std::optional<int> ended_;             ///< the first instance that has
  bool aborted_ = false;                 ///< one report ends the job
};

}  // namespace pop::agent
