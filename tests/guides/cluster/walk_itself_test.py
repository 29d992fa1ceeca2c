#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A walk fails where a page does not do what it says, and leaves nothing behind.

usage: walk_itself_test.py CMAKE BUILD_DIRECTORY
"""
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True

from apart import control_groups  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
BUILD_DIRECTORY, CMAKE = sys.argv.pop(), sys.argv.pop()
TABLE = """
page = "{page}"
machines = ["head"]
[[block]]
begins = "true"
at = ["alice@head"]
[[block]]
begins = "hostname"
at = ["alice@head"]
says = ["^head$"]
"""


class WalkItself(unittest.TestCase):
    def setUp(self):
        directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.page, self.table = directory / "page.md", directory / "page.toml"
        self.table.write_text(TABLE.format(page=self.page))

    def walk(self, *blocks):
        self.page.write_text("\n".join(f"Words:\n\n    {block}\n" for block in blocks))
        walk = subprocess.Popen([sys.executable, HERE / "walk_test.py", self.table, CMAKE, BUILD_DIRECTORY],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.group = control_groups() / f"poprun-walk-{walk.pid}"
        self.addCleanup(walk.stdout.close)
        return walk

    def failing(self, *blocks):
        """The message of a walk that fails."""
        walk = self.walk(*blocks)
        output = walk.communicate()[0]
        self.assertEqual(walk.returncode, 1, output)
        self.assertFalse(self.group.exists())
        return output

    def test_passes(self):
        walk = self.walk("true", "hostname")
        output = walk.communicate()[0]
        self.assertEqual(walk.returncode, 0, output)
        self.assertFalse(self.group.exists())

    def test_a_command_that_fails_is_named(self):
        output = self.failing("true && false\n    true", "hostname")
        self.assertIn("page.md:3:", output)
        self.assertIn("exit code 1: false", output)

    def test_a_pipe_fails_with_its_first_command(self):
        self.assertIn("page.md:3:", self.failing("cat /nowhere | sort", "hostname"))

    def test_output_that_is_not_there_is_named(self):
        self.assertIn("nothing of the output looks like '^head$'", self.failing("true", "hostname | tr a-z A-Z"))

    def test_a_block_without_a_row_is_named(self):
        self.assertIn("page.md:11: this block has no row", self.failing("true", "hostname", "date"))

    def test_killed_it_leaves_nothing(self):
        walk = self.walk("true", "hostname; tail -f /dev/null")
        while "page.md:3:" not in (line := walk.stdout.readline()):
            self.assertTrue(line, "the walk has ended")
        self.assertTrue(self.group.exists())
        walk.send_signal(signal.SIGKILL)
        walk.wait()
        end = time.monotonic() + 30
        while self.group.exists():  # the guard removes it once all in it are dead
            self.assertLess(time.monotonic(), end, "processes of the walk live on")


if __name__ == "__main__":
    unittest.main()
