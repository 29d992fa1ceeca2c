# SPDX-License-Identifier: Apache-2.0
"""A throw-away tree of files to run a script of the repository on."""
import subprocess
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent


class SampleTreeTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)

    def write(self, path: str, text: str | bytes, mode: int = 0o644):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        file.chmod(mode)

    def run_script(self, name: str) -> tuple[int, str]:
        """Exit code and output of scripts/<name> on the sample tree."""
        command = [REPOSITORY / "scripts" / name, self.root]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
        return done.returncode, done.stdout + done.stderr
