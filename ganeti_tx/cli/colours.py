"""Colours of words on a terminal: what is well, what is not, and what somebody wanted so."""

import re

RED, GREEN, YELLOW = 31, 32, 33

#: Of the statuses of instances (Ganeti 3.0 query table, instance_status), of jobs, and of definitions.
_WORDS = {
    **dict.fromkeys(("running", "success", "valid", "on"), GREEN),
    **dict.fromkeys(("error", "invalid", "partial valid"), RED),
    **dict.fromkeys(
        ("ADMIN_offline", "USER_down", "canceled", "canceling", "offline", "drained", "queued", "waiting"), YELLOW
    ),
}
_WRONG = "ERROR_"
#: Columns of words that are coloured, and those of flags whose Y is.
_STATUSES = frozenset({"status", "admin_state", "powered"})
_FLAGS = frozenset({"offline", "drained"})
#: A node's role: (C)andidate, (M)aster and (R)egular say nothing of it.
_ROLES = {"O": YELLOW, "D": YELLOW}

_TIME = r"(?:\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4} )?"
_TOLD = re.compile(rf"^({_TIME}\s*(?:- )?)((ERROR|WARNING|Warning|Failure|Error)\b.*)$", re.DOTALL)
_TOLD_COLOURS = {"ERROR": RED, "Failure": RED, "Error": RED, "WARNING": YELLOW, "Warning": YELLOW}
_STATUS_LINE = re.compile(r"^(\s*(?:- )?Status: )(\w+)$")
_ESCAPE = re.compile(r"(\x1b\[[0-9]*m)")


def painted(text: str, colour: int | None) -> str:
    """The text in a colour, if it has one."""
    return text if colour is None else f"\x1b[{colour}m{text}\x1b[0m"


def painted_error(text: str) -> str:
    """With which a command ends, however it begins."""
    return painted(text, RED)


def painted_cell(column: str, cell: str) -> str:
    """A cell of a table, with the spaces around its word as they are."""
    word = cell.strip()
    colour = _colour_of(column, word)
    return cell if colour is None else cell.replace(word, painted(word, colour), 1)


def _colour_of(column: str, word: str) -> int | None:
    if column == "role":
        return _ROLES.get(word)
    if column in _FLAGS:
        return YELLOW if word == "Y" else None
    if column in _STATUSES:
        return RED if word.startswith(_WRONG) else _WORDS.get(word)
    return None


def painted_line(line: str) -> str:
    """A line with what a job, a check or a command complains of, or with a status behind its label."""
    if found := _TOLD.match(line):
        return found[1] + painted(found[2], _TOLD_COLOURS[found[3]])
    if found := _STATUS_LINE.match(line):
        return found[1] + painted(found[2], _colour_of("status", found[2]))
    return line


def cut(line: str, width: int) -> str:
    """So much of a line as has room in a terminal; colours take none, and end with what is left of the line."""
    if len(line) <= width:
        return line
    left, kept = width, []
    for part in _ESCAPE.split(line):
        if part.startswith("\x1b["):
            kept.append(part)
            continue
        kept.append(part[:left])
        left -= len(kept[-1])
    return "".join(kept)
