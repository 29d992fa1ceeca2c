# SPDX-License-Identifier: Apache-2.0
"""A process apart: nothing that it starts, mounts or connects outlives it, nor the process that waits for it."""
import os
import pathlib
import select
import subprocess
import sys


def control_groups():
    """The mount point of this machine's cgroup2."""
    for line in pathlib.Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, path, kind, *_ = line.split()
        if kind == "cgroup2":
            return pathlib.Path(path)
    sys.exit("no cgroup2 file system is mounted: mount -t cgroup2 cgroup2 /sys/fs/cgroup")


def remove_group(group):
    """Kills all that is in the group, and removes it with those below it."""
    (group / "cgroup.kill").write_text("1")
    with open(group / "cgroup.events", encoding="ascii") as events:
        while "populated 1" in events.read():
            poll = select.poll()
            poll.register(events, select.POLLPRI)
            poll.poll()
            events.seek(0)
    for path, _, _ in os.walk(group, topdown=False):
        os.rmdir(path)


def start_guard(group):
    """A process that removes the group once this one has closed the pipe, or has ended, however. Its pid, the pipe."""
    alive, ours = os.pipe()
    guard = os.fork()
    if guard == 0:
        os.setsid()
        os.close(ours)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):  # so that readers of our output do not wait for the guard
            os.dup2(null, stream)
        os.read(alive, 1)
        remove_group(group)
        os._exit(0)
    os.close(alive)
    return guard, ours


def run_apart(command):
    """The exit code of `command`, which is the first process of its namespaces and finds its group in POP_GROUP."""
    group = control_groups() / f"poprun-walk-{os.getpid()}"
    group.mkdir()
    guard, ours = start_guard(group)
    namespaces = ["unshare", "--pid", "--mount", "--net", "--ipc", "--fork", "--kill-child", "--mount-proc"]
    code = subprocess.run(["sh", "-c", 'echo $$ >"$POP_GROUP/cgroup.procs" && exec "$@"', "sh", *namespaces, *command],
                          check=False, env={**os.environ, "POP_GROUP": str(group)}).returncode
    os.close(ours)
    os.waitpid(guard, 0)
    return code
