// SPDX-License-Identifier: Apache-2.0
// The groups of environment variables for frameworks other than PopDist, whose variables are always set.
// --env-for chooses among the groups.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "common/base/status.h"

namespace pop::contract {

enum class EnvFamily : std::uint8_t {
  kPoplar,      ///< IPUOF_*, POPLAR_TARGET_OPTIONS
  kTensorFlow,  ///< TF_CONFIG
  kPyTorch,     ///< RANK, WORLD_SIZE, MASTER_ADDR, …
  kHorovod,     ///< HOROVOD_RANK, …
  kJax,         ///< JAX_COORDINATOR_ADDRESS, …
  kOpenMpi,     ///< OMPI_COMM_WORLD_RANK, …
  kSlurm,       ///< SLURM_PROCID, SLURM_LOCALID, …
  kOpenMp,      ///< OMP_NUM_THREADS
  kPmi,         ///< PMI_FD, …: MPICH and its relatives start as one world
  kPmix,        ///< PMIX_*, …: so does Open MPI
};
using EnvFamilies = std::set<EnvFamily>;

/// Every family: the default.
const EnvFamilies& allEnvFamilies();

/// "tensorflow,pytorch", "all", "none" (PopDist's own only). kInvalidArgument names the word and the choices.
Result<EnvFamilies> parseEnvFamilies(std::string_view text);

/// The inverse of parseEnvFamilies.
std::string envFamiliesText(const EnvFamilies& families);

}  // namespace pop::contract
