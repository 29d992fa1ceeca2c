#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a man page of what a program and its commands say to --help, to stdout.

usage: help_to_man.py PROGRAM WHAT-IT-IS [COMMAND ...]"""
import re
import subprocess
import sys
from pathlib import Path

OPTION = re.compile(r"  (-\S.*?)(?:\s{2,}(\S.*))?")
CHECK = re.compile(r":(POSITIVE|NONNEGATIVE)\b")


def roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")
    return "\\&" + text if text.startswith((".", "'")) else text


def help_of(program: str, *command: str) -> list[str]:
    asked = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True)
    return asked.stdout.rstrip("\n").split("\n")


def option_page(names: str, description: str) -> list[str]:
    """names: "--spares N:NONNEGATIVE=16", as CLI11 writes it."""
    names = CHECK.sub("", names)
    required = names.endswith(" REQUIRED")
    words = names.removesuffix(" REQUIRED").removesuffix(" ...")
    spelled, _, value = words.partition(" ")
    value, _, default = value.partition("=")
    text = roff(description[:1].upper() + description[1:]) + "."
    if required:
        text += " Must be given."
    if default:
        text += f" Default: {roff(default)}."
    bold = ", ".join(f"\\fB{roff(name)}\\fR" for name in spelled.split(","))
    return [".TP", bold + (f" \\fI{roff(value)}\\fR" if value else ""), text]


def command_page(lines: list[str], heading: str) -> list[str]:
    """A page's section from CLI11's help: what it is, usage, options, a footer."""
    page = [f".SH {heading.upper()}", roff(lines[0])]
    footer: list[str] = []
    option: tuple[str, str] | None = None
    body = lines[lines.index("Options:") + 1:]
    for line in body:
        match = OPTION.fullmatch(line)
        if match and not footer:
            if option:
                page += option_page(*option)
            option = (match[1], match[2] or "")
        elif option and line.startswith(" " * 20) and not footer:
            option = (option[0], (option[1] + " " + line.strip()).strip())
        elif line or footer:
            footer.append(line)
    if option:
        page += option_page(*option)
    if footer:
        page += [".PP", ".nf", *map(roff, footer), ".fi"]
    return page


def main() -> int:
    program, what, *commands = sys.argv[1:]
    name = Path(program).name
    first = help_of(program)
    page = ['.\\" SPDX-License-Identifier: Apache-2.0',
            '.\\" Made by scripts/gen_options_doc from what it says to --help.',
            f".TH {name.upper()} 1", ".SH NAME", f"{roff(name)} \\- {roff(what)}", ".SH SYNOPSIS"]
    if commands:
        usage = [line.removeprefix("usage:").strip() for line in first]
        page += [".nf", *map(roff, usage), ".fi"]
        for command in commands:
            page += command_page(help_of(program, *command.split()), f"{name} {command}")
    else:
        page += [roff(next(line for line in first if line.startswith("Usage:")).removeprefix("Usage: "))]
        page += command_page(first, "description")
    page += [".SH SEE ALSO", "\\fBpoprun\\fR(1)"]
    print("\n".join(line for line in page if line))
    return 0


sys.exit(main())
