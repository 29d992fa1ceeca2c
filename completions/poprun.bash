# SPDX-License-Identifier: Apache-2.0
# Completion of poprun for bash. Made by scripts/gen_options_doc from poprun/cli/option_rows.cpp.

_poprun_names='--help -h --version -V --version-format --verbose -v --vv -vv --num-instances -np -n --np --num-replicas --uneven-replicas --ipus-per-replica --num-ilds --system --offline-mode --host -H --hostfile --instances-per-host --oversubscribe --host-subnet --synchronise --synchronise-python-venv --synchronise-poplar-sdk --distribute-ssh-key --process-placement --cores-per-instance --numa-aware --report-bindings --print-topology --ssh-config --rsh --agent-path --agent-port --agent-tls --connect-timeout --host-silence -x --genvall -genvall --envall --wdir -wdir -wd --wd --env-for --tf-config-tasks --collectives --executable-cache-path --stdin --tag-output --timestamp-output --fold-output --output-filename --only-output-from-instance --only-stdout-from-instance --timeout --stack-traces --kill-grace --max-restarts --restart-delay --min-hosts --allow-run-as-root --detach --name --on-hangup --log-limit --jobs --json --attach --control --logs --follow -f --cancel --controller --controller-tls --num-hosts --priority --held --no-wait --dry-run --debug --scaling-report --scaling-format --import-config --export-config --overwrite-config --vipu-server-host --vipu-server-port --vipu-server-timeout --vipu-partition --vipu-partition-attempts --vipu-allocation --vipu-cluster --update-partition --reset-partition --remove-partition --sync-type --mpi-global-args --mpi-local-args'

# Options that take the next word, whatever it is.
_poprun_take_value=' --version-format --num-instances -np -n --np --num-replicas --ipus-per-replica --num-ilds --system --host -H --hostfile --instances-per-host --host-subnet --synchronise --process-placement --cores-per-instance --numa-aware --ssh-config --rsh --agent-path --agent-port --agent-tls --connect-timeout --host-silence -x --wdir -wdir -wd --wd --env-for --tf-config-tasks --collectives --executable-cache-path --stdin --output-filename --only-output-from-instance --only-stdout-from-instance --timeout --kill-grace --max-restarts --restart-delay --min-hosts --name --on-hangup --log-limit --attach --logs --cancel --controller --controller-tls --num-hosts --priority --scaling-report --scaling-format --import-config --export-config --vipu-server-host --vipu-server-port --vipu-server-timeout --vipu-partition --vipu-partition-attempts --vipu-allocation --vipu-cluster --sync-type --mpi-global-args --mpi-local-args '

