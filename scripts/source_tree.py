# SPDX-License-Identifier: Apache-2.0
"""Which files belong to the tree: the one answer that format, lint, check_layers and tidy share.

In a git work tree: all that git does not ignore, so that a new file is checked before its first commit.
Elsewhere (an unpacked archive, a test's sample tree): all but build directories.
As a program it prints the files whose names end in its arguments, NUL-separated, for xargs -0.
"""
import os
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
CPP_SUFFIXES = (".h", ".hpp", ".cpp")
_SKIPPED_DIRECTORIES = {".git", "build", "__pycache__"}


def tree_files(root: Path) -> list[str]:
    """Paths relative to root, sorted, with forward slashes."""
    names = _git_files(root) if (root / ".git").exists() else None
    return sorted(name for name in (_walked_files(root) if names is None else names) if (root / name).is_file())


def _git_files(root: Path) -> list[str] | None:
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None  # no git, or a tree of another owner, which git refuses to read
    return [name for name in set(listing.decode().split("\0")) if name]


def _walked_files(root: Path) -> list[str]:
    names = []
    for directory, subdirectories, files in os.walk(root):
        subdirectories[:] = [name for name in subdirectories if name not in _SKIPPED_DIRECTORIES]
        names += [(Path(directory) / name).relative_to(root).as_posix() for name in files]
    return names


if __name__ == "__main__":
    for path in tree_files(HOME):
        if path.endswith(tuple(sys.argv[1:])):
            print(path, end="\0")
