# SPDX-License-Identifier: Apache-2.0
"""check_links complains about each kind of broken link, and about no link that works."""
import sys
import unittest

sys.dont_write_bytecode = True
from sample_tree import SampleTreeTest  # noqa: E402

# (page, its text, the complaint)
BROKEN = [
    ("README.md", "see [this](docs/none.md)\n", "README.md:1: docs/none.md does not exist"),
    ("docs/a.md", "\n\nsee [this](../none.md)\n", "docs/a.md:3: ../none.md does not exist"),
    ("docs/a.md", "```\ncode\n```\n[this](none.md)\n", "docs/a.md:4: none.md does not exist"),
    ("docs/a.md", "# One\n[two](#two)\n", "docs/a.md:2: #two has no heading '#two'"),
    ("docs/a.md", "[one](spec/b.md#one)\n", "spec/b.md#one has no heading '#one'"),
    ("docs/guide/a.md", "[b](../spec/b.md)\n", "docs/guide/a.md:1: ../spec/b.md is not installed"),
    ("docs/reference/a.md", "[b](../../common/b.h)\n", "../../common/b.h is not installed"),
    ("docs/adr/0001-a.md", "", "docs/adr/0001-a.md:1: is not in the list of docs/README.md"),
    ("common/a.cpp", "\n// see docs/spec/none.md.\n", "common/a.cpp:2: docs/spec/none.md does not exist"),
]

WORKING = [
    ("docs/README.md", "[0001](adr/0001-a.md)\n"),
    ("docs/adr/0001-a.md", "# 0001\n"),
    ("README.md", "[guide](docs/guide/a.md#first-steps), [spec](docs/spec/b.md), [web](https://example.org/none)\n"),
    ("docs/guide/a.md", "# First `steps`\n[here](#first-steps) [b](b.md) [readme](../../README.md)\n"),
    ("docs/guide/b.md", "## Two, and three\n[c](../reference/c.md) [two](#two-and-three)\n"),
    ("docs/reference/c.md", "`[a](none.md)`\n\n    [b](none.md)\n\n```\n[c](none.md)\n```\n"),
    ("docs/spec/b.md", "[folder](../guide/) [source](../../common/b.h)\n"),
    ("common/b.h", "[no page](none.md), but docs/spec/b.md\n"),
]


class CheckLinksTest(SampleTreeTest):
    def test_finds_links_that_lead_nowhere(self):
        for page, text, complaint in BROKEN:
            with self.subTest(complaint):
                self.write("docs/spec/b.md", "# Another\n")
                self.write("common/b.h", "")
                self.write(page, text)
                code, output = self.run_script("check_links")
                self.assertEqual(code, 1, output)
                self.assertIn(complaint, output)
                self.assertIn("check_links: 1 findings", output)
                (self.root / page).unlink()

    def test_accepts_links_that_work(self):
        for page, text in WORKING:
            self.write(page, text)
        self.assertEqual(self.run_script("check_links"), (0, "check_links: 0 findings\n"))


if __name__ == "__main__":
    unittest.main()
