#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A layer over this machine's files, common to all machines: poprun in /usr, users alice and bob, an sshd that lets in
# them and root by one key, and units for little more.
#
#   image.sh INSTALLED LAYER SCRATCH NAME…     INSTALLED: what `cmake --install` has put there, with usr in it; LAYER:
#   becomes the layer; SCRATCH: an empty directory of the same file system; NAME…: "10.0.0.1 head", for /etc/hosts
set -euo pipefail
installed=$1 layer=$2 scratch=$3
shift 3
# Nothing of this machine's own set-up, and of Debian's units only what a small server needs. A device 0/0 in a layer
# of overlayfs hides what is below it.
hidden=(etc/{systemd/system,popdist,ssh,sudoers.d,environment,profile.d} var/{log,spool,tmp,lib/popdist,lib/popdistd}
  home root srv media lib/systemd/system/{sysinit,multi-user,sockets,timers,local-fs,graphical}.target.wants)
for path in "${hidden[@]}"; do
  [ -e "/$path" ] || continue
  path=$(realpath "/$path")
  mkdir -p "$layer${path%/*}"
  mknod "$layer$path" c 0 0
done
mkdir "$scratch/work" "$scratch/root"
mount -t overlay overlay -o "lowerdir=$installed:/,upperdir=$layer,workdir=$scratch/work" "$scratch/root"
r=$scratch/root
mkdir -p "$r"/etc/{systemd/system/{sockets,multi-user}.target.wants,ssh,profile.d} "$r"/{home,srv,media} \
  "$r"/var/{log,spool}
mkdir -m 700 "$r/root"
mkdir -m 1777 "$r/var/tmp"
ln -s /lib/systemd/system/systemd-journald{,-dev-log}.socket "$r/etc/systemd/system/sockets.target.wants"
ln -s /lib/systemd/system/{ssh,systemd-user-sessions}.service "$r/etc/systemd/system/multi-user.target.wants"
for unit in getty systemd-logind systemd-udevd dbus; do
  ln -s /dev/null "$r/etc/systemd/system/$unit.service"
done
printf '127.0.0.1 localhost\n' >"$r/etc/hosts"
printf '%s\n' "$@" >>"$r/etc/hosts"
printf 'passwd: files\ngroup: files\nshadow: files\nhosts: files\n' >"$r/etc/nsswitch.conf"
: >"$r/etc/fstab"

# The exchange of keys that is first by default takes a fifth of a second.
cat >"$r/etc/ssh/sshd_config" <<'END'
KexAlgorithms curve25519-sha256
PermitRootLogin prohibit-password
PasswordAuthentication no
Subsystem sftp /usr/lib/openssh/sftp-server
END
ssh-keygen -q -t ed25519 -N '' -f "$r/etc/ssh/ssh_host_ed25519_key"
ssh-keygen -q -t ed25519 -N '' -f "$scratch/id_ed25519"
cp /etc/skel/.bashrc /etc/skel/.profile "$r/root"
for user in alice bob; do
  chroot "$r" userdel "$user" 2>/dev/null || true
  chroot "$r" useradd --create-home --shell /bin/bash --password '*' "$user"
done
for user in root alice bob; do
  home=$r/home/$user
  [ "$user" = root ] && home=$r/root
  install -d -m 700 "$home/.ssh"
  cp "$scratch"/id_ed25519{,.pub} "$home/.ssh"
  cp "$scratch/id_ed25519.pub" "$home/.ssh/authorized_keys"
  for host in "$@"; do
    printf '%s %s\n' "${host#* }" "$(cut -d' ' -f1-2 "$r/etc/ssh/ssh_host_ed25519_key.pub")"
  done >"$home/.ssh/known_hosts"
  chroot "$r" chown -R "$user" "${home#"$r"}"
done
umount "$r"
