# SPDX-License-Identifier: Apache-2.0
"""A login shell of a user on a machine, at a terminal into which blocks are typed."""
import os
import pathlib
import re
import select
import time

TYPED = (pathlib.Path(__file__).parent / "typed.sh").read_text(encoding="utf-8")
SECONDS = 60


class Failed(Exception):
    """A command, and why it does not do what its page says."""


class Shell:
    def __init__(self, machine, user):
        self.name = f"{user}@{machine.name}"
        blocks, self.blocks = os.pipe()
        self.results, results = os.pipe()
        pid, self.terminal = os.forkpty()
        if pid == 0:
            for number, end in [(3, os.dup2(blocks, 13)), (4, os.dup2(results, 14))]:
                os.dup2(end, number)
            os.closerange(5, 256)
            os.environ["TERM"] = "xterm"
            # Not -c: that would take the terminal away.
            command = machine.command("su", "-", user, "--session-command", TYPED)
            os.execvp(command[0], command)
        os.close(blocks)
        os.close(results)
        self.output = ""

    def start(self, block):
        """Types the block; reads nothing."""
        self.output = ""
        os.write(self.blocks, block.encode() + b"\0")

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def wait(self, seen, seconds=SECONDS):
        """Waits until seen(output, results) is true, of all that was written since start(); returns the results."""
        end, results = time.monotonic() + seconds, ""
        while not seen(self.output, results):
            ready, _, _ = select.select([self.terminal, self.results], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise Failed(f"{self.name}: nothing more came for {seconds} s after:\n{self.output}")
            if self.terminal in ready:
                self.output += os.read(self.terminal, 65536).decode(errors="replace").replace("\r\n", "\n")
            elif self.results in ready:
                read = os.read(self.results, 65536).decode()
                if not read:
                    raise Failed(f"{self.name}: the shell has ended:\n{self.output}")
                results += read
        return results

    def finish(self, answers=(), may_fail=False):
        """Waits for the typed lines' end. Each of `answers` is a prompt, and the keys to press when it is there."""
        for prompt, keys in answers:
            seen = self.output.count(prompt)
            self.wait(lambda output, _, n=seen, p=prompt: output.count(p) > n)
            self.press(keys)
        results = self.wait(lambda _, results: results.endswith("done\n"))
        # Output that is still in the terminal was written before.
        while select.select([self.terminal], [], [], 0)[0]:
            self.output += os.read(self.terminal, 65536).decode(errors="replace").replace("\r\n", "\n")
        failures = results.removesuffix("done\n")
        if failures and not may_fail:
            raise Failed(f"{self.name}: {failures}\n{self.output}")
        return self.output

    def type(self, block, says=(), answers=()):
        """Types the block and waits for its end; fails if a command does, or the output has no match of `says`."""
        self.start(block)
        output = self.finish(answers)
        for pattern in says:
            if not re.search(pattern, output, re.MULTILINE):
                raise Failed(f"{self.name}: nothing of the output looks like {pattern!r}:\n{output}")
        return output
