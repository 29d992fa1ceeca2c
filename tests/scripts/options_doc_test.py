#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The man pages have no faults that man finds, and the completions complete in a real bash, zsh and fish."""
import os
import pty
import select
import shutil
import signal
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
    """Bash's offers for the last word; its own word breaks are at '='."""
    result = subprocess.run(["bash", "--norc", "-c", ASK, "bash", *words], cwd=HOME, capture_output=True, text=True,
                            check=True)
    assert result.stderr == "", result.stderr
    return [line for line in result.stdout.split("\n") if line]


class ManPage(unittest.TestCase):
    def test_man_has_no_warnings(self):
        pages = sorted(page.name for page in (HOME / "docs/man").iterdir())
        self.assertEqual(pages, ["popctl.1", "popdist-agent.1", "popdist-algorithms.1", "popdist-data.1",
                                 "popdistd.1", "poprun.1"])
        for page in pages:
            result = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", f"docs/man/{page}"],
                                    cwd=HOME, capture_output=True, text=True, check=True)
            self.assertEqual(result.stderr, "", page)
            self.assertIn("poprun", result.stdout, page)

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

    def test_lists(self):
        self.assertEqual(complete("poprun", "--env-for", "te"), ["tensorflow"])
        self.assertEqual(complete("poprun", "--env-for", "jax,pytorch,te"), ["jax,pytorch,tensorflow"])

    def test_doctor_takes_options_and_no_program(self):
        self.assertEqual(complete("poprun", "docto"), ["doctor"])
        self.assertEqual(complete("poprun", "doctor", "--num-i"), ["--num-instances", "--num-ilds"])
        self.assertEqual(complete("poprun", "doctor", "--host", "a", "ca"), [])
        self.assertNotIn("doctor", complete("poprun", "--host", "a", "docto"))

    def test_simulate_has_options_of_its_own(self):
        self.assertEqual(complete("poprun", "simul"), ["simulate"])
        self.assertEqual(complete("poprun", "simulate", "--m"), ["--model", "--micro-batch"])
        self.assertEqual(complete("poprun", "simulate", "--model", "README"), ["README.md"])
        self.assertEqual(complete("poprun", "simulate", "--model", "=", "README"), ["README.md"])
        self.assertEqual(complete("poprun", "simulate", "--system", "pod16,pod25"), ["pod16,pod256"])
        self.assertNotIn("--host", complete("poprun", "simulate", "--"))

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


class Zsh(unittest.TestCase):
    """zsh completes at a terminal only."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        shutil.copy(HOME / "completions/poprun.zsh", Path(self.folder.name) / "_poprun")
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(HOME)
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "ZDOTDIR": self.folder.name})
        self.type(f"PS1=; unsetopt zle_bracketed_paste; fpath=({self.folder.name} $fpath); autoload -U compinit; "
                  "compinit -u -D; echo rea''dy\n", "ready\r\n")

    def tearDown(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)
        self.folder.cleanup()

    def type(self, text: str, expected: str):
        os.write(self.terminal, text.encode())
        seen = ""
        while expected not in seen:
            readable, _, _ = select.select([self.terminal], [], [], 20)
            self.assertTrue(readable, f"{expected!r} does not come: {seen!r}")
            seen += os.read(self.terminal, 4096).decode(errors="replace")

    def test_names(self):
        self.type("poprun --num-il\t", "--num-ilds")

    def test_values(self):
        self.type("poprun --process-placement spreadn\t", "spreadnuma")

    def test_simulate_has_options_of_its_own(self):
        self.type("poprun simulate --hold\t", "--hold-out")

    def test_lists(self):
        self.type("poprun --env-for pytorch,te\t", "pytorch,tensorflow")

    def test_then_files_for_the_program(self):
        self.type("poprun -np 2 cat READ\t", "README.md")


class Fish(unittest.TestCase):
    def offered(self, line: str) -> list[str]:
        with tempfile.TemporaryDirectory() as home:
            ask = f"source completions/poprun.fish; complete -C '{line}'"
            result = subprocess.run(["fish", "--no-config", "-c", ask], cwd=HOME, capture_output=True, text=True,
                                    check=True, env={**os.environ, "HOME": home})
        self.assertEqual(result.stderr, "")
        return [each.split("\t")[0] for each in result.stdout.split("\n") if each]

    def test_names(self):
        self.assertEqual(sorted(self.offered("poprun --num-i")), ["--num-ilds", "--num-instances"])

    def test_values(self):
        self.assertEqual(sorted(self.offered("poprun --process-placement spread")), ["spreadcores", "spreadnuma"])
        self.assertEqual(self.offered("poprun --sync-type=ST_POD_NATIVE_D"), ["--sync-type=ST_POD_NATIVE_DEFAULT"])

    def test_simulate_has_options_of_its_own(self):
        self.assertEqual(self.offered("poprun simul"), ["simulate"])
        self.assertEqual(self.offered("poprun simulate --hold"), ["--hold-out"])
        self.assertEqual(self.offered("poprun simulate --num-i"), [])
        self.assertEqual(self.offered("poprun simulate --model READ"), ["README.md"])
        self.assertIn("pod16,pod256", self.offered("poprun simulate --system pod16,pod25"))

    def test_lists(self):
        self.assertIn("pytorch,tensorflow", self.offered("poprun --env-for pytorch,te"))

    def test_then_files_for_the_program(self):
        self.assertEqual(self.offered("poprun -np 2 cat READ"), ["README.md"])
        self.assertEqual(self.offered("poprun --host a cat --num-i"), [], "not poprun's any more")


if __name__ == "__main__":
    unittest.main()
