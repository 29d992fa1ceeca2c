# SPDX-License-Identifier: Apache-2.0
# Made by scripts/gen_options_doc from popctl's command table.
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a submit
complete -c popctl -n '__fish_seen_subcommand_from submit' -f -a job -d 'start a job'
complete -c popctl -n '__fish_seen_subcommand_from submit' -l help
complete -c popctl -n '__fish_seen_subcommand_from submit' -l name
complete -c popctl -n '__fish_seen_subcommand_from submit' -l held
complete -c popctl -n '__fish_seen_subcommand_from submit' -l priority
complete -c popctl -n '__fish_seen_subcommand_from submit' -l hosts
complete -c popctl -n '__fish_seen_subcommand_from submit' -l no-wait
complete -c popctl -n '__fish_seen_subcommand_from submit' -l wait
complete -c popctl -n '__fish_seen_subcommand_from submit' -l attach
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a list
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
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a get
complete -c popctl -n '__fish_seen_subcommand_from get' -f -a job -d 'print what is known of a job'
complete -c popctl -n '__fish_seen_subcommand_from get' -f -a jobs -d 'print what is known of a job'
complete -c popctl -n '__fish_seen_subcommand_from get' -l help
complete -c popctl -n '__fish_seen_subcommand_from get' -f -a host -d 'print what is known of a host'
complete -c popctl -n '__fish_seen_subcommand_from get' -f -a hosts -d 'print what is known of a host'
complete -c popctl -n '__fish_seen_subcommand_from get' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a cancel
complete -c popctl -n '__fish_seen_subcommand_from cancel' -f -a job -d 'end a job with grace; the second time, kill it'
complete -c popctl -n '__fish_seen_subcommand_from cancel' -f -a jobs -d 'end a job with grace; the second time, kill it'
complete -c popctl -n '__fish_seen_subcommand_from cancel' -l help
complete -c popctl -n '__fish_seen_subcommand_from cancel' -l reason
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a signal
complete -c popctl -n '__fish_seen_subcommand_from signal' -f -a job -d 'send a signal to all instances of a job'
complete -c popctl -n '__fish_seen_subcommand_from signal' -f -a jobs -d 'send a signal to all instances of a job'
complete -c popctl -n '__fish_seen_subcommand_from signal' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a hold
complete -c popctl -n '__fish_seen_subcommand_from hold' -f -a job -d 'keep a job that waits from starting'
complete -c popctl -n '__fish_seen_subcommand_from hold' -f -a jobs -d 'keep a job that waits from starting'
complete -c popctl -n '__fish_seen_subcommand_from hold' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a release
complete -c popctl -n '__fish_seen_subcommand_from release' -f -a job -d 'let a held job start'
complete -c popctl -n '__fish_seen_subcommand_from release' -f -a jobs -d 'let a held job start'
complete -c popctl -n '__fish_seen_subcommand_from release' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a wait
complete -c popctl -n '__fish_seen_subcommand_from wait' -f -a job -d 'wait until a job has ended, and exit as it did'
complete -c popctl -n '__fish_seen_subcommand_from wait' -f -a jobs -d 'wait until a job has ended, and exit as it did'
complete -c popctl -n '__fish_seen_subcommand_from wait' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a forget
complete -c popctl -n '__fish_seen_subcommand_from forget' -f -a job -d 'remove a job that has ended, with its records'
complete -c popctl -n '__fish_seen_subcommand_from forget' -f -a jobs -d 'remove a job that has ended, with its records'
complete -c popctl -n '__fish_seen_subcommand_from forget' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a logs
complete -c popctl -n '__fish_seen_subcommand_from logs' -f -a job -d 'print what a job has written so far'
complete -c popctl -n '__fish_seen_subcommand_from logs' -f -a jobs -d 'print what a job has written so far'
complete -c popctl -n '__fish_seen_subcommand_from logs' -l help
complete -c popctl -n '__fish_seen_subcommand_from logs' -l follow
complete -c popctl -n '__fish_seen_subcommand_from logs' -l since-sequence
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a attach
complete -c popctl -n '__fish_seen_subcommand_from attach' -f -a job -d 'print a job's output, go on with it, and exit as the job does; Ctrl-C ends only this popctl'
complete -c popctl -n '__fish_seen_subcommand_from attach' -f -a jobs -d 'print a job's output, go on with it, and exit as the job does; Ctrl-C ends only this popctl'
complete -c popctl -n '__fish_seen_subcommand_from attach' -l help
complete -c popctl -n '__fish_seen_subcommand_from attach' -l control
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a drain
complete -c popctl -n '__fish_seen_subcommand_from drain' -f -a host -d 'give a host no more jobs'
complete -c popctl -n '__fish_seen_subcommand_from drain' -f -a hosts -d 'give a host no more jobs'
complete -c popctl -n '__fish_seen_subcommand_from drain' -l help
complete -c popctl -n '__fish_seen_subcommand_from drain' -l reason
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a resume
complete -c popctl -n '__fish_seen_subcommand_from resume' -f -a host -d 'give a drained host jobs again'
complete -c popctl -n '__fish_seen_subcommand_from resume' -f -a hosts -d 'give a drained host jobs again'
complete -c popctl -n '__fish_seen_subcommand_from resume' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a remove
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a host -d 'remove a host that has not joined'
complete -c popctl -n '__fish_seen_subcommand_from remove' -f -a hosts -d 'remove a host that has not joined'
complete -c popctl -n '__fish_seen_subcommand_from remove' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a check
complete -c popctl -n '__fish_seen_subcommand_from check' -f -a store -d 'look for damage in the daemon's store'
complete -c popctl -n '__fish_seen_subcommand_from check' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a backup
complete -c popctl -n '__fish_seen_subcommand_from backup' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a about
complete -c popctl -n '__fish_seen_subcommand_from about' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a top
complete -c popctl -n '__fish_seen_subcommand_from top' -l help
complete -c popctl -n 'not __fish_seen_subcommand_from submit list get cancel signal hold release wait forget logs attach drain resume remove check backup about top completion' -f -a completion
complete -c popctl -n '__fish_seen_subcommand_from completion' -l help
complete -c popctl -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'
complete -c popctl -l server
complete -c popctl -l tls
complete -c popctl -l json
complete -c popctl -l quiet
complete -c popctl -l timeout
complete -c popctl -l reconnect
complete -c popctl -l help
