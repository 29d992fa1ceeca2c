// SPDX-License-Identifier: Apache-2.0
// The rows of the table. Adding an option is adding its row here and its field to poprun/plan/settings.h.
#include <limits>

#include "poprun/cli/codecs.h"
#include "poprun/cli/option_table.h"

namespace pop::cli {
namespace {

using model::PartitionRequest;

constexpr int kMost = std::numeric_limits<int>::max();
constexpr auto kFlag = ValueRule::kNone;
constexpr auto kOptional = ValueRule::kOptional;

using enum Group;

// As a table, one row after the other.
// clang-format off
const OptionRow kRows[] = {
    {kGeneric, "--help", "-h", "", "", "print this text and exit", flag<&Options::help>(),
     {.rule = kFlag, .in_config = false}},
    {kGeneric, "--version", "-V", "", "", "print the version and exit", flag<&Options::version>(),
     {.rule = kFlag, .in_config = false}},
    {kGeneric, "--version-format", "", "FORMAT", "text",
     "what --version prints; full-text and full-json: the versions of all that poprun is made of, too",
     versionFormat(), {.words = "text full-text full-json", .in_config = false}},
    {kGeneric, "--verbose", "-v", "", "", "say what the job does", verbose(), {.rule = kFlag}},
    {kGeneric, "--vv", "-vv", "", "", "say every event with its time, and print the topology",
     veryVerbose(), {.rule = kFlag}},

    {kJob, "--num-instances", "-np -n --np", "N", "1, or the sum of the hosts' slots",
     "processes of the program, divided evenly over the hosts", integer<&ProgramOptions::num_instances>(),
     {.per_program = true}},
    {kJob, "--num-replicas", "", "N", "as many as instances",
     "copies of the model in all, divided evenly over the instances", integer<&Options::num_replicas>()},
    {kJob, "--uneven-replicas", "", "BOOL", "no",
     "if replicas do not divide evenly, the first instances have one more than the others",
     boolean<&Options::uneven_replicas>(), {.rule = kOptional}},
    {kJob, "--ipus-per-replica", "", "N", "1", "IPUs of one replica, a power of two",
     integer<&Options::ipus_per_replica>()},
    {kJob, "--num-ilds", "", "N", "as many as the IPUs need",
     "IPU-Link domains, among which the instances are divided evenly", integer<&Options::num_ilds>()},
    {kJob, "--system", "", "POD", "the smallest pod that fits",
     "Pod to emulate, such as pod16 or bow-pod64", text<&Options::system>(),
     {.words = "pod4 pod16 pod64 pod128 pod256 bow-pod16 bow-pod64 bow-pod128 bow-pod256"}},
    {kJob, "--offline-mode", "", "BOOL", "no", "run without attaching to any IPU",
     boolean<&Options::offline_mode>(), {.rule = kOptional}},

    {kPlacement, "--host", "-H", "HOSTS", "localhost",
     "hosts, separated by commas; 'host[0-2,4]' is a range, in quotes, or the shell expands it; name:N gives "
     "a host N slots",
     text<&Options::host>(), {.excludes = "--hostfile"}},
    {kPlacement, "--hostfile", "", "FILE", "", "hosts, one per line, each with or without slots=N",
     text<&Options::hostfile>(), {.hint = Hint::kFile, .excludes = "--host"}},
    {kPlacement, "--oversubscribe", "", "BOOL", "no",
     "if there are more instances than slots, divide them evenly over the hosts",
     boolean<&Options::oversubscribe>(), {.rule = kOptional}},
    {kPlacement, "--host-subnet", "", "CIDR", "deduced", "network between the hosts, such as 10.1.0.0/16",
     hostSubnet()},
    {kPlacement, "--synchronise", "", "PATH", "",
     "copy a file or directory to the same place on every other host before the job starts; may be repeated",
     synchronisedPath(), {.hint = Hint::kFile, .repeatable = true}},
    {kPlacement, "--synchronise-python-venv", "", "BOOL", "no",
     "copy the active Python environment (VIRTUAL_ENV) to every other host",
     boolean<&Options::synchronise_python_venv>(), {.rule = kOptional}},
    {kPlacement, "--synchronise-poplar-sdk", "", "BOOL", "no",
     "copy the enabled Poplar SDK (POPLAR_SDK_ENABLED) to every other host",
     boolean<&Options::synchronise_poplar_sdk>(), {.rule = kOptional}},
    {kPlacement, "--distribute-ssh-key", "", "BOOL", "no",
     "let every other host accept the user's ssh key; asks for a password where it does not yet",
     boolean<&Options::distribute_ssh_key>(), {.rule = kOptional}},
    {kPlacement, "--process-placement", "", "HOW", "spreadnuma",
     "CPUs and memory of each instance: spreadnuma divides the memory nodes, spreadcores and compact "
     "divide the cores (far apart, or neighbours), disabled binds nothing; or one list of CPUs for each "
     "instance of a host, as in 0-3:4-7", processPlacement(),
     {.words = "spreadnuma spreadcores compact disabled", .others = "lists of CPUs"}},
    {kPlacement, "--cores-per-instance", "", "N", "0: all cores, divided",
     "cores of each instance, with --process-placement spreadcores or compact",
     integerIn<0, kMost, &Options::binding, &model::BindPolicy::cores_per_instance>()},
    {kPlacement, "--numa-aware", "", "BOOL", "",
     "older name: yes is --process-placement spreadnuma, no is disabled", numaAware(), {.words = "yes no"}},
    {kPlacement, "--report-bindings", "", "BOOL", "no", "say which CPUs and memory each instance gets",
     boolean<&Options::report_bindings>(), {.rule = kOptional}},
    {kPlacement, "--print-topology", "", "BOOL", "no",
     "print the table of hosts, IPU-Link domains, instances and replicas",
     boolean<&Options::print_topology>(), {.rule = kOptional}},

    {kHosts, "--ssh-config", "", "FILE", "~/.ssh/config", "SSH configuration to use, as `ssh -F`",
     text<&Options::hosts, &HostsOptions::ssh_config>(), {.hint = Hint::kFile}},
    {kHosts, "--rsh", "", "COMMAND", "", "reach hosts by this program and its words, such as 'ssh -J gate'", rsh()},
    {kHosts, "--agent-path", "", "PATH", "PATH, then a copy",
     "popdist-agent on every host; where it is not installed it is copied to ~/.cache/poprun",
     text<&Options::hosts, &HostsOptions::agent_path>()},
    {kHosts, "--agent-port", "", "PORT", "none: by SSH",
     "reach hosts by the agent service (popdist-agent serve) at this port of each",
     integerIn<0, 65535, &Options::hosts, &HostsOptions::agent_port>()},
    {kHosts, "--agent-tls", "", "DIR", "",
     "ca.pem, and user-NAME.pem with its key, by which the agent service knows you",
     text<&Options::hosts, &HostsOptions::agent_tls>(), {.hint = Hint::kDirectory}},
    {kHosts, "--connect-timeout", "", "TIME", "10", "how long to try to connect to a host", connectTimeout()},
    {kHosts, "--host-silence", "", "TIME", "5",
     "a host that gives no sign of life for so long (at least 2) is lost, and so is the launcher to its "
     "agents", hostSilence()},

    {kProgram, "-x", "", "NAME[=VALUE]", "",
     "set a variable in the program's environment, or forward poprun's own; may be repeated", variable(),
     {.per_program = true, .repeatable = true}},
    {kProgram, "--genvall", "-genvall --envall", "BOOL", "no",
     "forward all of poprun's own environment to other hosts, but for what belongs to the login here (HOME, "
     "TERM, SSH_*, …)", boolean<&Options::genvall>(), {.rule = kOptional}},
    {kProgram, "--wdir", "-wdir -wd --wd", "DIR", "poprun's own", "working directory of the program",
     text<&ProgramOptions::working_directory>(), {.hint = Hint::kDirectory, .per_program = true}},
    {kProgram, "--env-for", "", "FAMILIES", "all",
     "frameworks whose variables are set besides PopDist's: all, none, or a list of poplar, tensorflow, "
     "pytorch, horovod, jax, openmpi, slurm and openmp, separated by commas", envFamilies(),
     {.words = "all none poplar tensorflow pytorch horovod jax openmpi slurm openmp", .list = true}},
    {kProgram, "--tf-config-tasks", "", "TASKS", "workers",
     "tasks in TF_CONFIG: workers, or chief (instance 0), evaluator (the last instance) or both, separated "
     "by a comma", tfConfigTasks(), {.words = "workers chief evaluator", .list = true}},
    {kProgram, "--collectives", "", "WAYS", "by size, or as calls find out",
     "how the program's collectives go, separated by commas: within a host eager, staged, direct, pull or "
     "messages; tcp: between all instances; by messages an all-reduce goes by ring, segmented-ring, "
     "recursive-doubling or halving-doubling (popdist-algorithms measures them)", collectiveWays(),
     {.words = "eager staged direct pull messages tcp ring segmented-ring recursive-doubling halving-doubling",
     .list = true}},
    {kProgram, "--executable-cache-path", "", "DIR", "a temporary directory",
     "directory for compiled executables that all instances of a host share",
     text<&Options::executable_cache_path>(), {.hint = Hint::kDirectory}},
    {kProgram, "--stdin", "", "WHO", "0", "who reads poprun's standard input: an instance, all or none",
     stdinPolicy(), {.words = "none all", .others = "the number of an instance"}},

    {kOutput, "--tag-output", "", "HOW", "auto",
     "begin each line with [instance] (instance or yes), host:instance: (host), as mpirun does (mpi), or "
     "not at all (no); auto: with the instance, when several write", tagOutput(),
     {.rule = kOptional, .words = "auto no instance yes host mpi"}},
    {kOutput, "--timestamp-output", "", "BOOL", "no", "begin each line with the time",
     boolean<&Options::timestamp_output>(), {.rule = kOptional}},
    {kOutput, "--fold-output", "", "BOOL", "no", "print a line that several instances write only once",
     boolean<&Options::fold_output>(), {.rule = kOptional}},
    {kOutput, "--output-filename", "", "DIR", "",
     "also write each instance's output to files in this directory", text<&Options::output_filename>(),
     {.hint = Hint::kDirectory}},
    {kOutput, "--only-output-from-instance", "", "N", "",
     "drop the output of all other instances, their errors included",
     integer<&Options::only_output_from_instance>(), {.excludes = "--only-stdout-from-instance"}},
    {kOutput, "--only-stdout-from-instance", "", "N", "",
     "drop the standard output of all other instances, but not their errors",
     integer<&Options::only_stdout_from_instance>(), {.excludes = "--only-output-from-instance"}},

    {kLife, "--timeout", "", "TIME", "0: none", "end the job after this time: 90, 1.5, 90s, 10m or 2h",
     duration<&Options::timeout>()},
    {kLife, "--stack-traces", "", "BOOL", "no", "when the timeout is over, print where each instance hangs",
     boolean<&Options::stack_traces>(), {.rule = kOptional}},
    {kLife, "--kill-grace", "", "TIME", "5",
     "time between SIGTERM and SIGKILL for instances that are stopped", duration<&Options::kill_grace>()},
    {kLife, "--max-restarts", "", "N", "0", "start the job again after a failure, at most so often",
     integerIn<0, kMost, &Options::max_restarts>()},
    {kLife, "--restart-delay", "", "TIME", "0", "time to wait before a restart",
     duration<&Options::restart_delay>()},
    {kLife, "--min-hosts", "", "N", "all",
     "with --max-restarts: when hosts are lost, start again on the others, if so many are left and the "
     "instances divide evenly over them", integer<&Options::min_hosts>()},
    {kLife, "--allow-run-as-root", "", "BOOL", "yes", "no: refuse to run as root",
     boolean<&Options::allow_run_as_root>(), {.rule = kOptional}},

    {kDebug, "--dry-run", "", "FORMAT", "no",
     "print who would run where, with which environment, as text or json, and exit", dryRun(),
     {.rule = kOptional, .words = "text json no", .in_config = false}},
    {kDebug, "--debug", "", "BOOL", "no",
     "say all that may help to find a problem: --vv, --report-bindings and the options as understood",
     boolean<&Options::debug>(), {.rule = kOptional}},

    {kConfiguration, "--import-config", "", "FILE", "",
     "read options from a file; those of the command line override them", text<&Options::import_config>(),
     {.hint = Hint::kFile, .in_config = false}},
    {kConfiguration, "--export-config", "", "FILE", "",
     "write the options to a file before the job starts; without a program, only that",
     text<&Options::export_config>(), {.hint = Hint::kFile, .in_config = false}},
    {kConfiguration, "--overwrite-config", "", "BOOL", "no", "let --export-config replace a file",
     boolean<&Options::overwrite_config>(), {.rule = kOptional, .in_config = false}},

    {kPartition, "--vipu-server-host", "", "HOST", "localhost", "host of the V-IPU server",
     text<&Options::partition, &PartitionRequest::server_host>()},
    {kPartition, "--vipu-server-port", "", "PORT", "8090", "port of the V-IPU server",
     integerIn<1, 65535, &Options::partition, &PartitionRequest::server_port>()},
    {kPartition, "--vipu-server-timeout", "", "SECONDS", "120", "time limit of each request to the server",
     integerIn<1, kMost, &Options::partition, &PartitionRequest::server_timeout_seconds>()},
    {kPartition, "--vipu-partition", "", "NAME", "", "partition to create or use",
     text<&Options::partition, &PartitionRequest::name>()},
    {kPartition, "--vipu-partition-attempts", "", "N", "1", "tries to bind to the partition",
     integerIn<1, kMost, &Options::partition, &PartitionRequest::attempts>()},
    {kPartition, "--vipu-allocation", "", "NAME", "", "allocation in which a partition is created",
     text<&Options::partition, &PartitionRequest::allocation>()},
    {kPartition, "--vipu-cluster", "", "NAME", "", "deprecated name of --vipu-allocation",
     deprecatedAllocation()},
    {kPartition, "--update-partition", "", "BOOL", "no", "change the partition if it does not fit the job",
     boolean<&Options::partition, &PartitionRequest::update>(), {.rule = kOptional}},
    {kPartition, "--reset-partition", "", "BOOL", "only if it is not reconfigurable",
     "reset the partition before the job", boolean<&Options::partition, &PartitionRequest::reset>(),
     {.rule = kOptional}},
    {kPartition, "--remove-partition", "", "BOOL", "yes",
     "remove the partition after the job, if poprun has created it",
     boolean<&Options::partition, &PartitionRequest::remove>(), {.rule = kOptional}},
    {kPartition, "--sync-type", "", "TYPE", "", "how the IPUs of the partition synchronise", syncType(),
     {.words = "ST_GS2_DEFAULT ST_GS2_INDEPENDENT_RAILS ST_POD_NATIVE_DEFAULT "
     "ST_POD_NATIVE_REPLICATED_PIPELINE"}},

    {kMpi, "--mpi-global-args", "", "ARGS", "",
     "options of mpirun, split as a shell would: -x, --tag-output, --timestamp-output, --output-filename, "
     "--allow-run-as-root, --bind-to, --map-by, --report-bindings and --wdir are honoured", mpiArguments(),
     {.repeatable = true}},
    {kMpi, "--mpi-local-args", "", "ARGS", "", "the same, for those that PopRun gives to each instance",
     mpiArguments(), {.repeatable = true}},
};
// clang-format on

}  // namespace

std::span<const OptionRow> optionTable() {
  return kRows;
}

}  // namespace pop::cli
