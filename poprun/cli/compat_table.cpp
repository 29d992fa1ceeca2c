// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/compat_table.h"

#include <algorithm>
#include <array>
#include <span>

#include "common/base/text.h"
#include "poprun/cli/option_table.h"

namespace pop::cli {
namespace {

using enum CompatAction;

constexpr std::string_view kElastic = "the number of instances cannot change while a job runs; use -np";

// Open MPI's, and what MPICH's mpiexec writes otherwise.
constexpr std::array kMpirunRows{
    CompatRow{"-x", 1, kSameAs, "-x", true},
    CompatRow{"--wdir --wd", 1, kSameAs, "--wdir", true},
    CompatRow{"--tag-output", 0, kMeans, "--tag-output=mpi", true},
    CompatRow{"--timestamp-output", 0, kMeans, "--timestamp-output=yes", true},
    CompatRow{"--output-filename --output-directory", 1, kSameAs, "--output-filename", true},
    CompatRow{"--allow-run-as-root", 0, kMeans, "--allow-run-as-root=yes", true},
    CompatRow{"--report-bindings", 0, kMeans, "--report-bindings=yes", true},
    CompatRow{"--oversubscribe", 0, kMeans, "--oversubscribe=yes", true},
    CompatRow{"--nooversubscribe", 0, kMeans, "--oversubscribe=no", true},
    CompatRow{"--bind-to", 1, kBindTo, "", true},
    CompatRow{"--map-by", 1, kMapBy, "", true},
    CompatRow{"--bind-to-none", 0, kMeans, "--process-placement=disabled", true},
    CompatRow{"--bind-to-core --bycore", 0, kMeans, "--process-placement=compact --cores-per-instance=1",
              true},
    CompatRow{"--bind-to-socket --bysocket", 0, kMeans, "--process-placement=spreadnuma", true},
    CompatRow{"--mca --gmca --omca", 2, kParameter, "OMPI_MCA_", true},
    CompatRow{"--pmixmca --gpmixmca", 2, kParameter, "PMIX_MCA_", true},
    CompatRow{"--prtemca", 2, kTransport, "", true},
    CompatRow{"--am --tune --prefix --launch-agent --launcher-exec --bootstrap-exec --plm-rsh-agent "
              "--mca-base-env-list",
              1, kTransport, "", true},
    CompatRow{"--iface", 1, kSameAs, "--host-subnet", true},
    CompatRow{"--launcher --bootstrap --rmk", 1, kNothing},
    CompatRow{"--disable-hostname-propagation --noprefix", 0, kTransport, "", true},
    CompatRow{"--disable-recovery", 0, kNothing, "", true},
    CompatRow{"--enable-recovery --continuous --disable-auto-cleanup", 0, kRefused,
              "the first failure ends the job; --max-restarts starts it again", true},
    CompatRow{"--merge-stderr-to-stdout", 0, kRefused, "end the command line with 2>&1", true},
    CompatRow{"-c --n --np", 1, kSameAs, "--num-instances"},
    CompatRow{"--hosts -H --host", 1, kSameAs, "--host"},
    CompatRow{"--machinefile -f --hostfile --default-hostfile", 1, kSameAs, "--hostfile"},
    CompatRow{"--display-map --display-allocation --display-devel-map --display-topo", 0, kMeans,
              "--print-topology=yes"},
    CompatRow{"--cpu-set --cpu-list", 1, kSameAs, "--process-placement"},
    CompatRow{"--info", 0, kMeans, "--version --version-format=full-text"},
    CompatRow{"--get-stack-traces", 0, kMeans, "--stack-traces=yes"},
    CompatRow{"--prepend-rank -l", 0, kMeans, "--tag-output=instance"},
    CompatRow{"--genv", 2, kSet, "", false, true},
    CompatRow{"--genvlist", 1, kForward, "", false, true},
    CompatRow{"--genvall --envall", 0, kMeans, "--genvall=yes"},
    CompatRow{"--env", 2, kSet},
    CompatRow{"--envlist", 1, kForward},
    CompatRow{"--max-restarts", 1, kSameAs, "--max-restarts"},
    CompatRow{"-q --quiet --do-not-resolve --leave-session-attached --novm "
              "--use-hwthread-cpus",
              0, kNothing},
    CompatRow{"--forward-signals", 1, kNothing},
    CompatRow{"--nolocal --no-local", 0, kRefused,
              "name the other hosts with --host or --hostfile, and this one not", true},
    CompatRow{"-N --npernode --ppn --perhost --nproc-per-node --nproc_per_node", 1, kSameAs,
              "--instances-per-host"},
    CompatRow{"--pernode", 0, kMeans, "--instances-per-host=1"},
    CompatRow{"--bynode", 0, kMeans, "--instances-per-host=even"},
    CompatRow{"--byslot", 0, kNothing},
    CompatRow{"--npersocket --ppr", 1, kRefused, "give the number for a host: --map-by ppr:N:node"},
    CompatRow{"--genvnone --envnone", 0, kRefused, "start it with an empty environment: env -i mpirun …"},
    CompatRow{"--cpus-per-proc --cpus-per-rank", 1, kRefused, "write --map-by slot:PE=n"},
    CompatRow{"--rankfile --rank-by --ranks-per-proc", 1, kRefused,
              "instances follow each other on the hosts; --process-placement takes CPU lists"},
    CompatRow{"--app --configfile", 1, kRefused,
              "write the programs on the command line, separated by ':', or use "
              "--import-config"},
    CompatRow{"--xterm --debugger --output-proctable", 1, kRefused,
              "attach a debugger to the pids that --vv prints"},
    CompatRow{"--display", 1, kRefused, "use --print-topology, --report-bindings or --dry-run"},
};

constexpr std::array kHorovodrunRows{
    CompatRow{"-np --num-proc", 1, kSameAs, "--num-instances"},
    CompatRow{"-H --hosts", 1, kSameAs, "--host"},
    CompatRow{"--hostfile", 1, kSameAs, "--hostfile"},
    CompatRow{"-v", 0, kMeans, "--version"},
    CompatRow{"-cb --check-build", 0, kMeans, "--version --version-format=full-text"},
    CompatRow{"--prefix-output-with-timestamp -prefix-timestamp", 0, kMeans, "--timestamp-output=yes"},
    CompatRow{"--mpi-args", 1, kArguments},
    CompatRow{"--mpi", 0, kMeans, "-x=HOROVOD_CONTROLLER=mpi -x=HOROVOD_CPU_OPERATIONS=mpi"},
    CompatRow{"--gloo --disable-cache --no-autotune --no-timeline-mark-cycles --stall-check "
              "--no-mpi-threads-disable",
              0, kNothing},
    CompatRow{"-p --ssh-port", 1, kRsh, "-p"},
    CompatRow{"-i --ssh-identity-file", 1, kRsh, "-i"},
    CompatRow{"--start-timeout", 1, kSameAs, "--connect-timeout"},
    CompatRow{"--output-limit", 1, kNothing},
    CompatRow{"--network-interface --network-interfaces --nics", 1, kInterfaces},
    CompatRow{"--fusion-threshold-mb", 1, kMebibytes, "HOROVOD_FUSION_THRESHOLD"},
    CompatRow{"--cycle-time-ms", 1, kVariable, "HOROVOD_CYCLE_TIME"},
    CompatRow{"--cache-capacity", 1, kVariable, "HOROVOD_CACHE_CAPACITY"},
    CompatRow{"--timeline-filename", 1, kVariable, "HOROVOD_TIMELINE"},
    CompatRow{"--log-level", 1, kVariable, "HOROVOD_LOG_LEVEL"},
    CompatRow{"--num-nccl-streams", 1, kVariable, "HOROVOD_NUM_NCCL_STREAMS"},
    CompatRow{"--thread-affinity", 1, kVariable, "HOROVOD_THREAD_AFFINITY"},
    CompatRow{"--autotune-log-file", 1, kVariable, "HOROVOD_AUTOTUNE_LOG"},
    CompatRow{"--autotune-warmup-samples", 1, kVariable, "HOROVOD_AUTOTUNE_WARMUP_SAMPLES"},
    CompatRow{"--autotune-steps-per-sample", 1, kVariable, "HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE"},
    CompatRow{"--autotune-bayes-opt-max-samples", 1, kVariable, "HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES"},
    CompatRow{"--autotune-gaussian-process-noise", 1, kVariable, "HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE"},
    CompatRow{"--gloo-timeout-seconds", 1, kVariable, "HOROVOD_GLOO_TIMEOUT_SECONDS"},
    CompatRow{"--stall-check-warning-time-seconds", 1, kVariable, "HOROVOD_STALL_CHECK_TIME_SECONDS"},
    CompatRow{"--stall-check-shutdown-time-seconds", 1, kVariable, "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS"},
    CompatRow{"--hierarchical-allreduce", 0, kMeans, "-x=HOROVOD_HIERARCHICAL_ALLREDUCE=1"},
    CompatRow{"--hierarchical-allgather", 0, kMeans, "-x=HOROVOD_HIERARCHICAL_ALLGATHER=1"},
    CompatRow{"--no-hierarchical-allreduce", 0, kMeans, "-x=HOROVOD_HIERARCHICAL_ALLREDUCE=0"},
    CompatRow{"--no-hierarchical-allgather", 0, kMeans, "-x=HOROVOD_HIERARCHICAL_ALLGATHER=0"},
    CompatRow{"--mpi-threads-disable", 0, kMeans, "-x=HOROVOD_MPI_THREADS_DISABLE=1"},
    CompatRow{"--tcp", 0, kMeans, "-x=NCCL_IB_DISABLE=1"},
    CompatRow{"--autotune", 0, kMeans, "-x=HOROVOD_AUTOTUNE=1"},
    CompatRow{"--timeline-mark-cycles", 0, kMeans, "-x=HOROVOD_TIMELINE_MARK_CYCLES=1"},
    CompatRow{"--no-stall-check", 0, kMeans, "-x=HOROVOD_STALL_CHECK_DISABLE=1"},
    CompatRow{"--log-with-timestamp --no-log-hide-timestamp", 0, kMeans, "-x=HOROVOD_LOG_HIDE_TIME=0"},
    CompatRow{"--log-hide-timestamp --log-without-timestamp", 0, kMeans, "-x=HOROVOD_LOG_HIDE_TIME=1"},
    CompatRow{"--binding-args", 1, kArguments},
    CompatRow{"--jsrun", 0, kRefused, "poprun does not use jsrun: leave it out"},
    CompatRow{"--config-file", 1, kRefused, "its format is different: use --import-config"},
    CompatRow{"--min-np --min-num-proc --max-np --max-num-proc --host-discovery-script --slots-per-host "
              "--slots --elastic-timeout --reset-limit",
              1, kRefused, kElastic},
    CompatRow{"--blacklist-cooldown-range", 2, kRefused, kElastic},
};

const CompatRow* findIn(std::span<const CompatRow> rows, std::string_view name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const CompatRow& row) { return isAmong(row.names, name); });
  return found == rows.end() ? nullptr : &*found;
}

