# SPDX-License-Identifier: Apache-2.0
# Completion of poprun for fish. Made by scripts/gen_options_doc from poprun/cli/option_rows.cpp.

# Options that take the next word, whatever it is.
set -g __poprun_take_value --version-format --num-instances -np -n --np --num-replicas --ipus-per-replica --num-ilds --system --host -H --hostfile --instances-per-host --host-subnet --synchronise --process-placement --cores-per-instance --numa-aware --ssh-config --rsh --agent-path --agent-port --agent-tls --connect-timeout --host-silence -x --wdir -wdir -wd --wd --env-for --tf-config-tasks --collectives --executable-cache-path --stdin --output-filename --only-output-from-instance --only-stdout-from-instance --timeout --kill-grace --max-restarts --restart-delay --min-hosts --name --on-hangup --log-limit --attach --logs --cancel --controller --controller-tls --num-hosts --priority --scaling-report --scaling-format --import-config --export-config --vipu-server-host --vipu-server-port --vipu-server-timeout --vipu-partition --vipu-partition-attempts --vipu-allocation --vipu-cluster --sync-type --mpi-global-args --mpi-local-args

function __poprun_before_program
  set -l words (commandline -opc)
  set -l takes_value no
  for word in $words[2..]
    if test $takes_value = yes
      set takes_value no
      continue
    end
    switch $word
      case doctor yes no on off true false 0 1 auto instance host mpi text json
        continue
      case --
        return 1
      case '-*'
        contains -- $word $__poprun_take_value; and set takes_value yes
      case '*'
        return 1
    end
  end
end

complete -c poprun -n __poprun_before_program -x -a '(__fish_complete_command)'
function __poprun_simulates
  set -l words (commandline -opc)
  test (count $words) -gt 1; and test "$words[2]" = simulate
end

function __poprun_at_first_word
  test (count (commandline -opc)) -eq 1
end

