// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/context/launcher.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "common/base/text.h"

namespace popdist::context {
namespace {

using pop::contract::Lookup;

std::optional<std::int64_t> numberOf(const Lookup& lookup, const char* variable) {
  const char* const text = lookup(variable);
  if (text == nullptr) return std::nullopt;
  pop::Result<std::int64_t> number = pop::parseInteger(text);
  if (!number.ok() || *number < 0) return std::nullopt;
  return *number;
}

struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* also;  ///< set as well, where rank and size are names that any program may use
};

// Slurm is not here: the processes of the others may be children of its tasks.
constexpr std::array kLaunchers{
    Launcher{"mpirun of Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
    Launcher{"mpirun of MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", nullptr},
    Launcher{"mpirun of MVAPICH", "MVP_COMM_WORLD_RANK", "MVP_COMM_WORLD_SIZE", nullptr},
    Launcher{"jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", nullptr},
    Launcher{"Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", nullptr},
    Launcher{"horovodrun", "HOROVOD_RANK", "HOROVOD_SIZE", nullptr},
    Launcher{"torchrun", "RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
    Launcher{"a launcher for PyTorch", "RANK", "WORLD_SIZE", "MASTER_ADDR"},
    Launcher{"a launcher for PyTorch", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
    Launcher{"mpiexec (PMI)", "PMI_RANK", "PMI_SIZE", nullptr},
    Launcher{"mpiexec (PMI)", "PMI_ID", "PMI_SIZE", nullptr},
};

std::optional<ForeignRank> named(const char* launcher, const std::string& variables, std::int64_t rank,
                                 std::int64_t size) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  if (rank > kMost || size > kMost) return std::nullopt;
  return ForeignRank{launcher, variables, static_cast<int>(rank), static_cast<int>(size)};
}

// Batch scripts and the shells of salloc have step numbers at the end of the range, if any; task 0 of a step
// with a terminal is a shell.
std::optional<ForeignRank> rankOfSlurm(const Lookup& lookup) {
  constexpr std::int64_t kFirstSpecialStep = 0xFFFF'FFF0;
  const auto rank = numberOf(lookup, "SLURM_PROCID");
  if (!rank) return std::nullopt;
  const char* const of_step = "SLURM_STEP_NUM_TASKS";
  const char* const size_variable = lookup(of_step) != nullptr ? of_step : "SLURM_NTASKS";
  const auto size = numberOf(lookup, size_variable);
  if (!size || *size < 2) return std::nullopt;
  const auto step = numberOf(lookup, "SLURM_STEP_ID");
  const bool may_be_shell = !step || *step >= kFirstSpecialStep || lookup("SLURM_PTY_PORT") != nullptr;
  if (*rank == 0 && may_be_shell) return std::nullopt;
  return named("srun", std::string("SLURM_PROCID, ") + size_variable, *rank, *size);
}

// These do not say the number of ranks, so that only the others can be told from a single one.
std::optional<ForeignRank> rankWithoutSize(const Lookup& lookup) {
  struct Rank {
    const char* launcher;
    const char* variable;
    const char* also;
  };
  constexpr std::array kRanks{Rank{"a launcher with PMIx", "PMIX_RANK", "PMIX_NAMESPACE"},
                              Rank{"mpiexec (PALS)", "PALS_RANKID", nullptr},
                              Rank{"aprun", "ALPS_APP_PE", nullptr}};
  for (const Rank& each : kRanks) {
    const auto rank = numberOf(lookup, each.variable);
    if (rank && *rank > 0 && (each.also == nullptr || lookup(each.also) != nullptr))
      return named(each.launcher, each.variable, *rank, 0);
  }
  return std::nullopt;
}

}  // namespace

std::optional<ForeignRank> foreignRank(const Lookup& lookup) {
  bool any = false;
  for (const Launcher& each : kLaunchers) {
    const auto rank = numberOf(lookup, each.rank);
    const auto size = numberOf(lookup, each.size);
    if (!rank || !size || (each.also != nullptr && lookup(each.also) == nullptr)) continue;
    if (*size > 1) return named(each.name, std::string(each.rank) + ", " + each.size, *rank, *size);
    any = true;
  }
  if (any) return std::nullopt;
  if (std::optional<ForeignRank> slurm = rankOfSlurm(lookup)) return slurm;
  return rankWithoutSize(lookup);
}

pop::Status checkStartedAlone(const Lookup& lookup) {
  const std::optional<ForeignRank> foreign = foreignRank(lookup);
  if (!foreign) return {};
  const std::string size = foreign->size == 0 ? "" : std::to_string(foreign->size);
  return pop::failedPrecondition(
      foreign->launcher + " started this process as rank " + std::to_string(foreign->rank) + " of " +
      (size.empty() ? "several" : size) + " (" + foreign->variables +
      "), and libpopdist cannot join them by that: each would be a job of its own. Start the program with "
      "poprun --num-instances " +
      (size.empty() ? "N" : size) +
      " in its place, or give the instances' addresses by TF_CONFIG (setTfConfig) or a resolver. "
      "POPDIST_NUM_TOTAL_REPLICAS=1 says that each process is to be alone");
}

pop::Status checkStartedAlone() {
  return checkStartedAlone([](const char* name) { return std::getenv(name); });
}

}  // namespace popdist::context
