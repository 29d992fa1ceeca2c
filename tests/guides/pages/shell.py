# SPDX-License-Identifier: Apache-2.0
"""A shell that is typed into."""
import os
import pathlib
import re
import select
import signal
import subprocess
import time

COMMAND_SECONDS = 300
END = re.compile(rb"\n\x01(\d+)\n$")


def children_of(pid):
    return [int(child) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()]


class Shell:
    """Commands share its variables and its directory. stdout and stderr come together, as in a terminal."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.background = []

    def run(self, text):
        """Exit code and output."""
        self.begin(text)
        return self.finish()

    def begin(self, text):
        self.background = self.children()
        # eval, of a text that does not end where the shell would stop to read: a command never reads the next one.
        quoted = "'" + text.replace("'", "'\\''") + "'"
        self.process.stdin.write(f"eval {quoted} </dev/null; printf '\\n\\001%s\\n' $?\n".encode())
        self.process.stdin.flush()

    def finish(self, is_enough=None):
        """Waits for the end of what has begun; interrupts it once, when is_enough(output) says so."""
        output, pipe, deadline = b"", self.process.stdout, time.monotonic() + COMMAND_SECONDS
        while not (end := END.search(output)):
            ready, _, _ = select.select([pipe], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(pipe.fileno(), 65536) if ready else b""
            if not piece:
                self.process.kill()
                return (124 if not ready else 255), output.decode(errors="replace")
            output += piece
            if is_enough and is_enough(output.decode(errors="replace")):
                self.interrupt()
                is_enough = None
        return int(end[1]), output[:end.start()].decode(errors="replace")

    def interrupt(self):
        """Ctrl-C: SIGINT to what runs in the foreground."""
        for pid in self.children():
            if pid not in self.background:
                os.kill(pid, signal.SIGINT)

    def children(self):
        """Those of the shell, for which nsenter waits."""
        return [child for shell in children_of(self.process.pid) for child in children_of(shell)]