complete -c poprun -n __poprun_before_program -a doctor -d 'Examine the hosts of a job'
complete -c poprun -n __poprun_at_first_word -a simulate -d 'Predict a training on other Pods'
complete -c poprun -n __poprun_simulates -f
complete -c poprun -n __poprun_before_program -l help -s h -d 'print this text and exit' -f
complete -c poprun -n __poprun_before_program -l version -s V -d 'print the version and exit' -f
complete -c poprun -n __poprun_before_program -l version-format -d 'form of --version; full-text and full-json add the versions of poprun\'s components' -r -f -a 'text full-text full-json'
complete -c poprun -n __poprun_before_program -l verbose -s v -d 'print what the job does' -f
complete -c poprun -n __poprun_before_program -l vv -o vv -d 'print every event with its time, and the topology' -f
complete -c poprun -n __poprun_before_program -l num-instances -o np -s n -l np -d 'processes of the program, divided evenly over the hosts' -r -f
complete -c poprun -n __poprun_before_program -l num-replicas -d 'total number of copies of the model, divided evenly over the instances' -r -f
complete -c poprun -n __poprun_before_program -l uneven-replicas -d 'if the replicas do not divide evenly, give the first instances one more' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l ipus-per-replica -d 'IPUs of one replica, a power of two' -r -f
complete -c poprun -n __poprun_before_program -l num-ilds -d 'IPU-Link domains; the instances are divided evenly over them' -r -f
complete -c poprun -n __poprun_before_program -l system -d 'Pod to emulate, such as pod16 or bow-pod64, or a system file such as ./my.system' -r -f -a 'pod4 pod16 pod64 pod128 pod256 bow-pod16 bow-pod64 bow-pod128 bow-pod256 mk1-16 mk1-64 pod64-torus pod64-twist pod1024 pod4096 pod16384 pod65536'
complete -c poprun -n __poprun_before_program -l offline-mode -d 'run without attaching to any IPU' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l host -s H -d 'hosts, separated by commas; \'host[0-2,4]\' is a range (quote it, or the shell expands it); name:N gives a host N slots' -r -f
complete -c poprun -n __poprun_before_program -l hostfile -d 'hosts, one per line, each with or without slots=N' -r -F
complete -c poprun -n __poprun_before_program -l instances-per-host -d 'instances that each host can have, whatever its slots; even divides the instances evenly, each host up to its slots, and the first hosts may get one more' -r -f -a 'even'
complete -c poprun -n __poprun_before_program -l oversubscribe -d 'if there are more instances than slots, divide them evenly over the hosts' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l host-subnet -d 'network between the hosts, such as 10.1.0.0/16, or their network interface, such as eth0; of several interfaces, each host uses its first' -r -f
complete -c poprun -n __poprun_before_program -l synchronise -d 'copy a file or directory to the same place on every other host before the job starts; may be repeated' -r -F
complete -c poprun -n __poprun_before_program -l synchronise-python-venv -d 'copy the active Python environment (VIRTUAL_ENV) to every other host' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l synchronise-poplar-sdk -d 'copy the enabled Poplar SDK (POPLAR_SDK_ENABLED) to every other host' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l distribute-ssh-key -d 'install the user\'s ssh key on every other host; asks for a password where a host does not accept the key yet' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l process-placement -d 'CPUs and memory of each instance: spreadnuma divides the memory nodes; spreadcores and compact divide the cores (far apart, or neighbours); disabled binds nothing; or one list of CPUs for each instance of a host, such as 0-3:4-7' -r -f -a 'spreadnuma spreadcores compact disabled'
complete -c poprun -n __poprun_before_program -l cores-per-instance -d 'cores of each instance, with --process-placement spreadcores or compact' -r -f
complete -c poprun -n __poprun_before_program -l numa-aware -d 'older form: yes means --process-placement spreadnuma, no means disabled' -r -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l report-bindings -d 'print the CPUs and memory of each instance' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l print-topology -d 'print the table of hosts, IPU-Link domains, instances and replicas' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l ssh-config -d 'SSH configuration to use, as `ssh -F`' -r -F
complete -c poprun -n __poprun_before_program -l rsh -d 'reach hosts with this program and arguments, such as \'ssh -J gate\'' -r -f
complete -c poprun -n __poprun_before_program -l agent-path -d 'popdist-agent on every host; by default a host without it gets a copy in ~/.cache/poprun' -r -f
complete -c poprun -n __poprun_before_program -l agent-port -d 'reach hosts through the agent service (popdist-agent serve) at this port on each host' -r -f
complete -c poprun -n __poprun_before_program -l agent-tls -d 'ca.pem, and user-NAME.pem with its key: your certificate for the agent service' -r -f -a '(__fish_complete_directories)'
complete -c poprun -n __poprun_before_program -l connect-timeout -d 'time limit for connecting to a host; if given, hosts that are not up yet are tried again until then' -r -f
complete -c poprun -n __poprun_before_program -l host-silence -d 'declare a host lost after this long without a heartbeat (minimum 2 s); agents apply it to poprun too' -r -f
complete -c poprun -n __poprun_before_program -s x -d 'set a variable in the program\'s environment, or forward poprun\'s own; \'NAME*\' forwards all that match; may be repeated' -r -f
complete -c poprun -n __poprun_before_program -l genvall -o genvall -l envall -d 'forward poprun\'s whole environment to other hosts, except variables of the login session here (HOME, TERM, SSH_*, …)' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l wdir -o wdir -o wd -l wd -d 'working directory of the program' -r -f -a '(__fish_complete_directories)'
complete -c poprun -n __poprun_before_program -l env-for -d 'frameworks whose variables are set in addition to PopDist\'s: all, none, or a list of poplar, tensorflow, pytorch, horovod, jax, openmpi, slurm and openmp, separated by commas' -r -f -a "(__fish_append , all none poplar tensorflow pytorch horovod jax openmpi slurm openmp)"
complete -c poprun -n __poprun_before_program -l tf-config-tasks -d 'tasks in TF_CONFIG: workers, or chief (instance 0), evaluator (the last instance) or both, separated by a comma' -r -f -a "(__fish_append , workers chief evaluator)"
complete -c poprun -n __poprun_before_program -l collectives -d 'algorithms of the program\'s collectives, separated by commas: within a host eager, staged, direct, pull or messages; between all instances tcp; for an all-reduce by messages ring, segmented-ring, recursive-doubling or halving-doubling (popdist-algorithms measures them)' -r -f -a "(__fish_append , eager staged direct pull messages tcp ring segmented-ring recursive-doubling halving-doubling)"
complete -c poprun -n __poprun_before_program -l executable-cache-path -d 'directory for compiled executables, shared by all instances of a host' -r -f -a '(__fish_complete_directories)'
complete -c poprun -n __poprun_before_program -l stdin -d 'the instances that read poprun\'s standard input: one, all or none' -r -f -a 'none all'
complete -c poprun -n __poprun_before_program -l tag-output -d 'begin each line with [instance] (instance or yes), host:instance: (host), the tag of mpirun (mpi) or nothing (no); auto: as instance if several instances write' -f -a 'auto no instance yes host mpi'
complete -c poprun -n __poprun_before_program -l timestamp-output -d 'begin each line with the time' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l fold-output -d 'print a line once if several instances write it' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l output-filename -d 'also write each instance\'s output to files in this directory' -r -f -a '(__fish_complete_directories)'
complete -c poprun -n __poprun_before_program -l only-output-from-instance -d 'drop the output of all other instances, including their errors' -r -f
complete -c poprun -n __poprun_before_program -l only-stdout-from-instance -d 'drop the standard output of all other instances, but not their errors' -r -f
complete -c poprun -n __poprun_before_program -l timeout -d 'end the job after this time: 90, 1.5, 90s, 10m or 2h' -r -f
complete -c poprun -n __poprun_before_program -l stack-traces -d 'when --timeout expires, print a stack trace of each instance' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l kill-grace -d 'time between SIGTERM and SIGKILL when instances are stopped' -r -f
complete -c poprun -n __poprun_before_program -l max-restarts -d 'restart the job up to N times after a failure' -r -f
complete -c poprun -n __poprun_before_program -l restart-delay -d 'time to wait before a restart' -r -f
complete -c poprun -n __poprun_before_program -l min-hosts -d 'with --max-restarts: after hosts are lost, restart on the others if at least N are left and the instances divide evenly over them' -r -f
complete -c poprun -n __poprun_before_program -l allow-run-as-root -d 'no: refuse to run as root' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l detach -d 'print a job\'s number and return; the job goes on without a terminal' -f
complete -c poprun -n __poprun_before_program -l name -d 'with --detach: name of the job, which --attach and the others take instead of its number' -r -f
complete -c poprun -n __poprun_before_program -l on-hangup -d 'when the terminal hangs up: stop ends the job, detach lets it go on as a detached one' -r -f -a 'stop detach'
complete -c poprun -n __poprun_before_program -l log-limit -d 'most that is kept of a detached job\'s output: its first 4 MiB and its end' -r -f
complete -c poprun -n __poprun_before_program -l jobs -d 'list your detached jobs on this host, or on HOST' -f
complete -c poprun -n __poprun_before_program -l json -d 'with --jobs: print them as JSON' -f
complete -c poprun -n __poprun_before_program -l attach -d 'print a detached job\'s output, go on with it, and exit as the job does; ID is its number, its name, or HOST:ID; Ctrl-C ends only this poprun' -r -f
complete -c poprun -n __poprun_before_program -l control -d 'with --attach: Ctrl-C and Ctrl-Z are for the job' -f
complete -c poprun -n __poprun_before_program -l logs -d 'print what a detached job has written so far' -r -f
complete -c poprun -n __poprun_before_program -l follow -s f -d 'with --logs: go on until the job ends' -f
complete -c poprun -n __poprun_before_program -l cancel -d 'end a detached job; a second time: kill it' -r -f
complete -c poprun -n __poprun_before_program -l controller -d 'have popdistd there run the job; without --detach, show it: Ctrl-C ends it, and it outlives the terminal' -r -f
complete -c poprun -n __poprun_before_program -l controller-tls -d 'with --controller: ca.pem, and user-NAME.pem with its key: your certificate' -r -f -a '(__fish_complete_directories)'
complete -c poprun -n __poprun_before_program -l num-hosts -d 'with --controller and without --host: number of hosts, which popdistd chooses' -r -f
complete -c poprun -n __poprun_before_program -l priority -d 'with --controller: jobs with a higher one start first' -r -f
complete -c poprun -n __poprun_before_program -l held -d 'with --controller: the job waits until `popctl release job`' -f
complete -c poprun -n __poprun_before_program -l no-wait -d 'with --controller: fail if the job cannot start now' -f
complete -c poprun -n __poprun_before_program -l dry-run -d 'print the placement and environment of each instance, as text or json, and exit' -f -a 'text json no'
complete -c poprun -n __poprun_before_program -l debug -d 'print all that may help to find a problem: --vv, --report-bindings and the options as understood' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l scaling-report -d 'print what the trainings in the log that POPDIST_SCALING_LOG named say about scaling, and exit' -r -F
complete -c poprun -n __poprun_before_program -l scaling-format -d 'form of --scaling-report; svg is a picture of throughput against replicas' -r -f -a 'markdown json svg'
complete -c poprun -n __poprun_before_program -l import-config -d 'read options from a file; options on the command line override them' -r -F
complete -c poprun -n __poprun_before_program -l export-config -d 'write the options to a file before the job starts; without a program, do only that' -r -F
complete -c poprun -n __poprun_before_program -l overwrite-config -d 'allow --export-config to replace a file' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l vipu-server-host -d 'host of the V-IPU server' -r -f
complete -c poprun -n __poprun_before_program -l vipu-server-port -d 'port of the V-IPU server' -r -f
complete -c poprun -n __poprun_before_program -l vipu-server-timeout -d 'time limit of each request to the server' -r -f
complete -c poprun -n __poprun_before_program -l vipu-partition -d 'partition to create or use' -r -f
complete -c poprun -n __poprun_before_program -l vipu-partition-attempts -d 'attempts to bind to the partition' -r -f
complete -c poprun -n __poprun_before_program -l vipu-allocation -d 'allocation in which a partition is created' -r -f
complete -c poprun -n __poprun_before_program -l vipu-cluster -d 'deprecated name of --vipu-allocation' -r -f
complete -c poprun -n __poprun_before_program -l update-partition -d 'change the partition if it does not fit the job' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l reset-partition -d 'reset the partition before the job' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l remove-partition -d 'remove the partition after the job, if poprun has created it' -f -a 'yes no'
complete -c poprun -n __poprun_before_program -l sync-type -d 'synchronisation of the partition\'s IPUs' -r -f -a 'ST_GS2_DEFAULT ST_GS2_INDEPENDENT_RAILS ST_POD_NATIVE_DEFAULT ST_POD_NATIVE_REPLICATED_PIPELINE'
complete -c poprun -n __poprun_before_program -l mpi-global-args -d 'options of mpirun, split as a shell would: -x, --tag-output, --timestamp-output, --output-filename, --allow-run-as-root, --bind-to, --map-by, --report-bindings and --wdir are supported' -r -f
complete -c poprun -n __poprun_before_program -l mpi-local-args -d 'the same, for the arguments that PopRun gives to each instance' -r -f
complete -c poprun -n __poprun_simulates -l help -d 'print this text and exit' -f
complete -c poprun -n __poprun_simulates -l model -d 'the training, as key = value lines with units' -r -F
complete -c poprun -n __poprun_simulates -l fit -d 'measured runs, from which the times that the model leaves out are learned: comma-separated values, or the log that POPDIST_SCALING_LOG named' -r -F
complete -c poprun -n __poprun_simulates -l hold-out -d 'runs on these Pods are compared with their prediction, and not learned from' -r -f -a "(__fish_append , pod4 pod16 pod64 pod128 pod256 bow-pod16 bow-pod64 bow-pod128 bow-pod256 mk1-16 mk1-64 pod64-torus pod64-twist pod1024 pod4096 pod16384 pod65536)"
complete -c poprun -n __poprun_simulates -l export-model -d 'write the model with all that was learned into this new file' -r -F
complete -c poprun -n __poprun_simulates -l system -d 'Pods to predict for, or system files such as ./my.system, separated by commas' -r -f -a "(__fish_append , pod4 pod16 pod64 pod128 pod256 bow-pod16 bow-pod64 bow-pod128 bow-pod256 mk1-16 mk1-64 pod64-torus pod64-twist pod1024 pod4096 pod16384 pod65536)"
complete -c poprun -n __poprun_simulates -l all-reduce -d 'instead of a training: the ways to sum so much of each replica, such as 64MiB, and their times' -r -f
complete -c poprun -n __poprun_simulates -l collective -d 'the same for all-reduce, reduce-scatter, all-gather, all-to-all or broadcast of a vector of SIZE' -r -f
complete -c poprun -n __poprun_simulates -l group -d 'of a collective: groups of N replicas, STRIDE apart, which all make it at the same time' -r -f
complete -c poprun -n __poprun_simulates -l within-replica -d 'of a collective: the IPUs of each replica make it, each with a vector of SIZE; groups are of them' -f
complete -c poprun -n __poprun_simulates -l replay -d 'instead of a training: the collectives of the Chakra execution traces PREFIX.0.et, PREFIX.1.et and so on, one for each replica' -r -F
complete -c poprun -n __poprun_simulates -l export-chakra -d 'write the all-reduce, or a step of the training, as new Chakra execution traces PREFIX.0.et and so on' -r -F
complete -c poprun -n __poprun_simulates -l remove-link -d 'what if these cables were out? Such as ipu0-ipu2, separated by commas' -r -f -a "(__fish_append , )"
complete -c poprun -n __poprun_simulates -l slow-ipu -d 'what if these IPUs were slow? Such as ipu3=0.8, separated by commas' -r -f -a "(__fish_append , )"
complete -c poprun -n __poprun_simulates -l topology -d 'what if the IPUs were joined so: mesh, torus or barley-twist' -r -f -a 'mesh torus barley-twist'
complete -c poprun -n __poprun_simulates -l ipus-per-replica -d 'of a collective or a replay; of a training the model says it' -r -f
complete -c poprun -n __poprun_simulates -l algorithm -d 'gcl or quickest; of a collective also the beginning of a name in its table' -r -f
complete -c poprun -n __poprun_simulates -l show-steps -d 'print the copies between replicas of a collective\'s algorithm, round by round' -f
complete -c poprun -n __poprun_simulates -l num-replicas -d 'copies of the model' -r -f
complete -c poprun -n __poprun_simulates -l micro-batch -d 'elements of a micro-batch' -r -f
complete -c poprun -n __poprun_simulates -l gradient-accumulation -d 'number of micro-batches of a step' -r -f
complete -c poprun -n __poprun_simulates -l global-batch -d 'samples of a step, whatever the Pod: decides the gradient accumulation on each of them' -r -f
complete -c poprun -n __poprun_simulates -l trace -d 'write the timeline of a collective\'s algorithm into this new file, for Perfetto or chrome://tracing' -r -F
complete -c poprun -n __poprun_simulates -l show-system -d 'print the Pod as a system file, to change and to give to --system; with --svg as a picture' -f
complete -c poprun -n __poprun_simulates -l json -d 'print one JSON object, in seconds and samples' -f
complete -c poprun -n __poprun_simulates -l svg -d 'print a picture: throughput against replicas, or the Pod of --show-system' -f
