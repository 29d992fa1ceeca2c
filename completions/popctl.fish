# SPDX-License-Identifier: Apache-2.0
# Made by scripts/gen_options_doc from popctl's command table.
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a submit
complete -c popctl -n '__fish_seen_subcommand_from submit' -f -a job -d 'start a job'
complete -c popctl -n '__fish_seen_subcommand_from submit' -l help
complete -c popctl -n '__fish_seen_subcommand_from submit' -l name
complete -c popctl -n '__fish_seen_subcommand_from submit' -l held
complete -c popctl -n '__fish_seen_subcommand_from submit' -l priority
complete -c popctl -n '__fish_seen_subcommand_from submit' -l hosts
complete -c popctl -n '__fish_seen_subcommand_from submit' -l allocation
complete -c popctl -n '__fish_seen_subcommand_from submit' -l no-wait
complete -c popctl -n '__fish_seen_subcommand_from submit' -l wait
complete -c popctl -n '__fish_seen_subcommand_from submit' -l attach
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a list
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a jobs -d 'list jobs, the newest first'
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a job -d 'list jobs, the newest first'
complete -c popctl -n '__fish_seen_subcommand_from list' -l help
complete -c popctl -n '__fish_seen_subcommand_from list' -l user
complete -c popctl -n '__fish_seen_subcommand_from list' -l state
complete -c popctl -n '__fish_seen_subcommand_from list' -l name
complete -c popctl -n '__fish_seen_subcommand_from list' -l host
complete -c popctl -n '__fish_seen_subcommand_from list' -l limit
complete -c popctl -n '__fish_seen_subcommand_from list' -l watch
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a hosts -d 'list the hosts that have joined'
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a host -d 'list the hosts that have joined'
complete -c popctl -n '__fish_seen_subcommand_from list' -l help
complete -c popctl -n '__fish_seen_subcommand_from list' -l watch
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a get
complete -c popctl -n '__fish_seen_subcommand_from get' -f -a job -d 'print what is known of a job'
complete -c popctl -n '__fish_seen_subcommand_from get' -f -a jobs -d 'print what is known of a job'
complete -c popctl -n '__fish_seen_subcommand_from get' -l help
complete -c popctl -n '__fish_seen_subcommand_from get' -f -a host -d 'print what is known of a host'
complete -c popctl -n '__fish_seen_subcommand_from get' -f -a hosts -d 'print what is known of a host'
complete -c popctl -n '__fish_seen_subcommand_from get' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a cancel
complete -c popctl -n '__fish_seen_subcommand_from cancel' -f -a job -d 'end a job with grace; the second time, kill it'
complete -c popctl -n '__fish_seen_subcommand_from cancel' -f -a jobs -d 'end a job with grace; the second time, kill it'
complete -c popctl -n '__fish_seen_subcommand_from cancel' -l help
complete -c popctl -n '__fish_seen_subcommand_from cancel' -l user
complete -c popctl -n '__fish_seen_subcommand_from cancel' -l name
complete -c popctl -n '__fish_seen_subcommand_from cancel' -l reason
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a signal
complete -c popctl -n '__fish_seen_subcommand_from signal' -f -a job -d 'send a signal to all instances of a job'
complete -c popctl -n '__fish_seen_subcommand_from signal' -f -a jobs -d 'send a signal to all instances of a job'
complete -c popctl -n '__fish_seen_subcommand_from signal' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a hold
complete -c popctl -n '__fish_seen_subcommand_from hold' -f -a job -d 'keep a job that waits from starting'
complete -c popctl -n '__fish_seen_subcommand_from hold' -f -a jobs -d 'keep a job that waits from starting'
complete -c popctl -n '__fish_seen_subcommand_from hold' -l help
complete -c popctl -n '__fish_seen_subcommand_from hold' -l user
complete -c popctl -n '__fish_seen_subcommand_from hold' -l name
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a release
complete -c popctl -n '__fish_seen_subcommand_from release' -f -a job -d 'let a held job start'
complete -c popctl -n '__fish_seen_subcommand_from release' -f -a jobs -d 'let a held job start'
complete -c popctl -n '__fish_seen_subcommand_from release' -l help
complete -c popctl -n '__fish_seen_subcommand_from release' -l user
complete -c popctl -n '__fish_seen_subcommand_from release' -l name
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a wait
complete -c popctl -n '__fish_seen_subcommand_from wait' -f -a job -d 'wait until a job has ended, and exit as it did'
complete -c popctl -n '__fish_seen_subcommand_from wait' -f -a jobs -d 'wait until a job has ended, and exit as it did'
complete -c popctl -n '__fish_seen_subcommand_from wait' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a forget
complete -c popctl -n '__fish_seen_subcommand_from forget' -f -a job -d 'remove a job that has ended, with its records'
complete -c popctl -n '__fish_seen_subcommand_from forget' -f -a jobs -d 'remove a job that has ended, with its records'
complete -c popctl -n '__fish_seen_subcommand_from forget' -l help
complete -c popctl -n '__fish_seen_subcommand_from forget' -l user
complete -c popctl -n '__fish_seen_subcommand_from forget' -l name
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a logs
complete -c popctl -n '__fish_seen_subcommand_from logs' -f -a job -d 'print what a job has written so far'
complete -c popctl -n '__fish_seen_subcommand_from logs' -f -a jobs -d 'print what a job has written so far'
complete -c popctl -n '__fish_seen_subcommand_from logs' -l help
complete -c popctl -n '__fish_seen_subcommand_from logs' -l follow
complete -c popctl -n '__fish_seen_subcommand_from logs' -l since-sequence
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a attach
complete -c popctl -n '__fish_seen_subcommand_from attach' -f -a job -d 'print a job's output, go on with it, and exit as the job does; Ctrl-C ends only this popctl'
complete -c popctl -n '__fish_seen_subcommand_from attach' -f -a jobs -d 'print a job's output, go on with it, and exit as the job does; Ctrl-C ends only this popctl'
complete -c popctl -n '__fish_seen_subcommand_from attach' -l help
complete -c popctl -n '__fish_seen_subcommand_from attach' -l control
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a drain
complete -c popctl -n '__fish_seen_subcommand_from drain' -f -a host -d 'give a host no more jobs'
complete -c popctl -n '__fish_seen_subcommand_from drain' -f -a hosts -d 'give a host no more jobs'
complete -c popctl -n '__fish_seen_subcommand_from drain' -l help
complete -c popctl -n '__fish_seen_subcommand_from drain' -l reason
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a resume
complete -c popctl -n '__fish_seen_subcommand_from resume' -f -a host -d 'give a drained host jobs again'
complete -c popctl -n '__fish_seen_subcommand_from resume' -f -a hosts -d 'give a drained host jobs again'
complete -c popctl -n '__fish_seen_subcommand_from resume' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a remove
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a host -d 'remove a host that has not joined'
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a hosts -d 'remove a host that has not joined'
complete -c popctl -n '__fish_seen_subcommand_from remove' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a set
complete -c popctl -n '__fish_seen_subcommand_from set' -f -a quota -d 'say how much a user, or an allocation, may have at once'
complete -c popctl -n '__fish_seen_subcommand_from set' -f -a quotas -d 'say how much a user, or an allocation, may have at once'
complete -c popctl -n '__fish_seen_subcommand_from set' -l help
complete -c popctl -n '__fish_seen_subcommand_from set' -l user
complete -c popctl -n '__fish_seen_subcommand_from set' -l allocation
complete -c popctl -n '__fish_seen_subcommand_from set' -l queued
complete -c popctl -n '__fish_seen_subcommand_from set' -l running
complete -c popctl -n '__fish_seen_subcommand_from set' -l instances
complete -c popctl -n '__fish_seen_subcommand_from set' -l ipus
complete -c popctl -n '__fish_seen_subcommand_from set' -l share
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a quotas -d 'list quotas, and what is in use of them'
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a quota -d 'list quotas, and what is in use of them'
complete -c popctl -n '__fish_seen_subcommand_from list' -l help
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a quota -d 'remove a quota'
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a quotas -d 'remove a quota'
complete -c popctl -n '__fish_seen_subcommand_from remove' -l help
complete -c popctl -n '__fish_seen_subcommand_from remove' -l user
complete -c popctl -n '__fish_seen_subcommand_from remove' -l allocation
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a check
complete -c popctl -n '__fish_seen_subcommand_from check' -f -a store -d 'look for damage in the daemon's store'
complete -c popctl -n '__fish_seen_subcommand_from check' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a backup
complete -c popctl -n '__fish_seen_subcommand_from backup' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a about
complete -c popctl -n '__fish_seen_subcommand_from about' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a top
complete -c popctl -n '__fish_seen_subcommand_from top' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a create
complete -c popctl -n '__fish_seen_subcommand_from create' -f -a partition -d 'make a partition of IPUs, and files that describe it'
complete -c popctl -n '__fish_seen_subcommand_from create' -f -a partitions -d 'make a partition of IPUs, and files that describe it'
complete -c popctl -n '__fish_seen_subcommand_from create' -l help
complete -c popctl -n '__fish_seen_subcommand_from create' -l size
complete -c popctl -n '__fish_seen_subcommand_from create' -l allocation
complete -c popctl -n '__fish_seen_subcommand_from create' -l cluster
complete -c popctl -n '__fish_seen_subcommand_from create' -l num-gcds
complete -c popctl -n '__fish_seen_subcommand_from create' -l gcds
complete -c popctl -n '__fish_seen_subcommand_from create' -l gcd-sync-replicas
complete -c popctl -n '__fish_seen_subcommand_from create' -l num-segments
complete -c popctl -n '__fish_seen_subcommand_from create' -l segments
complete -c popctl -n '__fish_seen_subcommand_from create' -l index
complete -c popctl -n '__fish_seen_subcommand_from create' -l reconfigurable
complete -c popctl -n '__fish_seen_subcommand_from create' -l routing
complete -c popctl -n '__fish_seen_subcommand_from create' -l gw-routing
complete -c popctl -n '__fish_seen_subcommand_from create' -l sync-type
complete -c popctl -n '__fish_seen_subcommand_from create' -l relocatable
complete -c popctl -n '__fish_seen_subcommand_from create' -l no-auto-reset
complete -c popctl -n '__fish_seen_subcommand_from create' -l no-ipuof-files
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a partitions -d 'list partitions'
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a partition -d 'list partitions'
complete -c popctl -n '__fish_seen_subcommand_from list' -l help
complete -c popctl -n '__fish_seen_subcommand_from list' -l allocation
complete -c popctl -n '__fish_seen_subcommand_from get' -f -a partition -d 'print what is known of a partition, or what programs need to use it'
complete -c popctl -n '__fish_seen_subcommand_from get' -f -a partitions -d 'print what is known of a partition, or what programs need to use it'
complete -c popctl -n '__fish_seen_subcommand_from get' -l help
complete -c popctl -n '__fish_seen_subcommand_from get' -l gcd
complete -c popctl -n '__fish_seen_subcommand_from get' -l ipuof-configs
complete -c popctl -n '__fish_seen_subcommand_from get' -l ipu-configs
complete -c popctl -n '__fish_seen_subcommand_from get' -l system
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a reset
complete -c popctl -n '__fish_seen_subcommand_from reset' -f -a partition -d 'configure the IPUs anew'
complete -c popctl -n '__fish_seen_subcommand_from reset' -f -a partitions -d 'configure the IPUs anew'
complete -c popctl -n '__fish_seen_subcommand_from reset' -l help
complete -c popctl -n '__fish_seen_subcommand_from reset' -l relocatable
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a partition -d 'remove a partition'
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a partitions -d 'remove a partition'
complete -c popctl -n '__fish_seen_subcommand_from remove' -l help
complete -c popctl -n '__fish_seen_subcommand_from remove' -l force
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a delete
complete -c popctl -n '__fish_seen_subcommand_from delete' -f -a partition -d 'the same'
complete -c popctl -n '__fish_seen_subcommand_from delete' -f -a partitions -d 'the same'
complete -c popctl -n '__fish_seen_subcommand_from delete' -l help
complete -c popctl -n '__fish_seen_subcommand_from delete' -l force
complete -c popctl -n '__fish_seen_subcommand_from release' -f -a partition -d 'free the IPUs of a partition whose end cannot be proved'
complete -c popctl -n '__fish_seen_subcommand_from release' -f -a partitions -d 'free the IPUs of a partition whose end cannot be proved'
complete -c popctl -n '__fish_seen_subcommand_from release' -l help
complete -c popctl -n '__fish_seen_subcommand_from release' -l reason
complete -c popctl -n '__fish_seen_subcommand_from release' -l force
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a ipu-attrs -d 'list what is known of IPUs'
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a ipu-attr -d 'list what is known of IPUs'
complete -c popctl -n '__fish_seen_subcommand_from list' -l help
complete -c popctl -n '__fish_seen_subcommand_from list' -l agents
complete -c popctl -n '__fish_seen_subcommand_from create' -f -a cluster -d 'make a cluster of ILDs'
complete -c popctl -n '__fish_seen_subcommand_from create' -f -a clusters -d 'make a cluster of ILDs'
complete -c popctl -n '__fish_seen_subcommand_from create' -l help
complete -c popctl -n '__fish_seen_subcommand_from create' -l num-ipulinkdomains
complete -c popctl -n '__fish_seen_subcommand_from create' -l num-ilds
complete -c popctl -n '__fish_seen_subcommand_from create' -l machines-per-ild
complete -c popctl -n '__fish_seen_subcommand_from create' -l topology
complete -c popctl -n '__fish_seen_subcommand_from create' -l cluster-topology
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a clusters -d 'list clusters'
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a cluster -d 'list clusters'
complete -c popctl -n '__fish_seen_subcommand_from list' -l help
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a cluster -d 'remove a cluster'
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a clusters -d 'remove a cluster'
complete -c popctl -n '__fish_seen_subcommand_from remove' -l help
complete -c popctl -n '__fish_seen_subcommand_from create' -f -a agent -d 'add an IPU-Machine to a cluster'
complete -c popctl -n '__fish_seen_subcommand_from create' -f -a agents -d 'add an IPU-Machine to a cluster'
complete -c popctl -n '__fish_seen_subcommand_from create' -l help
complete -c popctl -n '__fish_seen_subcommand_from create' -l cluster
complete -c popctl -n '__fish_seen_subcommand_from create' -l ild
complete -c popctl -n '__fish_seen_subcommand_from create' -l position
complete -c popctl -n '__fish_seen_subcommand_from create' -l host
complete -c popctl -n '__fish_seen_subcommand_from create' -l ip
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a agents -d 'list IPU-Machines'
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a agent -d 'list IPU-Machines'
complete -c popctl -n '__fish_seen_subcommand_from list' -l help
complete -c popctl -n '__fish_seen_subcommand_from list' -l cluster
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a agent -d 'remove an IPU-Machine'
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a agents -d 'remove an IPU-Machine'
complete -c popctl -n '__fish_seen_subcommand_from remove' -l help
complete -c popctl -n '__fish_seen_subcommand_from drain' -f -a agent -d 'make no new partitions there'
complete -c popctl -n '__fish_seen_subcommand_from drain' -f -a agents -d 'make no new partitions there'
complete -c popctl -n '__fish_seen_subcommand_from drain' -l help
complete -c popctl -n '__fish_seen_subcommand_from drain' -l reason
complete -c popctl -n '__fish_seen_subcommand_from resume' -f -a agent -d 'make partitions there again'
complete -c popctl -n '__fish_seen_subcommand_from resume' -f -a agents -d 'make partitions there again'
complete -c popctl -n '__fish_seen_subcommand_from resume' -l help
complete -c popctl -n '__fish_seen_subcommand_from create' -f -a allocation -d 'say who may use which IPU-Machines'
complete -c popctl -n '__fish_seen_subcommand_from create' -f -a allocations -d 'say who may use which IPU-Machines'
complete -c popctl -n '__fish_seen_subcommand_from create' -l help
complete -c popctl -n '__fish_seen_subcommand_from create' -l cluster
complete -c popctl -n '__fish_seen_subcommand_from create' -l agents
complete -c popctl -n '__fish_seen_subcommand_from create' -l users
complete -c popctl -n '__fish_seen_subcommand_from create' -l replace
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a allocations -d 'list allocations'
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a allocation -d 'list allocations'
complete -c popctl -n '__fish_seen_subcommand_from list' -l help
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a allocation -d 'remove an allocation'
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a allocations -d 'remove an allocation'
complete -c popctl -n '__fish_seen_subcommand_from remove' -l help
complete -c popctl -n '__fish_seen_subcommand_from create' -f -a user -d 'set what a user may do'
complete -c popctl -n '__fish_seen_subcommand_from create' -f -a users -d 'set what a user may do'
complete -c popctl -n '__fish_seen_subcommand_from create' -l help
complete -c popctl -n '__fish_seen_subcommand_from create' -l role
complete -c popctl -n '__fish_seen_subcommand_from create' -l vipu-key
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a users -d 'list users whose role is not the usual one'
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a user -d 'list users whose role is not the usual one'
complete -c popctl -n '__fish_seen_subcommand_from list' -l help
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a user -d 'give a user the usual role again'
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a users -d 'give a user the usual role again'
complete -c popctl -n '__fish_seen_subcommand_from remove' -l help
complete -c popctl -n '__fish_seen_subcommand_from create' -f -a token -d 'create and print an access token'
complete -c popctl -n '__fish_seen_subcommand_from create' -f -a tokens -d 'create and print an access token'
complete -c popctl -n '__fish_seen_subcommand_from create' -l help
complete -c popctl -n '__fish_seen_subcommand_from create' -l scope
complete -c popctl -n '__fish_seen_subcommand_from create' -l expires
complete -c popctl -n '__fish_seen_subcommand_from create' -l user
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a tokens -d 'list your tokens; as an admin, all'
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a token -d 'list your tokens; as an admin, all'
complete -c popctl -n '__fish_seen_subcommand_from list' -l help
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a token -d 'make a token useless, by its id'
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a tokens -d 'make a token useless, by its id'
complete -c popctl -n '__fish_seen_subcommand_from remove' -l help
complete -c popctl -n '__fish_seen_subcommand_from list' -f -a audit -d 'show the audit log, newest first'
complete -c popctl -n '__fish_seen_subcommand_from list' -l help
complete -c popctl -n '__fish_seen_subcommand_from list' -l user
complete -c popctl -n '__fish_seen_subcommand_from list' -l limit
complete -c popctl -n '__fish_seen_subcommand_from check' -f -a audit -d 'look for changes in the audit log'
complete -c popctl -n '__fish_seen_subcommand_from check' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove set check backup about top create reset delete completion' -f -a completion
complete -c popctl -n '__fish_seen_subcommand_from completion' -l help
complete -c popctl -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'
complete -c popctl -l server
complete -c popctl -l tls
complete -c popctl -l token-file
complete -c popctl -l json
complete -c popctl -l quiet
complete -c popctl -l timeout
complete -c popctl -l reconnect
complete -c popctl -l help
