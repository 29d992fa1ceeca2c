#compdef popctl
# SPDX-License-Identifier: Apache-2.0
# Made by scripts/gen_options_doc from popctl's command table.
_popctl() {
  local -a before; before=("${(@)words[2,CURRENT-1]}")
  _popctl_words() {
  local verb= noun= word skip= words=
  for word in "${before[@]}"; do
    if [ -n "$skip" ]; then skip=; continue; fi
    case $word in
      --server|--tls|--timeout|--reconnect) skip=yes ;;
      -*) ;;
      *) if [ -z "$verb" ]; then verb=$word; elif [ -z "$noun" ]; then noun=$word; fi ;;
    esac
  done
  case "$verb $noun" in
    " ") words="submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion" ;;
    "attach ") words="job jobs" ;;
    "cancel ") words="job jobs" ;;
    "check ") words="store" ;;
    "completion ") words="bash zsh fish" ;;
    "drain ") words="host hosts" ;;
    "forget ") words="job jobs" ;;
    "get ") words="job jobs host hosts" ;;
    "hold ") words="job jobs" ;;
    "list ") words="jobs job hosts host" ;;
    "logs ") words="job jobs" ;;
    "release ") words="job jobs" ;;
    "remove ") words="host hosts" ;;
    "resume ") words="host hosts" ;;
    "signal ") words="job jobs" ;;
    "submit ") words="job" ;;
    "wait ") words="job jobs" ;;
    "submit job") words="--help --name --held --priority --hosts --no-wait --wait --attach" ;;
    "list jobs"|"list job") words="--help --user --state --name --host --limit --watch" ;;
    "list hosts"|"list host") words="--help --watch" ;;
    "get job"|"get jobs") words="--help" ;;
    "get host"|"get hosts") words="--help" ;;
    "cancel job"|"cancel jobs") words="--help --reason" ;;
    "signal job"|"signal jobs") words="--help" ;;
    "hold job"|"hold jobs") words="--help" ;;
    "release job"|"release jobs") words="--help" ;;
    "wait job"|"wait jobs") words="--help" ;;
    "forget job"|"forget jobs") words="--help" ;;
    "logs job"|"logs jobs") words="--help --follow --since-sequence" ;;
    "attach job"|"attach jobs") words="--help --control" ;;
    "drain host"|"drain hosts") words="--help --reason" ;;
    "resume host"|"resume hosts") words="--help" ;;
    "remove host"|"remove hosts") words="--help" ;;
    "check store") words="--help" ;;
    backup*) words="--help" ;;
    about*) words="--help" ;;
    top*) words="--help" ;;
    completion*) words="--help" ;;
  esac
  words="$words --server --tls --json --quiet --timeout --reconnect --help"
    print -r -- "$words"
  }
  local fitting="$(_popctl_words)"
  compadd -- ${=fitting}
}
_popctl "$@"
