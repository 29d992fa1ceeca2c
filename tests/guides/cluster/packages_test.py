#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A machine with poprun needs the Debian packages that README.md names, and no other beyond what every Debian has.

usage: packages_test.py BUILD_DIRECTORY
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def programs(build):
    """Those that are installed, as the build has them, and the backends that they load."""
    text = (build / "cmake_install.cmake").read_text(encoding="utf-8")
    return {*re.findall(rf'FILES "({re.escape(str(build))}/bin/[^"/]+)"', text),
            *map(str, (build / "lib/popdist/backends").glob("*.so"))}


def libraries(program):
    """The libraries that the program names itself, as files."""
    names = re.findall(r"NEEDED.*\[(.*)\]", said("readelf", "-d", program))
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", said("ldd", program), re.MULTILINE))
    return {found[name] for name in names if name in found}


def package_of(library):
    path = pathlib.Path(library).resolve()
    for each in [path, pathlib.Path(str(path).removeprefix("/usr"))]:
        done = subprocess.run(["dpkg-query", "-S", each], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    raise SystemExit(f"{library} is of no package")


def with_dependencies(names):
    """All that is installed with packages of these names."""
    depends, seen, left = {}, set(), list(names)
    for line in said("dpkg-query", "-W", "-f", "${Package}|${Pre-Depends}, ${Depends}\n").splitlines():
        name, _, words = line.partition("|")
        depends[name] = re.findall(r"(?:^|, )([a-z0-9+.-]+)", words)
    while left:
        name = left.pop()
        if name not in seen and name in depends:
            seen.add(name)
            left += depends[name]
    return seen


def main(build):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.search(r"`apt-get install (lib[^`]+)`", readme)[1].split()
    required = said("dpkg-query", "-W", "-f", "${db:Status-Status} ${Essential} ${Priority} ${Package}\n")
    every = with_dependencies(line.split()[-1] for line in required.splitlines()
                              if " yes " in line or " required " in line)
    needed = {package_of(library) for library in set().union(*map(libraries, programs(build)))}
    assert len(needed) > 5, needed
    missing = needed - every - with_dependencies(named)
    idle = set(named) - needed
    assert not missing, f"README.md names none that brings {sorted(missing)}"
    assert not idle, f"README.md names what no program needs: {sorted(idle)}"


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