_poprun_value() {
  local word=$2
  case $1 in
    --version-format) COMPREPLY=($(compgen -W 'text full-text full-json' -- "$word")) ;;
    --num-instances | -np | -n | --np) COMPREPLY=() ;;
    --num-replicas) COMPREPLY=() ;;
    --uneven-replicas) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --ipus-per-replica) COMPREPLY=() ;;
    --num-ilds) COMPREPLY=() ;;
    --system) COMPREPLY=($(compgen -W 'pod4 pod16 pod64 pod128 pod256 bow-pod16 bow-pod64 bow-pod128 bow-pod256 mk1-16 mk1-64 pod64-torus pod64-twist pod1024 pod4096 pod16384 pod65536' -- "$word")) ;;
    --offline-mode) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --host | -H) COMPREPLY=() ;;
    --hostfile) _poprun_paths -f "$word" ;;
    --instances-per-host) COMPREPLY=($(compgen -W 'even' -- "$word")) ;;
    --oversubscribe) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --host-subnet) COMPREPLY=() ;;
    --synchronise) _poprun_paths -f "$word" ;;
    --synchronise-python-venv) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --synchronise-poplar-sdk) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --distribute-ssh-key) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --process-placement) COMPREPLY=($(compgen -W 'spreadnuma spreadcores compact disabled' -- "$word")) ;;
    --cores-per-instance) COMPREPLY=() ;;
    --numa-aware) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --report-bindings) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --print-topology) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --ssh-config) _poprun_paths -f "$word" ;;
    --rsh) COMPREPLY=() ;;
    --agent-path) COMPREPLY=() ;;
    --agent-port) COMPREPLY=() ;;
    --agent-tls) _poprun_paths -d "$word" ;;
    --connect-timeout) COMPREPLY=() ;;
    --host-silence) COMPREPLY=() ;;
    -x) COMPREPLY=() ;;
    --genvall | -genvall | --envall) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --wdir | -wdir | -wd | --wd) _poprun_paths -d "$word" ;;
    --env-for) _poprun_list 'all none poplar tensorflow pytorch horovod jax openmpi slurm openmp' "$word" ;;
    --tf-config-tasks) _poprun_list 'workers chief evaluator' "$word" ;;
    --collectives) _poprun_list 'eager staged direct pull messages tcp ring segmented-ring recursive-doubling halving-doubling' "$word" ;;
    --executable-cache-path) _poprun_paths -d "$word" ;;
    --stdin) COMPREPLY=($(compgen -W 'none all' -- "$word")) ;;
    --tag-output) COMPREPLY=($(compgen -W 'auto no instance yes host mpi' -- "$word")) ;;
    --timestamp-output) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --fold-output) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --output-filename) _poprun_paths -d "$word" ;;
    --only-output-from-instance) COMPREPLY=() ;;
    --only-stdout-from-instance) COMPREPLY=() ;;
    --timeout) COMPREPLY=() ;;
    --stack-traces) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --kill-grace) COMPREPLY=() ;;
    --max-restarts) COMPREPLY=() ;;
    --restart-delay) COMPREPLY=() ;;
    --min-hosts) COMPREPLY=() ;;
    --allow-run-as-root) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --name) COMPREPLY=() ;;
    --on-hangup) COMPREPLY=($(compgen -W 'stop detach' -- "$word")) ;;
    --log-limit) COMPREPLY=() ;;
    --jobs) COMPREPLY=() ;;
    --attach) COMPREPLY=() ;;
    --logs) COMPREPLY=() ;;
    --cancel) COMPREPLY=() ;;
    --controller) COMPREPLY=() ;;
    --controller-tls) _poprun_paths -d "$word" ;;
    --num-hosts) COMPREPLY=() ;;
    --priority) COMPREPLY=() ;;
    --dry-run) COMPREPLY=($(compgen -W 'text json no' -- "$word")) ;;
    --debug) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --scaling-report) _poprun_paths -f "$word" ;;
    --scaling-format) COMPREPLY=($(compgen -W 'markdown json svg' -- "$word")) ;;
    --import-config) _poprun_paths -f "$word" ;;
    --export-config) _poprun_paths -f "$word" ;;
    --overwrite-config) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --vipu-server-host) COMPREPLY=() ;;
    --vipu-server-port) COMPREPLY=() ;;
    --vipu-server-timeout) COMPREPLY=() ;;
    --vipu-partition) COMPREPLY=() ;;
    --vipu-partition-attempts) COMPREPLY=() ;;
    --vipu-allocation) COMPREPLY=() ;;
    --vipu-cluster) COMPREPLY=() ;;
    --update-partition) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --reset-partition) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --remove-partition) COMPREPLY=($(compgen -W 'yes no' -- "$word")) ;;
    --sync-type) COMPREPLY=($(compgen -W 'ST_GS2_DEFAULT ST_GS2_INDEPENDENT_RAILS ST_POD_NATIVE_DEFAULT ST_POD_NATIVE_REPLICATED_PIPELINE' -- "$word")) ;;
    --mpi-global-args) COMPREPLY=() ;;
    --mpi-local-args) COMPREPLY=() ;;
    *) COMPREPLY=() ;;
  esac
}

