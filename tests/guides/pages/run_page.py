#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types the command blocks of a page, in order, and compares what comes back with the page.

usage: run_page.py TABLE.toml BUILD_DIRECTORY

Each of the page's hosts is a test host (tests/testing/test_hosts.h), with the installation below BUILD_DIRECTORY/guides
as its /opt/poprun and the page's directory as its ~/work. Needs root.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

import blocks
import table
from shell import Shell

ENVIRONMENT = {"HOME": str(pathlib.Path.home()), "USER": "root", "LANG": "C.UTF-8", "TERM": "dumb",
               "PATH": "/opt/poprun/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
               "PKG_CONFIG_PATH": "/opt/poprun/lib/pkgconfig"}


class Hosts:
    """The hosts of a page; they are gone when the object is closed, or this process ends."""

    def __init__(self, names, build, work):
        self.process = subprocess.Popen([build / "tests/guide_hosts", *names], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.ways = [self.process.stdout.readline().split() for _ in names]
        for way in self.ways:
            subprocess.run([*way, "sh", "-ec", 'mount -t tmpfs none /opt; mkdir /opt/poprun ~/work; '
                            'mount --bind "$1" /opt/poprun; mount --bind "$2" ~/work', "sh",
                            build / "guides/prefix", work], check=True)

    def shell(self):
        """A terminal of the reader, on the first host."""
        return Shell([*self.ways[0], "env", "-i", *(f"{name}={value}" for name, value in ENVIRONMENT.items()),
                      "bash", "--norc"])

    def close(self):
        self.process.communicate()


class Reader:
    """A user who types a page."""

    def __init__(self, page, hosts, build):
        self.page, self.hosts, self.beside = page, hosts, []
        self.start = f"cd ~/work; set -o pipefail; build={build} source={table.ROOT}\n" + page.terminal
        self.shell = self.terminal()
        self.prepare(self.shell, page.given)

    def terminal(self):
        shell = self.hosts.shell()
        self.prepare(shell, self.start)
        return shell

    def prepare(self, shell, lines):
        code, output = shell.run("set -e\n" + lines + "\nset +e\n")
        if code != 0:
            raise SystemExit(f"{self.page.page}: preparing failed with {code}:\n{lines}\n{output}")

    def type(self, block, row):
        """Types one block. Exits when it does not do what the page says."""
        self.prepare(self.shell, row.before)
        output = self.typed(block, row) if not row.file else ""
        rest = output
        for text in row.says:
            _, found, rest = rest.partition(text)
            if not found:
                raise SystemExit(f"{self.page.page}:{block.line}: it does not say '{text}' there, but:\n{output}")
        self.prepare(self.shell, row.then)

    def typed(self, block, row):
        """The output of its commands."""
        output = ""
        shell = self.terminal() if row.beside else self.shell
        commands = blocks.commands_of(block)
        for command in commands:
            shell.begin(command.text)
            is_last = command is commands[-1]
            if row.beside and is_last:
                self.beside.append((shell, block, row, command))
            else:
                output += self.finish(shell, block, row, command, is_last)
        return output

    def finish(self, shell, block, row, command, is_last):
        free = row.numbers == "free"

        def is_all(output):
            return blocks.matches(command.output, output.splitlines(), free)
        code, output = shell.finish(is_all if row.interrupt and is_last else None)
        right_code = row.interrupt and is_last or code == (row.exit if is_last else 0)
        if not right_code or command.output and not is_all(output):
            expected = "\n".join(command.output) or "(any output)"
            raise SystemExit(f"{self.page.page}:{block.line}: $ {command.text}exited with {code} and said:\n{output}\n"
                             f"-- the page says:\n{expected}")
        return output

    def finish_all(self):
        for rest in self.beside:
            self.finish(*rest, is_last=True)


def main(path, build):
    page = table.page_of(path)
    if wrong := table.mistakes(page):
        raise SystemExit("\n".join(wrong))
    build = pathlib.Path(build).resolve()
    work = build / "guides" / pathlib.Path(path).stem
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    all_blocks = blocks.blocks_of(page.text)
    fenced = [block for block in all_blocks if block.language]
    for name, number in page.files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(fenced[number - 1].text)
    for block, row in zip(table.indented(page), page.block):
        if row.file:
            (work / row.file).write_text(block.text)
    hosts = Hosts(page.hosts, build, work)
    try:
        reader = Reader(page, hosts, build)
        for block, row in zip(table.indented(page), page.block):
            if row.not_run:
                continue
            begin = time.monotonic()
            reader.type(block, row)
            print(f"{page.page}:{block.line}: {block.lines[0]} ({time.monotonic() - begin:.1f} s)", flush=True)
        reader.finish_all()
    finally:
        hosts.close()
    os.chdir("/")
    shutil.rmtree(work)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
