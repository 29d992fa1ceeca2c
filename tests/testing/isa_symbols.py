# SPDX-License-Identifier: Apache-2.0
"""Files compiled for newer CPUs hand nothing but their own to the linker, and do nothing before main().

usage: isa_symbols.py NM FILES ALLOWED OBJECT…
FILES: regular expression of the files that matter, among the objects and the members of libraries.
ALLOWED: regular expression of what these may export.
An inline function in such a file could be the copy that the linker keeps for all files: then the program would die
with SIGILL on older CPUs, in functions that have nothing to do with it.
"""
import re
import subprocess
import sys

OF_THE_COMPILER = re.compile(r"DW\.ref\.|__odr_asan|__asan|__tsan|__ubsan")
AT_START = re.compile(r"_GLOBAL__sub_I_")
SANITIZED = re.compile(r".*_sub_I_00099")  # objects that sanitizers make need initialisers that others do not


def symbols(nm: str, files: re.Pattern, objects: list[str], *options: str) -> list[str]:
    command = [nm, "--defined-only", "--demangle", "--print-file-name", *options, *objects]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    # file and address, kind, name
    return [line.split(maxsplit=2)[2] for line in lines if files.search(line.split(maxsplit=1)[0])]


def main() -> int:
    nm, files, allowed, *objects = sys.argv[1:]
    exported = symbols(nm, re.compile(files), objects, "--extern-only")
    wrong = [name for name in exported if not re.match(allowed, name) and not OF_THE_COMPILER.match(name)]
    for name in wrong:
        print(f"exported by a file with its own instruction set: {name}")
    if not exported:
        print(f"no file of {' '.join(objects)} is one of {files}")
    everything = symbols(nm, re.compile(files), objects)
    early = [name for name in everything if AT_START.match(name)]
    if any(SANITIZED.match(name) for name in everything):
        early = []
    for name in early:
        print(f"run before main() by a file with its own instruction set: {name}")
    return 1 if wrong or early or not exported else 0


if __name__ == "__main__":
    sys.exit(main())
