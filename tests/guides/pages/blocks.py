# SPDX-License-Identifier: Apache-2.0
"""The command blocks of a page: what a reader types, and what the page says that comes back."""
import dataclasses
import re
import subprocess


@dataclasses.dataclass(frozen=True)
class Block:
    line: int         # in the page, from 1
    language: str     # a fenced block's; empty: an indented one
    lines: tuple      # without the indentation

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


@dataclasses.dataclass(frozen=True)
class Command:
    text: str
    output: tuple     # lines that the page shows after it; empty: it shows none


FENCED = ("c", "cpp", "cmake")  # contents of files; all else is indented, so that no command is overlooked


def blocks_of(page_text):
    """All blocks, in order. An indented block follows a blank line, and goes on over blank lines between its own."""
    found, lines, at = [], page_text.split("\n"), 0
    while at < len(lines):
        begin = at
        fence = re.match(r" *```(.*)$", lines[at])
        if fence:
            if fence[1] not in FENCED:
                raise SystemExit(f"line {begin + 1}: commands are indented, and fenced is {' or '.join(FENCED)}")
            if "```" not in lines[at + 1:]:
                raise SystemExit(f"line {begin + 1}: this block has no end")
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


def differences(page, shown, rows):
    """Differences between a page's blocks and their rows, which have the beginning of each, as sentences."""
    for block, row in zip(shown, rows):
        if not block.lines[0].startswith(row.begins):
            return [f"{page}:{block.line}: the block begins with '{block.lines[0]}', its row with '{row.begins}'"]
    return ([f"{page}:{block.line}: this block has no row" for block in shown[len(rows):]] +
            [f"{page}: the row '{row.begins}' has no block" for row in rows[len(shown):]])


def is_complete(text):
    """False if a shell would ask for more lines."""
    checked = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
    return checked.returncode == 0 and not text.rstrip("\n").endswith("\\")


def whole_command(lines):
    """The first lines up to the end of a command; all of them if there is none."""
    for count in range(1, len(lines) + 1):
        if is_complete("\n".join(lines[:count]) + "\n"):
            return lines[:count]
    return lines


def commands_of(block):
    """With prompts (`$ `), the lines after a command are its output; without, every line is typed."""
    lines, found = [line for line in block.lines], []
    has_prompts = lines[0].startswith("$ ")
    while lines:
        typed = whole_command([re.sub(r"^\$ ", "", lines[0]), *lines[1:]] if has_prompts else lines)
        lines = lines[len(typed):]
        output = []
        while has_prompts and lines and not lines[0].startswith("$ "):
            output.append(lines.pop(0))
        if any(line.strip() for line in typed):
            found.append(Command("\n".join(typed) + "\n", tuple(output)))
    return found


# A number that varies: a time, a version or a date, with its unit; or one of three digits. Exit codes, and the small
# numbers of instances, hosts and jobs, do not.
NUMBER = re.compile(r"(?<!code )(?<![\d.])(?:(?<=avx)\d+|\d+(?:[.:T+-]\d+)+|\d{3,}|\d+(?= (?:h|min|s|ms|us|CPUs)\b))"
                    r"(?: (?:h|min|s|ms|us)\b(?: \d+ (?:min|s)\b)?)?")


def plain(line, free_numbers):
    """The columns of a table are as wide as what is in them."""
    return re.sub(r"\s+", " ", NUMBER.sub("N", line) if free_numbers else line).strip()


def by_instance(lines):
    """Lines of one instance come in order; those of others come between them as it happens."""
    tags = [re.match(r"\[\d+\] ", line) for line in lines]
    return sorted(lines, key=lambda line: line.split("]")[0]) if lines and all(tags) else list(lines)


def pattern_of(line):
    return "(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + "\n"


def matches(expected, actual, free_numbers=False):
    """`…` stands for any words in a line, and alone for any lines. With free_numbers, all numbers are alike."""
    patterns = [pattern_of(plain(line, free_numbers)) for line in by_instance(expected)]
    lines = [plain(line, free_numbers) for line in by_instance(actual)]
    return re.fullmatch("".join(patterns), "".join(line + "\n" for line in lines)) is not None
