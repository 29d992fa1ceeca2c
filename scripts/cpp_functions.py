# SPDX-License-Identifier: Apache-2.0
"""Finds functions in C++ text by their braces: good enough to measure them, without a compiler.

Lambdas and local classes count as lines of the function around them. What it takes for no function (tables, lambdas in
initialisers, unbalanced text of #if branches) is left alone: a rule that cries wolf is switched off sooner or later.
"""
import re

_NOISE = re.compile(
    r"""//[^\n]*|/\*.*?\*/"""                            # comments
    r"""|R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)\""""  # raw strings
    r"""|"(?:\\.|[^"\\\n])*\""""                         # strings
    r"""|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"""          # characters, not digit separators
    r"""|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*"""               # preprocessor lines with their continuations
    r"""|\b(?:public|private|protected)\s*:(?!:)""",
    re.DOTALL | re.MULTILINE,
)
_CONTAINER = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
_RETURNS_ELABORATED_TYPE = re.compile(r"\b(struct|class|union|enum)\s+\w+[\s*&]+\w+\s*\(")
_MEMBER_INITIALISER = re.compile(r"(?<!:):(?!:)[^;]*\w")
_NAME = re.compile(r"([\w:~]+|operator\s*\S+?)\s*\(")


def functions(text: str) -> list[tuple[str, int, int]]:
    """(name, first line, number of lines) of each function body outside other functions."""
    text = _NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    found = []
    depth = 0            # braces open inside a function or an initialiser; namespaces and classes don't count
    head_begin = 0       # the begin of the text before the next brace
    body = None          # (name, first line) of the function that is open
    keeps_head = False   # the open brace is part of a function's head, which goes on behind it
    for match in re.finditer(r"[{};]", text):
        symbol, end = match[0], match.end()
        if depth > 0:
            depth += {"{": 1, "}": -1}.get(symbol, 0)
            if depth == 0 and body:
                found.append((*body, text.count("\n", 0, end) + 2 - body[1]))
            if depth == 0 and not keeps_head:
                head_begin = end
            continue
        if symbol == "{":
            head = text[head_begin:end - 1]
            if not _is_container(head):
                depth = 1
                keeps_head = _goes_on_behind_braces(head)
                body = None if keeps_head else _body(text, head, head_begin)
                continue
        head_begin = end
    return found


def _without_parentheses(head: str) -> str:
    previous = None
    while previous != head:
        previous, head = head, re.sub(r"\([^()]*\)", " ", head)
    return head


def _is_container(head: str) -> bool:
    bare = re.sub(r"\btemplate\s*<[^{}]*>", " ", _without_parentheses(head))
    is_declared = _CONTAINER.search(bare) and "(" not in bare and "=" not in bare
    return bool(is_declared) and not _RETURNS_ELABORATED_TYPE.search(head)


def _goes_on_behind_braces(head: str) -> bool:
    """True for `f(T value = {` and `Class() : member_{`."""
    bare = _without_parentheses(head)
    ends_in_name = bool(re.search(r"[\w>]\s*$", head))
    return "(" in bare or ("(" in head and ends_in_name and bool(_MEMBER_INITIALISER.search(bare)))


def _body(text: str, head: str, head_begin: int) -> tuple[str, int] | None:
    bare = _without_parentheses(re.sub(r"\btemplate\s*<[^{}]*>", " ", head))
    is_function = "(" in head and "(" not in bare and ("=" not in bare or "operator" in bare)
    if not is_function:
        return None
    name = _NAME.search(head)
    first = head_begin + len(head) - len(head.lstrip())
    return (name[1] if name else "?", text.count("\n", 0, first) + 1)
