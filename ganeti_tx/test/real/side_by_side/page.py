"""The page that says which command lines print the same, and of the others how they differ, as the tests have found it."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ganeti_tx.test.real.side_by_side.differences import DIFFERENCES

PAGE = Path(__file__).parents[4] / "doc" / "side-by-side.rst"
#: Where the page is written when it does not say what was found.
WRITTEN = Path("side-by-side.rst")
HEAD = """\
Ganeti's commands and ours, side by side
========================================

The tests run Debian's ``gnt-*`` of Ganeti 3.0.2 and ours on the same cluster at the same time: every subcommand that only shows
something, plain, with names that are there and that are not, and with each of its options. Status, output and complaints are
compared; blanks that align, times of day, figures that always change and the order of a policy's parts are left aside.
The command lines are made of Ganeti's table of subcommands (``ganeti_tx/test/real/side_by_side`` has how, and the cluster: three
nodes, one of them drained and one offline, instances in every state, jobs in every state, and all else that can be listed).

This page is held by every run of the tests for some of the lines, and by one with ``GANETI_EVERY_LINE=1`` for all. Beyond what is
only shown :doc:`differences` has what differs on purpose.

How they differ
---------------
"""
#: For each command line the keys of its differences.
Found = Mapping[str, Sequence[str]]
_ROW = re.compile(r"^\* ``(.+)``: (.+)$", re.MULTILINE)


def page(found: Mapping[str, Found]) -> str:
    """All of it, of what was found for each subcommand."""
    lines = [line for each in found.values() for line in each.values()]
    alike = sum(not keys for keys in lines)
    parts = [HEAD]
    parts += [f"* **{each.key}**: {each.why}" for each in DIFFERENCES]
    parts += ["", "Command by command", "------------------", ""]
    parts += [f"{len(found)} subcommands, {len(lines)} command lines, {alike} of them the same.", ""]
    for command, results in found.items():
        parts += section(command, results)
    return "\n".join(parts)


def section(command: str, results: Found) -> list[str]:
    """One subcommand."""
    apart = [row(line, keys) for line, keys in results.items() if keys]
    title = f"``{command}``"
    told = f"{len(results)} command lines, " + (
        f"{len(results) - len(apart)} of them the same." if apart else "all the same."
    )
    return [title, "~" * len(title), "", told, "", *apart, *([""] if apart else [])]


def row(line: str, keys: Sequence[str]) -> str:
    """One command line."""
    return f"* ``{shown(line)}``: {', '.join(keys)}"


def shown(line: str) -> str:
    """As it is typed, more or less."""
    return line.replace("%20", " ")


def told() -> dict[str, list[str]]:
    """What the page says of the lines that differ."""
    return {line: keys.split(", ") for line, keys in _ROW.findall(PAGE.read_text())}
