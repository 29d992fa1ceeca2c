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
    " ") words="submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion" ;;
    "attach ") words="job jobs" ;;
    "cancel ") words="job jobs" ;;
    "check ") words="store audit" ;;
    "completion ") words="bash zsh fish" ;;
    "create ") words="partition partitions cluster clusters agent agents allocation allocations user users token tokens" ;;
    "delete ") words="partition partitions" ;;
    "drain ") words="host hosts agent agents" ;;
    "forget ") words="job jobs" ;;
    "get ") words="job jobs host hosts partition partitions" ;;
    "hold ") words="job jobs" ;;
    "list ") words="jobs job hosts host quotas quota partitions partition ipu-attrs ipu-attr clusters cluster agents agent allocations allocation users user tokens token audit" ;;
    "logs ") words="job jobs" ;;
    "release ") words="job jobs partition partitions" ;;
    "remove ") words="host hosts quota quotas partition partitions cluster clusters agent agents allocation allocations user users token tokens" ;;
    "reset ") words="partition partitions" ;;
    "resume ") words="host hosts agent agents" ;;
    "set ") words="quota quotas" ;;
    "signal ") words="job jobs" ;;
    "submit ") words="job" ;;
    "wait ") words="job jobs" ;;
    "submit job") words="--help --name --held --priority --hosts --allocation --no-wait --wait --attach" ;;
    "list jobs"|"list job") words="--help --user --state --name --host --limit --watch" ;;
    "list hosts"|"list host") words="--help --watch" ;;
    "get job"|"get jobs") words="--help" ;;
    "get host"|"get hosts") words="--help" ;;
    "cancel job"|"cancel jobs") words="--help --user --name --reason" ;;
    "signal job"|"signal jobs") words="--help" ;;
    "hold job"|"hold jobs") words="--help --user --name" ;;
    "release job"|"release jobs") words="--help --user --name" ;;
    "wait job"|"wait jobs") words="--help" ;;
    "forget job"|"forget jobs") words="--help --user --name" ;;
    "logs job"|"logs jobs") words="--help --follow --since-sequence" ;;
    "attach job"|"attach jobs") words="--help --control" ;;
    "drain host"|"drain hosts") words="--help --reason" ;;
    "resume host"|"resume hosts") words="--help" ;;
    "remove host"|"remove hosts") words="--help" ;;
    "set quota"|"set quotas") words="--help --user --allocation --queued --running --instances --ipus --share" ;;
    "list quotas"|"list quota") words="--help" ;;
    "remove quota"|"remove quotas") words="--help --user --allocation" ;;
    "check store") words="--help" ;;
    backup*) words="--help" ;;
    about*) words="--help" ;;
    top*) words="--help" ;;
    "create partition"|"create partitions") words="--help --size --allocation --cluster --num-gcds --gcds --gcd-sync-replicas --num-segments --segments --index --reconfigurable --routing --gw-routing --sync-type --relocatable --no-auto-reset --no-ipuof-files" ;;
    "list partitions"|"list partition") words="--help --allocation" ;;
    "get partition"|"get partitions") words="--help --gcd --ipuof-configs --ipu-configs --system" ;;
    "reset partition"|"reset partitions") words="--help --relocatable" ;;
    "remove partition"|"remove partitions") words="--help --force" ;;
    "delete partition"|"delete partitions") words="--help --force" ;;
    "release partition"|"release partitions") words="--help --reason --force" ;;
    "list ipu-attrs"|"list ipu-attr") words="--help --agents" ;;
    "create cluster"|"create clusters") words="--help --num-ipulinkdomains --num-ilds --machines-per-ild --topology --cluster-topology" ;;
    "list clusters"|"list cluster") words="--help" ;;
    "remove cluster"|"remove clusters") words="--help" ;;
    "create agent"|"create agents") words="--help --cluster --ild --position --host --ip" ;;
    "list agents"|"list agent") words="--help --cluster" ;;
    "remove agent"|"remove agents") words="--help" ;;
    "drain agent"|"drain agents") words="--help --reason" ;;
    "resume agent"|"resume agents") words="--help" ;;
    "create allocation"|"create allocations") words="--help --cluster --agents --users --replace" ;;
    "list allocations"|"list allocation") words="--help" ;;
    "remove allocation"|"remove allocations") words="--help" ;;
    "create user"|"create users") words="--help --role --vipu-key" ;;
    "list users"|"list user") words="--help" ;;
    "remove user"|"remove users") words="--help" ;;
    "create token"|"create tokens") words="--help --scope --expires --user" ;;
    "list tokens"|"list token") words="--help" ;;
    "remove token"|"remove tokens") words="--help" ;;
    "list audit") words="--help --user --limit" ;;
    "check audit") words="--help" ;;
    completion*) words="--help" ;;
  esac
  words="$words --server --tls --token-file --json --quiet --timeout --reconnect --help"
    print -r -- "$words"
  }
  local fitting="$(_popctl_words)"
  compadd -- ${=fitting}
}
_popctl "$@"