// mpirun writes long names with one dash too: -mca, -hostfile, -genv.
const CompatRow* findLoosely(std::span<const CompatRow> rows, std::string_view name) {
  if (const CompatRow* row = findIn(rows, name)) return row;
  if (name.size() < 3 || name[1] == '-') return nullptr;
  return findIn(rows, '-' + std::string(name));
}

}  // namespace

// "mpirun", "mpirun.openmpi", "mpiexec.hydra": Debian's names end in that of the MPI.
Spelling spellingOf(std::string_view program_path) {
  const std::string_view name = program_path.substr(program_path.rfind('/') + 1);
  if (name == "horovodrun") return Spelling::kHorovodrun;
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string_view mpi = name.substr(dot);
  if (!isAmong("mpirun mpiexec orterun prterun", name.substr(0, dot)) || dot == 0) return Spelling::kPoprun;
  if (mpi.empty() || mpi == ".openmpi") return Spelling::kMpirun;
  return isAmong(".hydra .mpich .mvapich", mpi) ? Spelling::kHydra : Spelling::kPoprun;
}

const CompatRow* findCompat(Spelling spelling, std::string_view name) {
  if (name.size() < 2 || name.find(' ') != std::string_view::npos) return nullptr;
  switch (spelling) {
    case Spelling::kMpirun:
    case Spelling::kHydra:
      return findLoosely(kMpirunRows, name);
    case Spelling::kHorovodrun:
      return findLoosely(kHorovodrunRows, name);
    case Spelling::kPoprun:
      return name.size() > 2 ? findLoosely(kMpirunRows, name) : nullptr;
  }
  return nullptr;
}

}  // namespace pop::cli
