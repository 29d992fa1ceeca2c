# SPDX-License-Identifier: Apache-2.0
"""Files compiled for newer CPUs hand nothing but their kernel to the linker.

usage: isa_symbols_test.py NM LIBRARY
An inline function in such a file could be the copy that the linker keeps for all files: then the library would die
with SIGILL on older CPUs, in functions that have nothing to do with reductions.
"""
import re
import subprocess
import sys

KERNEL = re.compile(r"popdist::reduce::avx\w+Kernel\(")
OF_THE_COMPILER = re.compile(r"DW\.ref\.|__odr_asan|__asan|__tsan|__ubsan")


def main() -> int:
    nm, library = sys.argv[1:]
    command = [nm, "--extern-only", "--defined-only", "--demangle", "--print-file-name", library]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    symbols = [line.split(maxsplit=2) for line in lines if ":fold_avx" in line]  # file and address, kind, name
    exported = [name for _, _, name in symbols if not OF_THE_COMPILER.match(name)]
    wrong = [name for name in exported if not KERNEL.match(name)]
    for name in wrong:
        print(f"exported by a file with its own instruction set: {name}")
    if not exported:
        print(f"{library} has no fold_avx*.o")
    return 1 if wrong or not exported else 0


if __name__ == "__main__":
    sys.exit(main())
