#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The man page has no faults that man finds, and the completion completes in a real bash."""
import subprocess
import tempfile
import unittest
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent.parent

ASK = r"""
source completions/poprun.bash
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMPREPLY=()
_poprun
printf '%s\n' "${COMPREPLY[@]}"
"""


def complete(*words: str) -> list[str]:
    """What bash would offer for the last word; its own word breaks are at '='."""
    result = subprocess.run(["bash", "--norc", "-c", ASK, "bash", *words], cwd=HOME, capture_output=True, text=True,
                            check=True)
    assert result.stderr == "", result.stderr
    return [line for line in result.stdout.split("\n") if line]


class ManPage(unittest.TestCase):
    def test_man_has_no_warnings(self):
        result = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", "docs/man/poprun.1"],
                                cwd=HOME, capture_output=True, text=True, check=True)
        self.assertEqual(result.stderr, "")
        self.assertIn("poprun", result.stdout)

    def test_lint_finds_faults(self):
        broken = ".TH X 1\n.SH NAME\nx \\- y\n.no_such_macro\n"
        result = subprocess.run(["man", "--warnings", "-l", "-"], input=broken, capture_output=True, text=True)
        self.assertIn("no_such_macro", result.stderr)


class Completion(unittest.TestCase):
    def test_names(self):
        self.assertEqual(complete("poprun", "--num-i"), ["--num-instances", "--num-ilds"])
        self.assertEqual(complete("poprun", "-v", "--process-p"), ["--process-placement"])

    def test_values_after_a_blank(self):
        self.assertEqual(complete("poprun", "--process-placement", "spread"), ["spreadnuma", "spreadcores"])
        self.assertEqual(complete("poprun", "--version-format", "full"), ["full-text", "full-json"])

    def test_values_after_an_equals_sign(self):
        self.assertEqual(complete("poprun", "--sync-type", "=", "ST_P"),
                         ["ST_POD_NATIVE_DEFAULT", "ST_POD_NATIVE_REPLICATED_PIPELINE"])
        self.assertIn("mpi", complete("poprun", "--tag-output", "="))

    def test_doctor_takes_options_and_no_program(self):
        self.assertEqual(complete("poprun", "docto"), ["doctor"])
        self.assertEqual(complete("poprun", "doctor", "--num-i"), ["--num-instances", "--num-ilds"])
        self.assertEqual(complete("poprun", "doctor", "--host", "a", "ca"), [])
        self.assertNotIn("doctor", complete("poprun", "--host", "a", "docto"))

    def test_values_that_may_be_left_out(self):
        offered = complete("poprun", "--print-topology", "")
        self.assertIn("yes", offered)
        self.assertIn("cat", offered, "the program may follow at once")

    def test_paths(self):
        self.assertEqual(complete("poprun", "--hostfile", "README"), ["README.md"])
        self.assertEqual(complete("poprun", "--wdir", "exam"), ["examples"])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "my hosts"
            path.touch()
            self.assertEqual(complete("poprun", "--hostfile", str(path)[:-5]), [str(path)])
            self.assertEqual(complete("poprun", "cat", str(path)[:-5]), [str(path)])
        self.assertEqual(complete("poprun", "--import-config", "=", "README"), ["README.md"])

    def test_then_commands(self):
        self.assertIn("python3", complete("poprun", "-np", "2", "python"))
        self.assertIn("python3", complete("poprun", "--tag-output", "yes", "--", "python"))

    def test_then_files_for_the_program(self):
        self.assertEqual(complete("poprun", "-np", "2", "cat", "README"), ["README.md"])
        self.assertEqual(complete("poprun", "--host", "=", "a", "cat", "--num-i"), [], "not poprun's any more")


if __name__ == "__main__":
    unittest.main()
