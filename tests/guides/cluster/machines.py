# SPDX-License-Identifier: Apache-2.0
"""Machines for a newcomer to a guide: namespaces with systemd, an sshd and files of their own, on one switch.

Only for a process of apart.py: nothing here is undone, it ends with the process.
"""
import os
import pathlib
import socket
import subprocess

HERE = pathlib.Path(__file__).parent
DIRECTORY = pathlib.Path("/mnt")
NETWORK = "10.0.0."
START_SECONDS = 60


def run(*command):
    subprocess.run(command, check=True)


def ip(words):
    run("ip", *words.split())


def install_poprun(cmake, build, prefix):
    """poprun as `cmake --install` installs it in `prefix`, below DIRECTORY / "installed"."""
    subprocess.run([cmake, "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "DESTDIR": str(DIRECTORY / "installed")})


class Machine:
    """One that boots. `name`: of /etc/hosts, and its host name. `seen`: paths of ours that are in its /run/host."""

    def __init__(self, name, address, seen):
        self.group = pathlib.Path(os.environ["POP_GROUP"]) / name
        self.group.mkdir()
        self.name, directory = name, DIRECTORY / name
        directory.mkdir()
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.settimeout(START_SECONDS)
        self.notify.bind(str(directory / "notify"))
        layers = f"{DIRECTORY}/layer:{DIRECTORY}/installed:/"
        first = ["unshare", "--pid", "--mount", "--uts", "--ipc", "--net", "--cgroup", "--fork", "--kill-child",
                 str(HERE / "boot.sh"), name, address, directory, layers, *(f"{name}={path}" for name, path in seen)]
        self.process = subprocess.Popen(self.in_group("", first), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.pid = int(self.process.stdout.readline())
        ip(f"link add {name} type veth peer name eth0 netns {self.pid}")
        ip(f"link set {name} master switch up")
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def wait_until_started(self):
        while b"READY=1" not in self.notify.recv(4096):
            continue
        (self.group / "login").mkdir()

    def in_group(self, name, command):
        return ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(self.group / name / "cgroup.procs"), *command]

    def command(self, *words):
        """`words` as they have to be started here so that they run there."""
        return self.in_group("login", ["nsenter", "--all", f"--target={self.pid}", *words])


def start_machines(names, cmake, build, prefixes):
    """Machines of these names with the addresses 10.0.0.1, 10.0.0.2, … and poprun from the build, by name."""
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", DIRECTORY)
    for name in ["installed", "layer", "scratch"]:
        (DIRECTORY / name).mkdir()
    for prefix in prefixes:
        install_poprun(cmake, build, prefix)
    addresses = {name: f"{NETWORK}{number}" for number, name in enumerate(names, 1)}
    run(HERE / "image.sh", *[DIRECTORY / name for name in ["installed", "layer", "scratch"]],
        *[f"{address} {name}" for name, address in addresses.items()])
    for words in ["set lo up", "add switch type bridge", "set switch up"]:
        ip(f"link {words}")
    seen = [("bin", pathlib.Path(build).resolve() / "bin"), ("packaging", HERE.parents[2] / "packaging")]
    machines = {name: Machine(name, address, seen) for name, address in addresses.items()}
    for machine in machines.values():
        machine.wait_until_started()
    return machines
