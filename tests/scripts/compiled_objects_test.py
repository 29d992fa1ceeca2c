# SPDX-License-Identifier: Apache-2.0
"""Nothing makes builds long unnoticed: CONTRIBUTING.md says how many objects each compiles.

usage: compiled_objects_test.py CMAKE BUILD_DIRECTORY LANE
Looks at scripts/quickstart's build, at that of the lane in_process, and at this one if it is the lane programs'.
"""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
CMAKE, BUILD, LANE = sys.argv[1:]
MOST = 1.25


def objects(directory, *targets):
    commands = subprocess.run(["ninja", "-C", directory, "-t", "commands", *targets], check=True, capture_output=True,
                              text=True).stdout
    return len(re.findall(r" -o \S+\.o -c ", commands))


def said(build):
    row = re.search(rf"^\| `{build}` \|.*\| (\d+) \|$", (TREE / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    return int(row.group(1))


class CompiledObjects(unittest.TestCase):
    def expect_said(self, build, now):
        self.assertLessEqual(now, said(build) * MOST, f"{build} compiles {now} objects: make it fewer, or say why more")
        self.assertLessEqual(said(build), now * MOST, f"{build} compiles {now} objects: CONTRIBUTING.md says more")

    def expect_said_of_preset(self, build, preset, *targets):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([CMAKE, "--preset", preset, "-B", directory], cwd=TREE, check=True, capture_output=True)
            self.expect_said(build, objects(directory, *targets))

    def test_of_the_quickstart(self):
        self.expect_said_of_preset("scripts/quickstart", "release", "poprun", "fashion_mnist")

    def test_of_lane_in_process(self):
        self.expect_said_of_preset("scripts/test asan", "asan", "tests_of_lane")

    def test_of_lane_programs(self):
        if LANE == "programs":
            self.expect_said("scripts/test release", objects(BUILD, "tests_of_lane"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
