# SPDX-License-Identifier: Apache-2.0
"""scripts/test counts what ctest says, runs every preset, and ends with the one line that others read."""
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from sample_tree import REPOSITORY, SampleTreeTest  # noqa: E402

# Stand-ins: ctest prints $CTEST_SUMMARY, or the file named after its preset; cmake fails for the preset $BROKEN.
CMAKE = """#!/bin/sh
[ "$1" = --build ] || { mkdir -p build/$2; exit 0; }
[ "$2 $3" != "--preset $BROKEN" ]
"""
CTEST = """#!/bin/sh
cat "$2.out"
! grep -q -e '[1-9][0-9]* tests* failed' -e 'No tests' "$2.out"
"""


class TestScript(SampleTreeTest):
    def setUp(self):
        super().setUp()
        self.write("scripts/test", (REPOSITORY / "scripts/test").read_bytes(), 0o755)
        self.write("scripts/setup", "#!/bin/sh\n", 0o755)
        self.write("bin/cmake", CMAKE, 0o755)
        self.write("bin/ctest", CTEST, 0o755)
        self.write("release.out", "100% tests passed, 0 tests failed out of 40\n")
        self.write("asan.out", "100% tests passed, 0 tests failed out of 30\n")

    def run_test_script(self, *presets: str, broken: str = "") -> tuple[int, list[str]]:
        path = f"{self.root}/bin:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "BROKEN": broken, "CI": "true"}
        done = subprocess.run([self.root / "scripts/test", *presets], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, cwd="/", env=environment)
        return done.returncode, done.stdout.splitlines()

    def test_the_last_line_sums_all_presets(self):
        code, lines = self.run_test_script()
        self.assertEqual((code, lines[-1]), (0, "70 passed, 0 failed"))

    def test_failed_tests_are_counted_and_the_next_preset_still_runs(self):
        self.write("release.out", "95% tests passed, 2 tests failed out of 40\n")
        code, lines = self.run_test_script()
        self.assertEqual((code, lines[-1]), (1, "68 passed, 2 failed"))

    def test_one_failed_test_is_counted_too(self):
        self.write("release.out", "0% tests passed, 1 tests failed out of 1\n")
        self.assertEqual(self.run_test_script("release")[1][-1], "0 passed, 1 failed")

    def test_a_broken_build_is_one_failure(self):
        code, lines = self.run_test_script(broken="release")
        self.assertEqual((code, lines[-1]), (1, "30 passed, 1 failed"))

    def test_a_run_without_summary_is_one_failure(self):
        self.write("asan.out", "No tests were found!!!\n")
        code, lines = self.run_test_script()
        self.assertEqual((code, lines[-1]), (1, "40 passed, 1 failed"))

    def test_skipped_tests_did_not_pass(self):
        self.write("asan.out", "100% tests passed, 0 tests failed out of 30\n\n"
                               "The following tests did not run:\n"
                               "\t 7 - os.Signals (Skipped)\n\t 8 - os.Off (Disabled)\n")
        code, lines = self.run_test_script("asan")
        self.assertEqual((code, lines[-1]), (0, "29 passed, 0 failed"))

    def test_each_preset_has_a_line_with_its_time(self):
        self.assertRegex("\n".join(self.run_test_script("release")[1]), r"preset release: 40 passed.*\(\d+ s\)")


if __name__ == "__main__":
    unittest.main()
