# SPDX-License-Identifier: Apache-2.0
"""The table of all command blocks: *.toml here, a file for each page. Their keys are below."""
import dataclasses
import pathlib
import tomllib

from blocks import blocks_of, differences

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


@dataclasses.dataclass(frozen=True)
class Row:
    begins: str             # the beginning of the block's first line
    not_run: str = ""       # why a test does not type it; empty: it does
    file: str = ""          # the block is what is in this file; then: nothing is typed but `then`
    before: str = ""        # shell lines that bring about what the page takes for granted here
    exit: int = 0           # the last command's; all others exit with 0
    numbers: str = "exact"  # "free": those that the output shows vary
    says: tuple = ()        # texts that its output has, in this order, which the page does not show
    interrupt: bool = False  # Ctrl-C when all that the page shows has come
    beside: bool = False    # typed in a terminal of its own; it goes on beside the next blocks
    then: str = ""          # shell lines that exit with 0 if the block has done what it should


@dataclasses.dataclass(frozen=True)
class Page:
    page: str               # its path
    block: tuple            # the rows, in the order of the page
    hosts: tuple = ("head",)  # the first is where the reader sits
    files: dict = dataclasses.field(default_factory=dict)  # name -> number of the fenced block that is in it
    terminal: str = ""      # shell lines at the start of each terminal; build and source are directories
    given: str = ""         # shell lines before everything, in the first terminal

    @property
    def text(self):
        return (ROOT / self.page).read_text()


def page_of(path):
    """One file of the table. Throws on keys that it does not know."""
    data = tomllib.loads(pathlib.Path(path).read_text())
    rows = tuple(Row(**row) for row in data.pop("block"))
    return Page(block=rows, **data)


def indented(page):
    return [block for block in blocks_of(page.text) if not block.language]


def mistakes(page):
    """Differences between the page and its rows, as sentences."""
    return differences(page.page, indented(page), page.block)
