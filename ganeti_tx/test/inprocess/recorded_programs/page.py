"""The page that says how much of the record is held, and why the rest differs or is not played."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.recorded_programs.differences import DIFFERENCES
from ganeti_tx.test.inprocess.recorded_programs.kinds.outcomes import OUTCOMES

PAGE = Path(__file__).parents[4] / "doc" / "recorded.rst"
#: Where the page is written when it does not say what the record has.
WRITTEN = Path("recorded.rst")
PROGRAMS = ("backup", "cluster", "debug", "filter", "group", "job", "network", "node", "os")
#: Of lines that are not played, why.
APART = {
    "history": "They list hundreds of jobs of the recorded cluster, whose numbers and ends no other cluster has.",
    "machine": "They make a cluster of a machine, or of a cluster a machine: tested with real processes.",
    "daemons": "They are about the ways in which programs reach daemons that simulated nodes do not have: SSH, votes, upgrades.",
    "addresses": "They are about a secondary address; simulated nodes have one address, real ones have two in the lab.",
    "mastership": "Another node is the master then; failovers of the master are tested with real daemons and votes.",
}
HEAD = """\
What commands print, and Ganeti's record
========================================

Debian's Ganeti 3.0.2 was recorded once: 1704 command lines, one after the other, with what each printed and how it ended. The
tests play the whole record of these programs on clusters in one process (``ganeti_tx/test/inprocess/recorded_programs``; the
lines are in ``ganeti_tx/test/inprocess/facts/whole``, with what had happened to the recorded cluster before them): the status
must be the same, each line on standard output too, and of what is refused the kind of error. Names, addresses, times, uuids,
numbers of jobs, and figures of memory and room are those of each cluster. A line that differs on purpose names the kinds of its
differences, and a test fails if there is another one, or if one of these is no longer there. The page is held by a test, too.

:doc:`differences` has what differs in general, :doc:`side-by-side` what is only shown.

"""


def lines(program: str) -> list[dict[str, Any]]:
    """All that was recorded of one."""
    return recorded.lines(f"whole/gnt-{program}.jsonl")


def page() -> str:
    """All of it."""
    records = {program: lines(program) for program in PROGRAMS}
    each = [line for record in records.values() for line in record]
    parts = [HEAD, *table(records), "", *kinds("How they differ", differing(each))]
    parts += kinds("Commands that end otherwise", ending(each), OUTCOMES)
    parts += kinds("What is not played", Counter(line["apart"] for line in each if "apart" in line), APART)
    return "\n".join(parts)


def differing(each: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """How many lines have a kind of difference."""
    return Counter(key for line in each if "ends" not in line for key in line.get("differs", ()))


def ending(each: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """How many lines end otherwise, by the reason."""
    return Counter(key for line in each if "ends" in line for key in line["differs"])


def table(records: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """How many lines of each program there are, are the same, differ, end otherwise, and are not played."""
    rows: list[tuple[str, ...]] = [("Program", "Recorded", "Held", "The same", "Differ", "End otherwise", "Not played")]
    rows += [(f"``gnt-{program}``", *map(str, counted(record))) for program, record in records.items()]
    rows.append(("Together", *map(str, counted([line for record in records.values() for line in record]))))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    told = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [rule, told[0], rule, *told[1:], rule]


def counted(record: Sequence[Mapping[str, Any]]) -> tuple[int, int, int, int, int, int]:
    """As the table's columns."""
    apart = sum("apart" in line for line in record)
    ending_so = sum("ends" in line for line in record)
    differ = sum("differs" in line for line in record) - ending_so
    held = len(record) - apart
    return len(record), held, held - differ - ending_so, differ, ending_so, apart


def kinds(title: str, found: Mapping[str, int], reasons: Mapping[str, str] | None = None) -> list[str]:
    """A section with each kind, how many lines have it, and why."""
    told = {each.key: each.why for each in DIFFERENCES} if reasons is None else reasons
    return [title, "-" * len(title), "", *(f"* **{key}** ({found[key]}): {why}" for key, why in told.items()), ""]
