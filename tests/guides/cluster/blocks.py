# SPDX-License-Identifier: Apache-2.0
"""The blocks of a page."""
import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Block:
    line: int         # of the page, from 1
    language: str     # of a fenced block; empty: an indented one
    lines: tuple      # without the indentation

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


def blocks_of(page_text):
    """All blocks, in order. An indented block follows a blank line, and goes on over blank lines between its own."""
    found, lines, at = [], page_text.split("\n"), 0
    while at < len(lines):
        begin = at
        fence = re.match(r"```(\w+)$", lines[at])
        if fence:
            while lines[at + 1] != "```":
                at += 1
            found.append(Block(begin + 2, fence[1], tuple(lines[begin + 1:at + 1])))
            at += 2
        elif lines[at].startswith("    ") and lines[at].strip() and not lines[at - 1].strip():
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                at += 1
            text = "\n".join(line[4:] for line in lines[begin:at]).rstrip()
            found.append(Block(begin + 1, "", tuple(text.split("\n"))))
        else:
            at += 1
    return found
