"""The page that says how many of the recorded lines are held, and of the others how they differ, as the test has found it."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ganeti_tx.test.inprocess.recorded_instances.differences import DIFFERENCES

PAGE = Path(__file__).parents[4] / "doc" / "recorded-instances.rst"
#: Where the page is written when it does not say what was found.
WRITTEN = Path("recorded-instances.rst")
HEAD = """\
What gnt-instance and gnt-storage print, beside what was recorded
=================================================================

The tests play all that was recorded of ``gnt-instance`` and ``gnt-storage`` of Debian's Ganeti 3.0.2, one command after the other,
on a cluster of three nodes in one process: what is written, what is complained of, how commands end, what is asked at a terminal.
Left aside is what is another one in each cluster: times, identifiers, generated addresses, numbers of jobs, the widths of columns
and where questions are folded, and which of several transfers at once is ahead. What an allocator answers is as recorded.

This page is held by every run of the tests: what it does not declare is no difference.

How many
--------

"""
#: The kinds of which the lines are counted only, and what is said of them.
COUNTED = {"words": "refused in other words", "help": "refused with the same sentence and more"}


def page(lines: Sequence[Mapping[str, Any]], found: Sequence[Sequence[str]]) -> str:
    """All of it, of the lines and the keys of their differences."""
    held = sum(not keys for keys in found)
    counts = Counter(key for keys in found for key in keys)
    only = {key: sum(list(keys) == [key] for keys in found) for key in COUNTED}
    parts = [
        f"{HEAD}{len(lines)} lines, {held} of them the same to the letter. Of the others {only['help']} are refused with Ganeti's",
        f"sentence and more, and {only['words']} with the same status and kind of error in other words; {more(found)} differ",
        "in other ways, some in several. Together these are:",
        "",
    ]
    parts += [f"* **{each.key}** ({counts[each.key]}): {each.why}" for each in DIFFERENCES]
    parts += ["", "Command by command", "------------------", ""]
    commands = sorted({command_of(line) for line in lines})
    for command in commands:
        parts += section(command, [each for each in zip(lines, found, strict=True) if command_of(each[0]) == command])
    return "\n".join(parts)


def more(found: Sequence[Sequence[str]]) -> int:
    """How many lines differ in more than the words of a refusal."""
    return sum(not set(keys) <= set(COUNTED) for keys in found)


def command_of(line: Mapping[str, Any]) -> str:
    """The subcommand, if there is one, and it is known."""
    return " ".join(line["argv"][:2])


def section(command: str, results: Sequence[tuple[Mapping[str, Any], Sequence[str]]]) -> list[str]:
    """One subcommand."""
    title = f"``{command}``"
    held = sum(not keys for _, keys in results)
    counts = Counter(keys[0] for _, keys in results if len(keys) == 1 and keys[0] in COUNTED)
    told = ", ".join([f"{held} the same", *(f"{counts[key]} {what}" for key, what in COUNTED.items() if counts[key])])
    apart = [row(line, keys) for line, keys in results if keys and not (len(keys) == 1 and keys[0] in COUNTED)]
    return [title, "~" * len(title), "", f"{len(results)} lines, {told}.", "", *apart, *([""] if apart else [])]


def row(line: Mapping[str, Any], keys: Sequence[str]) -> str:
    """One line of the record."""
    return f"* ``{shlex.join(line['argv'])}``: {', '.join(keys)}"
