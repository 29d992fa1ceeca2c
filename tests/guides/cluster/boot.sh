#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The first process of a machine, in namespaces of its own: mounts its files, and becomes systemd.
#
#   boot.sh NAME ADDRESS DIRECTORY LAYERS SEEN=PATH…     DIRECTORY: empty but for a socket "notify", which hears when
#   systemd has started; LAYERS: for overlayfs; PATH: what the machine sees as /run/host/SEEN
#
# Says its pid, as others see it, and waits for a line: then its network is there.
set -euo pipefail
name=$1 address=$2 directory=$3 layers=$4
shift 4
read -r pid _ </proc/self/stat
echo "$pid"
read -r

hostname "$name"
ip link set lo up
ip address add "$address/24" dev eth0
ip link set eth0 up

mount --make-rprivate /
mkdir "$directory"/{upper,work,root}
mount -t overlay overlay -o "lowerdir=$layers,upperdir=$directory/upper,workdir=$directory/work" "$directory/root"
r=$directory/root

mount -t proc proc "$r/proc"
mount --bind "$r/proc/sys" "$r/proc/sys"
mount -o remount,bind,ro "$r/proc/sys"
mount -t sysfs -o ro sysfs "$r/sys"
mount -t cgroup2 cgroup2 "$r/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$r/dev"
for device in null zero full random urandom tty; do
  cp -a "/dev/$device" "$r/dev"
done
mkdir "$r"/dev/{pts,shm}
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$r/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$r/dev/shm"
ln -s pts/ptmx "$r/dev/ptmx"
ln -s null "$r/dev/console"
ln -s /proc/self/fd "$r/dev/fd"
ln -s fd/0 "$r/dev/stdin"
ln -s fd/1 "$r/dev/stdout"
ln -s fd/2 "$r/dev/stderr"
mount -t tmpfs -o mode=755 tmpfs "$r/run"
mount -t tmpfs -o mode=1777 tmpfs "$r/tmp"
mkdir "$r"/run/{host,lock}
: >"$r/run/host/notify"
mount --bind "$directory/notify" "$r/run/host/notify"
for seen in "$@"; do
  mkdir "$r/run/host/${seen%%=*}"
  mount --bind -o ro "${seen#*=}" "$r/run/host/${seen%%=*}"
done
echo "$name" >"$r/etc/hostname"
# As Debian's installer has it: a machine's own name is an address that no other reaches.
sed -i -e "/ $name\$/d" -e "1a 127.0.1.1 $name" "$r/etc/hosts"
tr -d - </proc/sys/kernel/random/uuid >"$r/etc/machine-id"

cd "$r"
mkdir old
pivot_root . old
umount -l old
rmdir old
# This machine's clock, modules, kernel log and devices are not the walk's.
without=-sys_time,-sys_module,-sys_rawio,-syslog,-mknod,-audit_control,-audit_read,-mac_admin,-mac_override,-wake_alarm
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
exec chroot . setpriv --bounding-set "$without" env -i container=walk NOTIFY_SOCKET=/run/host/notify "PATH=$path" \
  /lib/systemd/systemd --unit=multi-user.target --log-target=journal --show-status=no </dev/null >/dev/null 2>&1
