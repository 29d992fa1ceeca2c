# SPDX-License-Identifier: Apache-2.0
"""The table of a page's blocks: README.md here."""
import dataclasses
import pathlib
import shlex
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[3]
quoted = shlex.quote


@dataclasses.dataclass(frozen=True)
class Block:
    line: int
    section: str
    lines: tuple

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


@dataclasses.dataclass(frozen=True)
class Row:
    begins: str         # the beginning of the block's first line
    not_run: str = ""   # why nobody types it
    at: tuple = ()      # who types it: "alice@head", in a login shell that lives as long as the walk; several: in turn
    before: str = ""    # shell lines there that bring about what the page takes for granted here
    says: tuple = ()    # regular expressions, each of which a line of the output has
    answers: tuple = ()  # a prompt and the keys to press when it is there
    beside: str = ""    # its first line goes on, and what it prints indented is typed here; then Ctrl-C
    then: str = ""      # shell lines that succeed if the block has done what it should; $output is what it said
    then_at: str = ""   # where, if not at the first of `at`


@dataclasses.dataclass(frozen=True)
class Page:
    page: str             # its path
    machines: tuple       # their names
    block: tuple          # the rows, in the order of the page
    section: str = ""     # if only its blocks are in this table
    but_section: str = ""  # whose blocks another table has
    prefixes: tuple = ("/usr",)  # where poprun is installed on all machines

    @property
    def text(self):
        return (ROOT / self.page).read_text(encoding="utf-8")


def page_of(path):
    """Throws on keys that it does not know."""
    data = tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    return Page(block=tuple(Row(**row) for row in data.pop("block")), **data)


def indented(page):
    """The blocks of the page that this table is about."""
    found, section, lines = [], "", page.text.split("\n")
    at = 0
    while at < len(lines):
        begin = at
        while at < len(lines) and (lines[at].startswith("    ") or (at > begin and not lines[at].strip())):
            at += 1
        if at > begin:
            text = "\n".join(line[4:] for line in lines[begin:at]).rstrip()
            found.append(Block(begin + 1, section, tuple(text.split("\n"))))
        elif lines[at].startswith("## "):
            section = lines[at].removeprefix("## ")
        at += at == begin
    return [block for block in found
            if block.section != page.but_section and page.section in ("", block.section)]


def mistakes(page):
    """Where the page and its rows differ, as sentences."""
    shown = indented(page)
    for block, row in zip(shown, page.block):
        if not block.lines[0].startswith(row.begins):
            return [f"{page.page}:{block.line}: the block begins with '{block.lines[0]}', its row with '{row.begins}'"]
        if bool(row.not_run) == bool(row.at):
            return [f"the row '{row.begins}' says neither where it is typed nor why it is not, or both"]
    return ([f"{page.page}:{block.line}: this block has no row" for block in shown[len(page.block):]] +
            [f"{page.page}: the row '{row.begins}' has no block" for row in page.block[len(shown):]])
