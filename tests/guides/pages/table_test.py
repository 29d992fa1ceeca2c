#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command block of the pages for users has a row, and every page with one that is typed has a test.

usage: table_test.py PAGE... (those that have a test, by the names of their tables)
"""
import sys
import unittest

import blocks
import table

TESTED = sys.argv[1:]
CLUSTER = {"docs/guide/agent_service.md", "docs/guide/popdistd.md"}  # ../cluster types them


def pages_for_users():
    return ["README.md"] + sorted(str(path.relative_to(table.ROOT)) for folder in ["guide", "reference"]
                                  for path in (table.ROOT / "docs" / folder).glob("*.md"))


class Table(unittest.TestCase):
    def setUp(self):
        self.pages = {path.stem: table.page_of(path) for path in sorted(table.HERE.glob("*.toml"))}

    def test_rows_are_the_blocks(self):
        self.assertEqual([mistake for page in self.pages.values() for mistake in table.mistakes(page)], [])

    def test_every_page_has_rows(self):
        rows = {page.page for page in self.pages.values()}
        self.assertEqual([page for page in pages_for_users() if page not in rows | CLUSTER
                          and any(not block.language for block in blocks.blocks_of((table.ROOT / page).read_text()))],
                         [])

    def test_what_is_typed_is_a_test(self):
        typed = [name for name, page in self.pages.items() if any(not row.not_run for row in page.block)]
        self.assertEqual(sorted(TESTED), typed)


class Blocks(unittest.TestCase):
    def test_numbers_of_output(self):
        self.assertTrue(blocks.matches(("took 3.5 s",), ["took 12 s"], free_numbers=True))
        self.assertFalse(blocks.matches(("took 3.5 s",), ["took 12 s"]))
        self.assertFalse(blocks.matches(("took 3.5 s",), ["takes 12 s"], free_numbers=True))

    def test_exit_codes_and_counts_are_not_free(self):
        self.assertFalse(blocks.matches(("exit code 139",), ["exit code 134"], free_numbers=True))
        self.assertFalse(blocks.matches(("[3] instance 3 of 4",), ["[3] instance 3 of 2"], free_numbers=True))
        self.assertTrue(blocks.matches(("epoch 1: 330285 samples/s",), ["epoch 1: 4711 samples/s"], free_numbers=True))

    def test_commands_are_indented(self):
        for page in ["```sh\n$ true\n```\n", "``` console\n$ true\n```\n", "```cpp\nint i;\n"]:
            with self.assertRaises(SystemExit):
                blocks.blocks_of(page)

    def test_what_is_left_out(self):
        self.assertTrue(blocks.matches(("a", "…", "b … d"), ["a", "x", "y", "b c d"]))
        self.assertFalse(blocks.matches(("a", "b"), ["a", "b", "c"]))

    def test_instances_come_in_any_order(self):
        self.assertTrue(blocks.matches(("[0] a", "[0] b", "[1] c"), ["[1] c", "[0] a", "[0] b"]))
        self.assertFalse(blocks.matches(("[0] a", "[0] b"), ["[0] b", "[0] a"]))

    def test_a_command_over_lines(self):
        block, = blocks.blocks_of("\n    $ echo 'a\n    b'\n    a\n    b\n    $ true\n\nwords\n")
        self.assertEqual(blocks.commands_of(block), [blocks.Command("echo 'a\nb'\n", ("a", "b")),
                                                     blocks.Command("true\n", ())])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
