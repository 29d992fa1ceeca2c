// SPDX-License-Identifier: Apache-2.0
// Launchers other than poprun, by the variables that they set. Their ranks are refused: each would be a job
// of its own, in silence.
#pragma once

#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/contract/env_contract.h"

namespace popdist::context {

/// This process is one of several of another launcher.
struct ForeignRank {
  std::string launcher;   ///< "mpirun of Open MPI"
  std::string variables;  ///< that say so: "OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE"
  int rank = 0;
  int size = 0;  ///< 0: the environment does not say it
};

/// Nothing: no launcher, or one with a single rank. Where several are nested, such as torchrun in a step of
/// Slurm, the inner one counts. A batch script and an interactive shell of Slurm are no ranks.
std::optional<ForeignRank> foreignRank(const pop::contract::Lookup& lookup);

/// kFailedPrecondition if this process is a foreign rank: names the launcher and the ways out.
pop::Status checkStartedAlone(const pop::contract::Lookup& lookup);
/// The same for this process's environment.
pop::Status checkStartedAlone();

}  // namespace popdist::context
