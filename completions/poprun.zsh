#compdef poprun
# SPDX-License-Identifier: Apache-2.0
# Completion of poprun for zsh. Made by scripts/gen_options_doc from poprun/cli/option_rows.cpp.

_arguments -S -A '-*' \
  '--help[print this text and exit]' \
  '-h[print this text and exit]' \
  '--version[print the version and exit]' \
  '-V[print the version and exit]' \
  '--version-format=[what --version prints; full-text and full-json: the versions of all that poprun is made of, too]:FORMAT:(text full-text full-json)' \
  '--verbose[say what the job does]' \
  '-v[say what the job does]' \
  '--vv[say every event with its time, and print the topology]' \
  '-vv[say every event with its time, and print the topology]' \
  '*--num-instances=[processes of the program, divided evenly over the hosts]:N: ' \
  '*-np[processes of the program, divided evenly over the hosts]:N: ' \
  '*-n[processes of the program, divided evenly over the hosts]:N: ' \
  '*--np=[processes of the program, divided evenly over the hosts]:N: ' \
  '--num-replicas=[copies of the model in all, divided evenly over the instances]:N: ' \
  '--uneven-replicas=-[if replicas do not divide evenly, the first instances have one more than the others]::BOOL:(yes no)' \
  '--ipus-per-replica=[IPUs of one replica, a power of two]:N: ' \
  '--num-ilds=[IPU-Link domains, among which the instances are divided evenly]:N: ' \
  '--system=[Pod to emulate, such as pod16 or bow-pod64]:POD:(pod4 pod16 pod64 pod128 pod256 bow-pod16 bow-pod64 bow-pod128 bow-pod256)' \
  '--offline-mode=-[run without attaching to any IPU]::BOOL:(yes no)' \
  '--host=[hosts, separated by commas; '\''host\[0-2,4\]'\'' is a range, in quotes, or the shell expands it; name:N gives a host N slots]:HOSTS: ' \
  '-H[hosts, separated by commas; '\''host\[0-2,4\]'\'' is a range, in quotes, or the shell expands it; name:N gives a host N slots]:HOSTS: ' \
  '--hostfile=[hosts, one per line, each with or without slots=N]:FILE:_files' \
  '--oversubscribe=-[if there are more instances than slots, divide them evenly over the hosts]::BOOL:(yes no)' \
  '--host-subnet=[network between the hosts, such as 10.1.0.0/16]:CIDR: ' \
  '*--synchronise=[copy a file or directory to the same place on every other host before the job starts; may be repeated]:PATH:_files' \
  '--synchronise-python-venv=-[copy the active Python environment (VIRTUAL_ENV) to every other host]::BOOL:(yes no)' \
  '--synchronise-poplar-sdk=-[copy the enabled Poplar SDK (POPLAR_SDK_ENABLED) to every other host]::BOOL:(yes no)' \
  '--distribute-ssh-key=-[let every other host accept the user'\''s ssh key; asks for a password where it does not yet]::BOOL:(yes no)' \
  '--process-placement=[CPUs and memory of each instance: spreadnuma divides the memory nodes, spreadcores and compact divide the cores (far apart, or neighbours), disabled binds nothing; or one list of CPUs for each instance of a host, as in 0-3:4-7]:HOW:(spreadnuma spreadcores compact disabled)' \
  '--cores-per-instance=[cores of each instance, with --process-placement spreadcores or compact]:N: ' \
  '--numa-aware=[older name: yes is --process-placement spreadnuma, no is disabled]:BOOL:(yes no)' \
  '--report-bindings=-[say which CPUs and memory each instance gets]::BOOL:(yes no)' \
  '--print-topology=-[print the table of hosts, IPU-Link domains, instances and replicas]::BOOL:(yes no)' \
  '--ssh-config=[SSH configuration to use, as `ssh -F`]:FILE:_files' \
  '--rsh=[reach hosts by this program and its words, such as '\''ssh -J gate'\'']:COMMAND: ' \
  '--agent-path=[popdist-agent on every host; where it is not installed it is copied to ~/.cache/poprun]:PATH: ' \
  '--agent-port=[reach hosts by the agent service (popdist-agent serve) at this port of each]:PORT: ' \
  '--agent-tls=[ca.pem, and user-NAME.pem with its key, by which the agent service knows you]:DIR:_files -/' \
  '--connect-timeout=[how long to try to connect to a host]:TIME: ' \
  '--host-silence=[a host that gives no sign of life for so long (at least 2) is lost, and so is the launcher to its agents]:TIME: ' \
  '*-x[set a variable in the program'\''s environment, or forward poprun'\''s own; may be repeated]:NAME[=VALUE]: ' \
  '--genvall=-[forward all of poprun'\''s own environment to other hosts, but for what belongs to the login here (HOME, TERM, SSH_*, …)]::BOOL:(yes no)' \
  '-genvall=-[forward all of poprun'\''s own environment to other hosts, but for what belongs to the login here (HOME, TERM, SSH_*, …)]::BOOL:(yes no)' \
  '--envall=-[forward all of poprun'\''s own environment to other hosts, but for what belongs to the login here (HOME, TERM, SSH_*, …)]::BOOL:(yes no)' \
  '*--wdir=[working directory of the program]:DIR:_files -/' \
  '*-wdir[working directory of the program]:DIR:_files -/' \
  '*-wd[working directory of the program]:DIR:_files -/' \
  '*--wd=[working directory of the program]:DIR:_files -/' \
  '--env-for=[frameworks whose variables are set besides PopDist'\''s: all, none, or a list of poplar, tensorflow, pytorch, horovod, jax, openmpi, slurm and openmp, separated by commas]:FAMILIES:_values -s , FAMILIES all none poplar tensorflow pytorch horovod jax openmpi slurm openmp' \
  '--tf-config-tasks=[tasks in TF_CONFIG: workers, or chief (instance 0), evaluator (the last instance) or both, separated by a comma]:TASKS:_values -s , TASKS workers chief evaluator' \
  '--collectives=[how the program'\''s collectives go, separated by commas: within a host eager, staged, direct, pull or messages; tcp: between all instances; by messages an all-reduce goes by ring, segmented-ring, recursive-doubling or halving-doubling (popdist-algorithms measures them)]:WAYS:_values -s , WAYS eager staged direct pull messages tcp ring segmented-ring recursive-doubling halving-doubling' \
  '--executable-cache-path=[directory for compiled executables that all instances of a host share]:DIR:_files -/' \
  '--stdin=[who reads poprun'\''s standard input: an instance, all or none]:WHO:(none all)' \
  '--tag-output=-[begin each line with \[instance\] (instance or yes), host:instance: (host), as mpirun does (mpi), or not at all (no); auto: with the instance, when several write]::HOW:(auto no instance yes host mpi)' \
  '--timestamp-output=-[begin each line with the time]::BOOL:(yes no)' \
  '--fold-output=-[print a line that several instances write only once]::BOOL:(yes no)' \
  '--output-filename=[also write each instance'\''s output to files in this directory]:DIR:_files -/' \
  '--only-output-from-instance=[drop the output of all other instances, their errors included]:N: ' \
  '--only-stdout-from-instance=[drop the standard output of all other instances, but not their errors]:N: ' \
  '--timeout=[end the job after this time: 90, 1.5, 90s, 10m or 2h]:TIME: ' \
  '--stack-traces=-[when the timeout is over, print where each instance hangs]::BOOL:(yes no)' \
  '--kill-grace=[time between SIGTERM and SIGKILL for instances that are stopped]:TIME: ' \
  '--max-restarts=[start the job again after a failure, at most so often]:N: ' \
  '--restart-delay=[time to wait before a restart]:TIME: ' \
  '--min-hosts=[with --max-restarts: when hosts are lost, start again on the others, if so many are left and the instances divide evenly over them]:N: ' \
  '--allow-run-as-root=-[no: refuse to run as root]::BOOL:(yes no)' \
  '--dry-run=-[print who would run where, with which environment, as text or json, and exit]::FORMAT:(text json no)' \
  '--debug=-[say all that may help to find a problem: --vv, --report-bindings and the options as understood]::BOOL:(yes no)' \
  '--import-config=[read options from a file; those of the command line override them]:FILE:_files' \
  '--export-config=[write the options to a file before the job starts; without a program, only that]:FILE:_files' \
  '--overwrite-config=-[let --export-config replace a file]::BOOL:(yes no)' \
  '--vipu-server-host=[host of the V-IPU server]:HOST: ' \
  '--vipu-server-port=[port of the V-IPU server]:PORT: ' \
  '--vipu-server-timeout=[time limit of each request to the server]:SECONDS: ' \
  '--vipu-partition=[partition to create or use]:NAME: ' \
  '--vipu-partition-attempts=[tries to bind to the partition]:N: ' \
  '--vipu-allocation=[allocation in which a partition is created]:NAME: ' \
  '--vipu-cluster=[deprecated name of --vipu-allocation]:NAME: ' \
  '--update-partition=-[change the partition if it does not fit the job]::BOOL:(yes no)' \
  '--reset-partition=-[reset the partition before the job]::BOOL:(yes no)' \
  '--remove-partition=-[remove the partition after the job, if poprun has created it]::BOOL:(yes no)' \
  '--sync-type=[how the IPUs of the partition synchronise]:TYPE:(ST_GS2_DEFAULT ST_GS2_INDEPENDENT_RAILS ST_POD_NATIVE_DEFAULT ST_POD_NATIVE_REPLICATED_PIPELINE)' \
  '*--mpi-global-args=[options of mpirun, split as a shell would: -x, --tag-output, --timestamp-output, --output-filename, --allow-run-as-root, --bind-to, --map-by, --report-bindings and --wdir are honoured]:ARGS: ' \
  '*--mpi-local-args=[the same, for those that PopRun gives to each instance]:ARGS: ' \
  '(-)1: :{_alternative "programs:program:_command_names -e" "commands:command:(doctor)"}' \
  '*:: :_normal'
