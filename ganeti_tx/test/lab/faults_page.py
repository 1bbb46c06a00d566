"""The page of what befell mirrors on machines, and what was found afterwards; the campaign's cases are held to it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from attrs import frozen

from ganeti_tx.test.contracts.operations_page import grid
from ganeti_tx.test.lab.faults import Case

PAGE = Path(__file__).parents[3] / "doc" / "faults.rst"
HEAD = """\
What befalls mirrors in the middle of an operation
==================================================

Each case below was tried on two machines with LVM and DRBD (``ganeti_tx/test/lab/test_faults.py``; its number is its seed): in a
step of the operation's job the power of one machine is cut, the mirrors' cable of one pulled, its volume group is full, its volume
of data answers with errors, or the job's process is killed. Then power and cable come back. If power was lost, or volumes, minors
and the configuration do not agree, the disks are made ready as after every loss of power; if these do not agree then, the commands
that the job's messages name are run.

In each case all agreed after that: no volume and no minor that no disk has, none missing, both sides up to date and as large as the
configuration says. What the instance had written last was then read from its device and from the volume on each node: these are the
contents that were compared. The tests hold this page to what they find: ``bin/lab campaign ganeti_tx.test.lab.test_faults`` tries
all cases, ``GANETI_LAB_SEEDS`` chooses some.
"""
COLUMNS = ("seed", "operation", "fault", "befalls", "compared", "differ")
#: What a fault is called that befalls the job, on whatever side the disks are.
JOB = "the job"


@frozen
class Row:
    """A case that was found in order: how many contents were compared then, and how many were not what was written last."""

    seed: int
    compared: int
    differ: int

    @property
    def cells(self) -> list[str]:
        """As the page has them."""
        case = Case.of(self.seed)
        befalls = JOB if case.fault == "kill" else case.side
        return [str(self.seed), case.operation, case.fault, befalls, str(self.compared), str(self.differ)]


def page(rows: Iterable[Row]) -> str:
    """All of it."""
    ordered = sorted(rows, key=lambda row: row.seed)
    faults = Counter(Case.of(row.seed).fault for row in ordered)
    compared, differ = sum(row.compared for row in ordered), sum(row.differ for row in ordered)
    told = ", ".join(f"{fault} {count}" for fault, count in sorted(faults.items()))
    total = [f"Cases: {len(ordered)} ({told}).", f"Contents compared: {compared}. Mismatches: {differ}."]
    return "\n".join([HEAD, *grid([COLUMNS, *(row.cells for row in ordered)]), "", *total, ""])


def known() -> Mapping[int, Row]:
    """Those of the page."""
    words = [line.split() for line in PAGE.read_text().splitlines()] if PAGE.exists() else []
    lines = [line for line in words if line and line[0].isdecimal()]
    return {int(line[0]): Row(int(line[0]), int(line[-2]), int(line[-1])) for line in lines}


def keep(found: Iterable[Row], place: Path) -> bool:
    """Whether the page has these already; it is written there with them if not."""
    rows = known()
    wanted = {**rows, **{row.seed: row for row in found}}
    if wanted != rows:
        place.write_text(page(wanted.values()))
    return wanted == rows


def check(found: Iterable[Row], place: Path) -> None:
    """The page has these. @raise AssertionError: it has not; with them it is written there then."""
    if not keep(found, place):
        raise AssertionError(f"{PAGE} does not say what the tests have found; that is in {place.resolve()}")
