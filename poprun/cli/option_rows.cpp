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
     "form of --version; full-text and full-json add the versions of poprun's components",
     versionFormat(), {.words = "text full-text full-json", .in_config = false}},
    {kGeneric, "--verbose", "-v", "", "", "print what the job does", verbose(), {.rule = kFlag}},
    {kGeneric, "--vv", "-vv", "", "", "print every event with its time, and the topology",
     veryVerbose(), {.rule = kFlag}},

    {kJob, "--num-instances", "-np -n --np", "N", "1, or the sum of the hosts' slots",
     "processes of the program, divided evenly over the hosts", integer<&ProgramOptions::num_instances>(),
     {.per_program = true}},
    {kJob, "--num-replicas", "", "N", "as many as instances",
     "total number of copies of the model, divided evenly over the instances", integer<&Options::num_replicas>()},
    {kJob, "--uneven-replicas", "", "BOOL", "no",
     "if the replicas do not divide evenly, give the first instances one more",
     boolean<&Options::uneven_replicas>(), {.rule = kOptional}},
    {kJob, "--ipus-per-replica", "", "N", "1", "IPUs of one replica, a power of two",
     integer<&Options::ipus_per_replica>()},
    {kJob, "--num-ilds", "", "N", "as many as the IPUs need",
     "IPU-Link domains; the instances are divided evenly over them", integer<&Options::num_ilds>()},
    {kJob, "--system", "", "POD", "the smallest pod that fits",
     "Pod to emulate, such as pod16 or bow-pod64, or a system file such as ./my.system", text<&Options::system>(),
     {.words = kPodNames}},
    {kJob, "--offline-mode", "", "BOOL", "no", "run without attaching to any IPU",
     boolean<&Options::offline_mode>(), {.rule = kOptional}},

    {kPlacement, "--host", "-H", "HOSTS", "localhost",
     "hosts, separated by commas; 'host[0-2,4]' is a range (quote it, or the shell expands it); name:N gives a "
     "host N slots",
     text<&Options::host>(), {.excludes = "--hostfile"}},
    {kPlacement, "--hostfile", "", "FILE", "", "hosts, one per line, each with or without slots=N",
     text<&Options::hostfile>(), {.hint = Hint::kFile, .excludes = "--host"}},
    {kPlacement, "--instances-per-host", "", "N", "the hosts' slots",
     "instances that each host can have, whatever its slots; even divides the instances evenly, each host up to its "
     "slots, and the first hosts may get one more",
     instancesPerHost(), {.words = "even", .others = "a number"}},
    {kPlacement, "--oversubscribe", "", "BOOL", "no",
     "if there are more instances than slots, divide them evenly over the hosts",
     boolean<&Options::oversubscribe>(), {.rule = kOptional}},
    {kPlacement, "--host-subnet", "", "CIDR", "deduced", "network between the hosts, such as 10.1.0.0/16, or their "
     "network interface, such as eth0; of several interfaces, each host uses its first",
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
     "install the user's ssh key on every other host; asks for a password where a host does not accept the key "
     "yet",
     boolean<&Options::distribute_ssh_key>(), {.rule = kOptional}},
    {kPlacement, "--process-placement", "", "HOW", "spreadnuma",
     "CPUs and memory of each instance: spreadnuma divides the memory nodes; spreadcores and compact divide the "
     "cores (far apart, or neighbours); disabled binds nothing; or one list of CPUs for each instance of a host, "
     "such as 0-3:4-7", processPlacement(),
     {.words = "spreadnuma spreadcores compact disabled", .others = "lists of CPUs"}},
    {kPlacement, "--cores-per-instance", "", "N", "0: all cores, divided",
     "cores of each instance, with --process-placement spreadcores or compact",
     integerIn<0, kMost, &Options::binding, &model::BindPolicy::cores_per_instance>()},
    {kPlacement, "--numa-aware", "", "BOOL", "",
     "older form: yes means --process-placement spreadnuma, no means disabled", numaAware(), {.words = "yes no"}},
    {kPlacement, "--report-bindings", "", "BOOL", "no", "print the CPUs and memory of each instance",
     boolean<&Options::report_bindings>(), {.rule = kOptional}},
    {kPlacement, "--print-topology", "", "BOOL", "no",
     "print the table of hosts, IPU-Link domains, instances and replicas",
     boolean<&Options::print_topology>(), {.rule = kOptional}},

    {kHosts, "--ssh-config", "", "FILE", "~/.ssh/config", "SSH configuration to use, as `ssh -F`",
     text<&Options::hosts, &HostsOptions::ssh_config>(), {.hint = Hint::kFile}},
    {kHosts, "--rsh", "", "COMMAND", "", "reach hosts with this program and arguments, such as 'ssh -J gate'", rsh()},
    {kHosts, "--agent-path", "", "PATH", "PATH, then a copy",
     "popdist-agent on every host; by default a host without it gets a copy in ~/.cache/poprun",
     text<&Options::hosts, &HostsOptions::agent_path>()},
    {kHosts, "--agent-port", "", "PORT", "none: by SSH",
     "reach hosts through the agent service (popdist-agent serve) at this port on each host",
     integerIn<0, 65535, &Options::hosts, &HostsOptions::agent_port>()},
    {kHosts, "--agent-tls", "", "DIR", "",
     "ca.pem, and user-NAME.pem with its key: your certificate for the agent service",
     text<&Options::hosts, &HostsOptions::agent_tls>(), {.hint = Hint::kDirectory}},
    {kHosts, "--connect-timeout", "", "TIME", "10",
     "time limit for connecting to a host; if given, hosts that are not up yet are tried again until then",
     connectTimeout()},
    {kHosts, "--host-silence", "", "TIME", "5",
     "declare a host lost after this long without a heartbeat (minimum 2 s); agents apply it to poprun too",
     hostSilence()},

    {kProgram, "-x", "", "NAME[=VALUE]", "",
     "set a variable in the program's environment, or forward poprun's own; 'NAME*' forwards all that match; may be "
     "repeated", variable(),
     {.per_program = true, .repeatable = true}},
    {kProgram, "--genvall", "-genvall --envall", "BOOL", "no",
     "forward poprun's whole environment to other hosts, except variables of the login session here (HOME, TERM, "
     "SSH_*, …)", boolean<&Options::genvall>(), {.rule = kOptional}},
    {kProgram, "--wdir", "-wdir -wd --wd", "DIR", "poprun's own", "working directory of the program",
     text<&ProgramOptions::working_directory>(), {.hint = Hint::kDirectory, .per_program = true}},
    {kProgram, "--env-for", "", "FAMILIES", "all",
     "frameworks whose variables are set in addition to PopDist's: all, none, or a list of poplar, tensorflow, "
     "pytorch, horovod, jax, openmpi, slurm and openmp, separated by commas", envFamilies(),
     {.words = "all none poplar tensorflow pytorch horovod jax openmpi slurm openmp", .list = true}},
    {kProgram, "--tf-config-tasks", "", "TASKS", "workers",
     "tasks in TF_CONFIG: workers, or chief (instance 0), evaluator (the last instance) or both, separated "
     "by a comma", tfConfigTasks(), {.words = "workers chief evaluator", .list = true}},
    {kProgram, "--collectives", "", "WAYS", "by size, or by timing the first calls",
     "algorithms of the program's collectives, separated by commas: within a host eager, staged, direct, pull or "
     "messages; between all instances tcp; for an all-reduce by messages ring, segmented-ring, "
     "recursive-doubling or halving-doubling (popdist-algorithms measures them)", collectiveWays(),
     {.words = "eager staged direct pull messages tcp ring segmented-ring recursive-doubling halving-doubling",
     .list = true}},
    {kProgram, "--executable-cache-path", "", "DIR", "a temporary directory",
     "directory for compiled executables, shared by all instances of a host",
     text<&Options::executable_cache_path>(), {.hint = Hint::kDirectory}},
    {kProgram, "--stdin", "", "WHO", "0", "the instances that read poprun's standard input: one, all or none",
     stdinPolicy(), {.words = "none all", .others = "the number of an instance"}},

    {kOutput, "--tag-output", "", "HOW", "auto",
     "begin each line with [instance] (instance or yes), host:instance: (host), the tag of mpirun (mpi) or "
     "nothing (no); auto: as instance if several instances write", tagOutput(),
     {.rule = kOptional, .words = "auto no instance yes host mpi"}},
    {kOutput, "--timestamp-output", "", "BOOL", "no", "begin each line with the time",
     boolean<&Options::timestamp_output>(), {.rule = kOptional}},
    {kOutput, "--fold-output", "", "BOOL", "no", "print a line once if several instances write it",
     boolean<&Options::fold_output>(), {.rule = kOptional}},
    {kOutput, "--output-filename", "", "DIR", "",
     "also write each instance's output to files in this directory", text<&Options::output_filename>(),
     {.hint = Hint::kDirectory}},
    {kOutput, "--only-output-from-instance", "", "N", "",
     "drop the output of all other instances, including their errors",
     integer<&Options::only_output_from_instance>(), {.excludes = "--only-stdout-from-instance"}},
    {kOutput, "--only-stdout-from-instance", "", "N", "",
     "drop the standard output of all other instances, but not their errors",
     integer<&Options::only_stdout_from_instance>(), {.excludes = "--only-output-from-instance"}},

    {kLife, "--timeout", "", "TIME", "0: none", "end the job after this time: 90, 1.5, 90s, 10m or 2h",
     duration<&Options::timeout>()},
    {kLife, "--stack-traces", "", "BOOL", "no", "when --timeout expires, print a stack trace of each instance",
     boolean<&Options::stack_traces>(), {.rule = kOptional}},
    {kLife, "--kill-grace", "", "TIME", "5",
     "time between SIGTERM and SIGKILL when instances are stopped", duration<&Options::kill_grace>()},
    {kLife, "--max-restarts", "", "N", "0", "restart the job up to N times after a failure",
     integerIn<0, kMost, &Options::max_restarts>()},
    {kLife, "--restart-delay", "", "TIME", "0", "time to wait before a restart",
     duration<&Options::restart_delay>()},
    {kLife, "--min-hosts", "", "N", "all",
     "with --max-restarts: after hosts are lost, restart on the others if at least N are left and the instances "
     "divide evenly over them", integer<&Options::min_hosts>()},
    {kLife, "--allow-run-as-root", "", "BOOL", "yes", "no: refuse to run as root",
     boolean<&Options::allow_run_as_root>(), {.rule = kOptional}},

    {kDetached, "--detach", "", "", "", "print a job's number and return; the job goes on without a terminal",
     flag<&Options::detached, &DetachedOptions::detach>(), {.rule = kFlag, .in_config = false}},
    {kDetached, "--name", "", "NAME", "", "with --detach: name of the job, which --attach and the others take "
     "instead of its number", jobName(), {.in_config = false}},
    {kDetached, "--on-hangup", "", "WHAT", "stop",
     "when the terminal hangs up: stop ends the job, detach lets it go on as a detached one", onHangup(),
     {.words = "stop detach"}},
    {kDetached, "--log-limit", "", "SIZE", "64M",
     "most that is kept of a detached job's output: its first 4 MiB and its end", logLimit()},
    {kDetached, "--jobs", "", "HOST:", "", "list your detached jobs on this host, or on HOST", jobsOfHost(),
     {.rule = kOptional, .in_config = false, .value_end = ":"}},
    {kDetached, "--json", "", "", "", "with --jobs: print them as JSON",
     flag<&Options::detached, &DetachedOptions::json>(), {.rule = kFlag, .in_config = false}},
    {kDetached, "--attach", "", "ID", "",
     "print a detached job's output, go on with it, and exit as the job does; ID is its number, its name, or HOST:ID; "
     "Ctrl-C ends only this poprun", jobAddress<&DetachedOptions::attach>(), {.in_config = false}},
    {kDetached, "--control", "", "", "", "with --attach: Ctrl-C and Ctrl-Z are for the job",
     flag<&Options::detached, &DetachedOptions::control>(), {.rule = kFlag, .in_config = false}},
    {kDetached, "--logs", "", "ID", "", "print what a detached job has written so far",
     jobAddress<&DetachedOptions::logs>(), {.in_config = false}},
    {kDetached, "--follow", "-f", "", "", "with --logs: go on until the job ends",
     flag<&Options::detached, &DetachedOptions::follow>(), {.rule = kFlag, .in_config = false}},
    {kDetached, "--cancel", "", "ID", "", "end a detached job; a second time: kill it",
     jobAddress<&DetachedOptions::cancel>(), {.in_config = false}},

    {kDetached, "--controller", "", "HOST:PORT[,...]", "none: poprun runs it",
     "have popdistd there run the job; without --detach, show it: Ctrl-C ends it, and it outlives the terminal",
     text<&Options::controller, &ControllerOptions::server>()},
    {kDetached, "--controller-tls", "", "DIR", "",
     "with --controller: ca.pem, and user-NAME.pem with its key: your certificate",
     text<&Options::controller, &ControllerOptions::tls>(), {.hint = Hint::kDirectory}},
    {kDetached, "--num-hosts", "", "N", "1",
     "with --controller and without --host: number of hosts, which popdistd chooses",
     integerIn<1, 65536, &Options::controller, &ControllerOptions::num_hosts>()},
    {kDetached, "--priority", "", "N", "0", "with --controller: jobs with a higher one start first",
     integer<&Options::controller, &ControllerOptions::priority>()},
    {kDetached, "--held", "", "", "", "with --controller: the job waits until `popctl release job`",
     flag<&Options::controller, &ControllerOptions::held>(), {.rule = kFlag, .in_config = false}},
    {kDetached, "--no-wait", "", "", "", "with --controller: fail if the job cannot start now",
     flag<&Options::controller, &ControllerOptions::no_wait>(), {.rule = kFlag, .in_config = false}},

    {kDebug, "--dry-run", "", "FORMAT", "no",
     "print the placement and environment of each instance, as text or json, and exit", dryRun(),
     {.rule = kOptional, .words = "text json no", .in_config = false}},
    {kDebug, "--debug", "", "BOOL", "no",
     "print all that may help to find a problem: --vv, --report-bindings and the options as understood",
     boolean<&Options::debug>(), {.rule = kOptional}},

    {kDebug, "--scaling-report", "", "LOG", "",
     "print what the trainings in the log that POPDIST_SCALING_LOG named say about scaling, and exit",
     text<&Options::scaling_report>(), {.hint = Hint::kFile, .in_config = false}},
    {kDebug, "--scaling-format", "", "FORMAT", "markdown",
     "form of --scaling-report; svg is a picture of throughput against replicas", scalingFormat(),
     {.words = "markdown json svg", .in_config = false}},

    {kConfiguration, "--import-config", "", "FILE", "",
     "read options from a file; options on the command line override them", text<&Options::import_config>(),
     {.hint = Hint::kFile, .in_config = false}},
    {kConfiguration, "--export-config", "", "FILE", "",
     "write the options to a file before the job starts; without a program, do only that",
     text<&Options::export_config>(), {.hint = Hint::kFile, .in_config = false}},
    {kConfiguration, "--overwrite-config", "", "BOOL", "no", "allow --export-config to replace a file",
     boolean<&Options::overwrite_config>(), {.rule = kOptional, .in_config = false}},

    {kPartition, "--vipu-server-host", "", "HOST", "localhost", "host of the V-IPU server",
     text<&Options::partition, &PartitionRequest::server_host>()},
    {kPartition, "--vipu-server-port", "", "PORT", "8090", "port of the V-IPU server",
     integerIn<1, 65535, &Options::partition, &PartitionRequest::server_port>()},
    {kPartition, "--vipu-server-timeout", "", "SECONDS", "120", "time limit of each request to the server",
     integerIn<1, kMost, &Options::partition, &PartitionRequest::server_timeout_seconds>()},
    {kPartition, "--vipu-partition", "", "NAME", "", "partition to create or use",
     text<&Options::partition, &PartitionRequest::name>()},
    {kPartition, "--vipu-partition-attempts", "", "N", "1", "attempts to bind to the partition",
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
    {kPartition, "--sync-type", "", "TYPE", "", "synchronisation of the partition's IPUs", syncType(),
     {.words = "ST_GS2_DEFAULT ST_GS2_INDEPENDENT_RAILS ST_POD_NATIVE_DEFAULT "
     "ST_POD_NATIVE_REPLICATED_PIPELINE"}},

    {kMpi, "--mpi-global-args", "", "ARGS", "",
     "options of mpirun, split as a shell would: -x, --tag-output, --timestamp-output, --output-filename, "
     "--allow-run-as-root, --bind-to, --map-by, --report-bindings and --wdir are supported", mpiArguments(),
     {.repeatable = true}},
    {kMpi, "--mpi-local-args", "", "ARGS", "", "the same, for the arguments that PopRun gives to each instance",
     mpiArguments(), {.repeatable = true}},
};
// clang-format on

}  // namespace

std::span<const OptionRow> optionTable() {
  return kRows;
}

}  // namespace pop::cli