# All of `poprun simulate`: no program follows.
_poprun_simulate_value() {
  local word=$2
  case $1 in
    --model) _poprun_paths -f "$word" ;;
    --fit) _poprun_paths -f "$word" ;;
    --hold-out) _poprun_list 'pod4 pod16 pod64 pod128 pod256 bow-pod16 bow-pod64 bow-pod128 bow-pod256 mk1-16 mk1-64 pod64-torus pod64-twist pod1024 pod4096 pod16384 pod65536' "$word" ;;
    --export-model) _poprun_paths -f "$word" ;;
    --system) _poprun_list 'pod4 pod16 pod64 pod128 pod256 bow-pod16 bow-pod64 bow-pod128 bow-pod256 mk1-16 mk1-64 pod64-torus pod64-twist pod1024 pod4096 pod16384 pod65536' "$word" ;;
    --all-reduce) COMPREPLY=() ;;
    --collective) COMPREPLY=() ;;
    --group) COMPREPLY=() ;;
    --replay) _poprun_paths -f "$word" ;;
    --export-chakra) _poprun_paths -f "$word" ;;
    --remove-link) COMPREPLY=() ;;
    --slow-ipu) COMPREPLY=() ;;
    --topology) COMPREPLY=($(compgen -W 'mesh torus barley-twist' -- "$word")) ;;
    --ipus-per-replica) COMPREPLY=() ;;
    --algorithm) COMPREPLY=() ;;
    --num-replicas) COMPREPLY=() ;;
    --micro-batch) COMPREPLY=() ;;
    --gradient-accumulation) COMPREPLY=() ;;
    --global-batch) COMPREPLY=() ;;
    --trace) _poprun_paths -f "$word" ;;
    *) COMPREPLY=($(compgen -W '--help --model --fit --hold-out --export-model --system --all-reduce --collective --group --within-replica --replay --export-chakra --remove-link --slow-ipu --topology --ipus-per-replica --algorithm --show-steps --num-replicas --micro-batch --gradient-accumulation --global-batch --trace --show-system --json --svg' -- "$word")) ;;
  esac
}

# The first word that is neither an option nor the value of one is the program.
_poprun_program_at() {
  local at=1 word
  [ "$COMP_CWORD" -gt 1 ] && [ "${COMP_WORDS[1]}" = doctor ] && at=2
  while [ "$at" -lt "$COMP_CWORD" ]; do
    word=${COMP_WORDS[at]}
    case $word in
      --) at=$((at + 1)); break ;;
      -?*) ;;
      *) break ;;
    esac
    at=$((at + 1))
    if [ "${COMP_WORDS[at]}" = = ]; then
      at=$((at + 2))
    elif [ "${_poprun_take_value#* "$word" }" != "$_poprun_take_value" ]; then
      at=$((at + 1))
    else
      case ${COMP_WORDS[at]} in
        yes | no | on | off | true | false | 0 | 1 | auto | instance | host | mpi | text | json)
          [ "$at" -lt "$COMP_CWORD" ] && at=$((at + 1)) ;;
      esac
    fi
  done
  echo "$at"
}

# Words that commas separate: the last of them.
_poprun_list() {
  local before=
  case $2 in *,*) before=${2%,*}, ;; esac
  COMPREPLY=($(compgen -P "$before" -W "$1" -- "${2##*,}"))
}

# Names of files (-f) or directories (-d), which may hold blanks.
_poprun_paths() {
  mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
  compopt -o filenames 2> /dev/null
}

_poprun() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program
  if [ "$COMP_CWORD" -gt 1 ] && [ "${COMP_WORDS[1]}" = simulate ]; then
    [ "$word" = = ] && word=
    [ "$before" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]}
    _poprun_simulate_value "$before" "$word"
    return
  fi
  program=$(_poprun_program_at)
  if [ "$program" -lt "$COMP_CWORD" ]; then
    _poprun_paths -f "$word"
  elif [ "$word" = = ]; then
    _poprun_value "$before" ''
  elif [ "$before" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
    _poprun_value "${COMP_WORDS[COMP_CWORD - 2]}" "$word"
  elif [ "${_poprun_take_value#* "$before" }" != "$_poprun_take_value" ]; then
    _poprun_value "$before" "$word"
  elif [ "${word#-}" != "$word" ]; then
    COMPREPLY=($(compgen -W "$_poprun_names" -- "$word"))
  else
    _poprun_value "$before" "$word"
    [ "${COMP_WORDS[1]}" = doctor ] || COMPREPLY+=($(compgen -c -- "$word"))
    [ "$COMP_CWORD" -gt 1 ] || COMPREPLY+=($(compgen -W 'doctor simulate' -- "$word"))
  fi
}

complete -o default -F _poprun poprun
