# SPDX-License-Identifier: Apache-2.0
"""The table of a page's blocks: README.md here."""
import dataclasses
import pathlib
import shlex
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests/guides/pages"))
from blocks import blocks_of, differences  # noqa: E402
quoted = shlex.quote


@dataclasses.dataclass(frozen=True)
class Row:
    begins: str         # the beginning of the block's first line
    not_run: str = ""   # why the walk does not type it
    at: tuple = ()      # its user: "alice@head", in a login shell that lives as long as the walk; several: in turn
    before: str = ""    # shell lines there that bring about what the page takes for granted here
    says: tuple = ()    # regular expressions, each of which a line of the output has
    answers: tuple = ()  # a prompt and the keys to press when it is there
    beside: str = ""    # its first line goes on, and what it prints indented is typed here; then Ctrl-C
    then: str = ""      # shell lines that succeed if the block has done what it should; $output is what it said
    then_at: str = ""   # the place of `then`, if not the first of `at`


@dataclasses.dataclass(frozen=True)
class Page:
    page: str             # its path
    machines: tuple       # their names
    block: tuple          # the rows, in the order of the page
    section: str | None = None      # if only its blocks are in this table
    but_section: str | None = None  # a section whose blocks another table has
    prefixes: tuple = ("/usr",)  # poprun's on all machines

    @property
    def text(self):
        return (ROOT / self.page).read_text(encoding="utf-8")


def page_of(path):
    """Throws on keys that it does not know."""
    data = tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    return Page(block=tuple(Row(**row) for row in data.pop("block")), **data)


def indented(page):
    """The blocks of the page that this table is about."""
    lines = page.text.split("\n")

    def is_ours(block):
        section = next((line[3:] for line in reversed(lines[:block.line]) if line.startswith("## ")), "")
        return not block.language and section != page.but_section and page.section in (None, section)
    return [block for block in blocks_of(page.text) if is_ours(block)]


def mistakes(page):
    """Differences between the page and its rows, as sentences."""
    return differences(page.page, indented(page), page.block) + [
        f"the row '{row.begins}' says neither where it is typed nor why it is not, or both"
        for row in page.block if bool(row.not_run) == bool(row.at)]
