#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Walks a page of the guide as a newcomer: types its blocks as they stand, in order, on machines that know nothing yet.

usage: walk_test.py TABLE.toml CMAKE BUILD_DIRECTORY

The table has a row for each block of the page: README.md here. Needs root. Machines, files and processes are gone at
the end, however it comes (apart.py).
"""
import os
import sys
import time

sys.dont_write_bytecode = True

import apart  # noqa: E402
import table  # noqa: E402
from machines import start_machines  # noqa: E402
from shell import Failed, Shell  # noqa: E402

INTERRUPT = "\x03"


class Walk:
    def __init__(self, machines):
        self.machines, self.shells = machines, {}

    def shell(self, at):
        """The shell of "alice@head"; "alice@head 2" is a second one there."""
        if at not in self.shells:
            user, _, machine = at.split()[0].partition("@")
            self.shells[at] = Shell(self.machines[machine], user)
        return self.shells[at]

    def type(self, block, row):
        """Types a block; throws Failed where it does not do what the page says."""
        for at in row.at:
            shell = self.shell(at)
            if row.before:
                shell.type(row.before)
            if row.beside:
                self.type_beside(shell, block, row)
            else:
                output = shell.type(block.text, row.says, row.answers)
        if row.then:
            then = self.shell(row.then_at or row.at[0])
            then.type(f"output={table.quoted('' if row.beside else output)}\n{row.then}")

    def type_beside(self, shell, block, row):
        """The first line goes on until Ctrl-C; what it prints to be typed is typed in another terminal meanwhile."""
        command, *prints = block.lines
        shell.start(command.removeprefix("$ "))
        shell.wait(lambda output, _: all(line in output for line in prints))
        other = "\n".join(line.strip() for line in prints if line.startswith("    "))
        self.shell(row.beside).type(other + "\n", row.says)
        shell.press(INTERRUPT)
        shell.finish(may_fail=True)


def walk(page, cmake, build):
    begin = time.monotonic()
    machines = start_machines(page.machines, cmake, build, page.prefixes)
    print(f"machines: {time.monotonic() - begin:.1f} s", flush=True)
    begin = time.monotonic()
    reader = Walk(machines)
    for block, row in zip(table.indented(page), page.block):
        if row.not_run:
            print(f"{page.page}:{block.line}: not typed: {row.not_run}", flush=True)
            continue
        try:
            reader.type(block, row)
        except Failed as failed:
            sys.exit(f"{page.page}:{block.line}:\n{block.text}\nfails as typed: {failed}")
        print(f"{page.page}:{block.line}: {' '.join(row.at)}: {block.lines[0][:70]}: {time.monotonic() - begin:.1f} s",
              flush=True)


def main(path, cmake, build):
    page = table.page_of(path)
    if wrong := table.mistakes(page):
        sys.exit("\n".join(wrong))
    if "POP_GROUP" in os.environ:
        walk(page, cmake, build)
    else:
        sys.exit(apart.run_apart([sys.executable, *sys.argv]))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
