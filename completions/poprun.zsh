#compdef poprun
# SPDX-License-Identifier: Apache-2.0
# Completion of poprun for zsh. Made by scripts/gen_options_doc from poprun/cli/option_rows.cpp.

if (( CURRENT > 2 )) && [[ $words[2] = simulate ]]; then
  shift words; (( CURRENT-- ))
  _arguments -S \
    '--help[print this text and exit]' \
    '--model=[the training, as key = value lines with units]:FILE:_files' \
    '--fit=[measured runs, from which the times that the model leaves out are learned: comma-separated values, or the log that POPDIST_SCALING_LOG named]:TABLE:_files' \
    '--hold-out=[runs on these Pods are compared with their prediction, and not learned from]:PODS:_values -s , PODS pod4 pod16 pod64 pod128 pod256 bow-pod16 bow-pod64 bow-pod128 bow-pod256 mk1-16 mk1-64 pod64-torus pod64-twist pod1024 pod4096 pod16384 pod65536' \
    '--export-model=[write the model with all that was learned into this new file]:FILE:_files' \
    '--system=[Pods to predict for, or system files such as ./my.system, separated by commas]:PODS:_values -s , PODS pod4 pod16 pod64 pod128 pod256 bow-pod16 bow-pod64 bow-pod128 bow-pod256 mk1-16 mk1-64 pod64-torus pod64-twist pod1024 pod4096 pod16384 pod65536' \
    '--all-reduce=[instead of a training: the ways to sum so much of each replica, such as 64MiB, and their times]:SIZE: ' \
    '--collective=[the same for all-reduce, reduce-scatter, all-gather, all-to-all or broadcast of a vector of SIZE]:NAME=SIZE: ' \
    '--group=[of a collective: groups of N replicas, STRIDE apart, which all make it at the same time]:N[\:STRIDE]: ' \
    '--within-replica[of a collective: the IPUs of each replica make it, each with a vector of SIZE; groups are of them]' \
    '--replay=[instead of a training: the collectives of the Chakra execution traces PREFIX.0.et, PREFIX.1.et and so on, one for each replica]:PREFIX:_files' \
    '--export-chakra=[write the all-reduce, or a step of the training, as new Chakra execution traces PREFIX.0.et and so on]:PREFIX:_files' \
    '--remove-link=[what if these cables were out? Such as ipu0-ipu2, separated by commas]:LINKS:_values -s , LINKS ' \
    '--slow-ipu=[what if these IPUs were slow? Such as ipu3=0.8, separated by commas]:IPUS:_values -s , IPUS ' \
    '--topology=[what if the IPUs were joined so: mesh, torus or barley-twist]:NAME:(mesh torus barley-twist)' \
    '--ipus-per-replica=[of a collective or a replay; of a training the model says it]:N: ' \
    '--algorithm=[gcl or quickest; of a collective also the beginning of a name in its table]:NAME: ' \
    '--show-steps[print the copies between replicas of a collective'\''s algorithm, round by round]' \
    '--num-replicas=[copies of the model]:N: ' \
    '--micro-batch=[elements of a micro-batch]:N: ' \
    '--gradient-accumulation=[number of micro-batches of a step]:N: ' \
    '--global-batch=[samples of a step, whatever the Pod: decides the gradient accumulation on each of them]:N: ' \
    '--trace=[write the timeline of a collective'\''s algorithm into this new file, for Perfetto or chrome://tracing]:FILE:_files' \
    '--show-system[print the Pod as a system file, to change and to give to --system; with --svg as a picture]' \
    '--json[print one JSON object, in seconds and samples]' \
    '--svg[print a picture: throughput against replicas, or the Pod of --show-system]' \
    && return
  return 1
fi

_arguments -S -A '-*' \
  '--help[print this text and exit]' \
  '-h[print this text and exit]' \
  '--version[print the version and exit]' \
  '-V[print the version and exit]' \
  '--version-format=[form of --version; full-text and full-json add the versions of poprun'\''s components]:FORMAT:(text full-text full-json)' \
  '--verbose[print what the job does]' \
  '-v[print what the job does]' \
  '--vv[print every event with its time, and the topology]' \
  '-vv[print every event with its time, and the topology]' \
  '*--num-instances=[processes of the program, divided evenly over the hosts]:N: ' \
  '*-np[processes of the program, divided evenly over the hosts]:N: ' \
  '*-n[processes of the program, divided evenly over the hosts]:N: ' \
  '*--np=[processes of the program, divided evenly over the hosts]:N: ' \
  '--num-replicas=[total number of copies of the model, divided evenly over the instances]:N: ' \
  '--uneven-replicas=-[if the replicas do not divide evenly, give the first instances one more]::BOOL:(yes no)' \
  '--ipus-per-replica=[IPUs of one replica, a power of two]:N: ' \
  '--num-ilds=[IPU-Link domains; the instances are divided evenly over them]:N: ' \
  '--system=[Pod to emulate, such as pod16 or bow-pod64, or a system file such as ./my.system]:POD:(pod4 pod16 pod64 pod128 pod256 bow-pod16 bow-pod64 bow-pod128 bow-pod256 mk1-16 mk1-64 pod64-torus pod64-twist pod1024 pod4096 pod16384 pod65536)' \
  '--offline-mode=-[run without attaching to any IPU]::BOOL:(yes no)' \
  '--host=[hosts, separated by commas; '\''host\[0-2,4\]'\'' is a range (quote it, or the shell expands it); name:N gives a host N slots]:HOSTS: ' \
  '-H[hosts, separated by commas; '\''host\[0-2,4\]'\'' is a range (quote it, or the shell expands it); name:N gives a host N slots]:HOSTS: ' \
  '--hostfile=[hosts, one per line, each with or without slots=N]:FILE:_files' \
  '--instances-per-host=[instances that each host can have, whatever its slots; even divides the instances evenly, each host up to its slots, and the first hosts may get one more]:N:(even)' \
  '--oversubscribe=-[if there are more instances than slots, divide them evenly over the hosts]::BOOL:(yes no)' \
  '--host-subnet=[network between the hosts, such as 10.1.0.0/16, or their network interface, such as eth0; of several interfaces, each host uses its first]:CIDR: ' \
  '*--synchronise=[copy a file or directory to the same place on every other host before the job starts; may be repeated]:PATH:_files' \
  '--synchronise-python-venv=-[copy the active Python environment (VIRTUAL_ENV) to every other host]::BOOL:(yes no)' \
  '--synchronise-poplar-sdk=-[copy the enabled Poplar SDK (POPLAR_SDK_ENABLED) to every other host]::BOOL:(yes no)' \
  '--distribute-ssh-key=-[install the user'\''s ssh key on every other host; asks for a password where a host does not accept the key yet]::BOOL:(yes no)' \
  '--process-placement=[CPUs and memory of each instance: spreadnuma divides the memory nodes; spreadcores and compact divide the cores (far apart, or neighbours); disabled binds nothing; or one list of CPUs for each instance of a host, such as 0-3:4-7]:HOW:(spreadnuma spreadcores compact disabled)' \
  '--cores-per-instance=[cores of each instance, with --process-placement spreadcores or compact]:N: ' \
  '--numa-aware=[older form: yes means --process-placement spreadnuma, no means disabled]:BOOL:(yes no)' \
  '--report-bindings=-[print the CPUs and memory of each instance]::BOOL:(yes no)' \
  '--print-topology=-[print the table of hosts, IPU-Link domains, instances and replicas]::BOOL:(yes no)' \
  '--ssh-config=[SSH configuration to use, as `ssh -F`]:FILE:_files' \
  '--rsh=[reach hosts with this program and arguments, such as '\''ssh -J gate'\'']:COMMAND: ' \
  '--agent-path=[popdist-agent on every host; by default a host without it gets a copy in ~/.cache/poprun]:PATH: ' \
  '--agent-port=[reach hosts through the agent service (popdist-agent serve) at this port on each host]:PORT: ' \
  '--agent-tls=[ca.pem, and user-NAME.pem with its key: your certificate for the agent service]:DIR:_files -/' \
  '--connect-timeout=[time limit for connecting to a host; if given, hosts that are not up yet are tried again until then]:TIME: ' \
  '--host-silence=[declare a host lost after this long without a heartbeat (minimum 2 s); agents apply it to poprun too]:TIME: ' \
  '*-x[set a variable in the program'\''s environment, or forward poprun'\''s own; '\''NAME*'\'' forwards all that match; may be repeated]:NAME[=VALUE]: ' \
  '--genvall=-[forward poprun'\''s whole environment to other hosts, except variables of the login session here (HOME, TERM, SSH_*, …)]::BOOL:(yes no)' \
  '-genvall=-[forward poprun'\''s whole environment to other hosts, except variables of the login session here (HOME, TERM, SSH_*, …)]::BOOL:(yes no)' \
  '--envall=-[forward poprun'\''s whole environment to other hosts, except variables of the login session here (HOME, TERM, SSH_*, …)]::BOOL:(yes no)' \
  '*--wdir=[working directory of the program]:DIR:_files -/' \
  '*-wdir[working directory of the program]:DIR:_files -/' \
  '*-wd[working directory of the program]:DIR:_files -/' \
  '*--wd=[working directory of the program]:DIR:_files -/' \
  '--env-for=[frameworks whose variables are set in addition to PopDist'\''s: all, none, or a list of poplar, tensorflow, pytorch, horovod, jax, openmpi, slurm and openmp, separated by commas]:FAMILIES:_values -s , FAMILIES all none poplar tensorflow pytorch horovod jax openmpi slurm openmp' \
  '--tf-config-tasks=[tasks in TF_CONFIG: workers, or chief (instance 0), evaluator (the last instance) or both, separated by a comma]:TASKS:_values -s , TASKS workers chief evaluator' \
  '--collectives=[algorithms of the program'\''s collectives, separated by commas: within a host eager, staged, direct, pull or messages; between all instances tcp; for an all-reduce by messages ring, segmented-ring, recursive-doubling or halving-doubling (popdist-algorithms measures them)]:WAYS:_values -s , WAYS eager staged direct pull messages tcp ring segmented-ring recursive-doubling halving-doubling' \
  '--executable-cache-path=[directory for compiled executables, shared by all instances of a host]:DIR:_files -/' \
  '--stdin=[the instances that read poprun'\''s standard input: one, all or none]:WHO:(none all)' \
  '--tag-output=-[begin each line with \[instance\] (instance or yes), host:instance: (host), the tag of mpirun (mpi) or nothing (no); auto: as instance if several instances write]::HOW:(auto no instance yes host mpi)' \
  '--timestamp-output=-[begin each line with the time]::BOOL:(yes no)' \
  '--fold-output=-[print a line once if several instances write it]::BOOL:(yes no)' \
  '--output-filename=[also write each instance'\''s output to files in this directory]:DIR:_files -/' \
  '--only-output-from-instance=[drop the output of all other instances, including their errors]:N: ' \
  '--only-stdout-from-instance=[drop the standard output of all other instances, but not their errors]:N: ' \
  '--timeout=[end the job after this time: 90, 1.5, 90s, 10m or 2h]:TIME: ' \
  '--stack-traces=-[when --timeout expires, print a stack trace of each instance]::BOOL:(yes no)' \
  '--kill-grace=[time between SIGTERM and SIGKILL when instances are stopped]:TIME: ' \
  '--max-restarts=[restart the job up to N times after a failure]:N: ' \
  '--restart-delay=[time to wait before a restart]:TIME: ' \
  '--min-hosts=[with --max-restarts: after hosts are lost, restart on the others if at least N are left and the instances divide evenly over them]:N: ' \
  '--allow-run-as-root=-[no: refuse to run as root]::BOOL:(yes no)' \
  '--detach[print a job'\''s number and return; the job goes on without a terminal]' \
  '--name=[with --detach: name of the job, which --attach and the others take instead of its number]:NAME: ' \
  '--on-hangup=[when the terminal hangs up: stop ends the job, detach lets it go on as a detached one]:WHAT:(stop detach)' \
  '--log-limit=[most that is kept of a detached job'\''s output: its first 4 MiB and its end]:SIZE: ' \
  '--jobs=-[list your detached jobs on this host, or on HOST]::HOST\:: ' \
  '--json[with --jobs: print them as JSON]' \
  '--attach=[print a detached job'\''s output, go on with it, and exit as the job does; ID is its number, its name, or HOST:ID; Ctrl-C ends only this poprun]:ID: ' \
  '--control[with --attach: Ctrl-C and Ctrl-Z are for the job]' \
  '--logs=[print what a detached job has written so far]:ID: ' \
  '--follow[with --logs: go on until the job ends]' \
  '-f[with --logs: go on until the job ends]' \
  '--cancel=[end a detached job; a second time: kill it]:ID: ' \
  '--controller=[have popdistd there run the job; without --detach, show it: Ctrl-C ends it, and it outlives the terminal]:HOST\:PORT[,...]: ' \
  '--controller-tls=[with --controller: ca.pem, and user-NAME.pem with its key: your certificate]:DIR:_files -/' \
  '--num-hosts=[with --controller and without --host: number of hosts, which popdistd chooses]:N: ' \
  '--priority=[with --controller: jobs with a higher one start first]:N: ' \
  '--held[with --controller: the job waits until `popctl release job`]' \
  '--no-wait[with --controller: fail if the job cannot start now]' \
  '--dry-run=-[print the placement and environment of each instance, as text or json, and exit]::FORMAT:(text json no)' \
  '--debug=-[print all that may help to find a problem: --vv, --report-bindings and the options as understood]::BOOL:(yes no)' \
  '--scaling-report=[print what the trainings in the log that POPDIST_SCALING_LOG named say about scaling, and exit]:LOG:_files' \
  '--scaling-format=[form of --scaling-report; svg is a picture of throughput against replicas]:FORMAT:(markdown json svg)' \
  '--import-config=[read options from a file; options on the command line override them]:FILE:_files' \
  '--export-config=[write the options to a file before the job starts; without a program, do only that]:FILE:_files' \
  '--overwrite-config=-[allow --export-config to replace a file]::BOOL:(yes no)' \
  '--vipu-server-host=[host of the V-IPU server]:HOST: ' \
  '--vipu-server-port=[port of the V-IPU server]:PORT: ' \
  '--vipu-server-timeout=[time limit of each request to the server]:SECONDS: ' \
  '--vipu-partition=[partition to create or use]:NAME: ' \
  '--vipu-partition-attempts=[attempts to bind to the partition]:N: ' \
  '--vipu-allocation=[allocation in which a partition is created]:NAME: ' \
  '--vipu-cluster=[deprecated name of --vipu-allocation]:NAME: ' \
  '--update-partition=-[change the partition if it does not fit the job]::BOOL:(yes no)' \
  '--reset-partition=-[reset the partition before the job]::BOOL:(yes no)' \
  '--remove-partition=-[remove the partition after the job, if poprun has created it]::BOOL:(yes no)' \
  '--sync-type=[synchronisation of the partition'\''s IPUs]:TYPE:(ST_GS2_DEFAULT ST_GS2_INDEPENDENT_RAILS ST_POD_NATIVE_DEFAULT ST_POD_NATIVE_REPLICATED_PIPELINE)' \
  '*--mpi-global-args=[options of mpirun, split as a shell would: -x, --tag-output, --timestamp-output, --output-filename, --allow-run-as-root, --bind-to, --map-by, --report-bindings and --wdir are supported]:ARGS: ' \
  '*--mpi-local-args=[the same, for the arguments that PopRun gives to each instance]:ARGS: ' \
  '(-)1: :{_alternative "programs:program:_command_names -e" "commands:command:(doctor simulate)"}' \
  '*:: :_normal'
