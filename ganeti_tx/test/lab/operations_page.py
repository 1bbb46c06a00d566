"""The page of operations upon real volumes and mirrors; a campaign may go through its table in parts."""

import re
from collections.abc import Sequence
from pathlib import Path

from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.test.contracts.operation_cells import DONE
from ganeti_tx.test.contracts.operations import ROWS, Row
from ganeti_tx.test.contracts.operations_page import Cells, section

PAGE = Path(__file__).parents[3] / "doc" / "operations-lab.rst"
HEAD = """\
Operations with real volumes and mirrors
========================================

What :doc:`operations` says of other clusters, of three Debian machines with LVM and DRBD: each operation on instances, with a fake
hypervisor but on real disks, is done or refused for the reason under the number. The tests hold this page to what they find:
``bin/lab campaign ganeti_tx.test.lab.test_operations`` goes through all of the table, or through those of its cells that
GANETI_LAB_CELLS matches ("OP_INSTANCE_RENAME with drbd").

What needs a second group of nodes, for which there would have to be two more machines, is
not in it: {absent}. An empty cell was not gone through.

"""
TITLE = "On machines with LVM and DRBD"
_NOTE = re.compile(r"^(\d+)\. refused: ``(.*)``$", re.MULTILINE)


def page(rows: Sequence[Row], columns: Sequence[DiskTemplate], cells: Cells) -> str:
    """All of it."""
    here = {row.title for row in rows}
    absent = " and ".join(f"``{row.title}``" for row in ROWS if row.title not in here)
    return HEAD.format(absent=absent) + section(TITLE, rows, columns, cells)


def known(text: str, columns: Sequence[DiskTemplate]) -> Cells:
    """What became of operations, as a page says."""
    outcomes = {DONE: DONE, **dict(_NOTE.findall(text))}
    cells = {}
    for line in text.splitlines():
        if line.startswith("``OP_"):
            words = line.split()
            way = " ".join(words[1 : -len(columns)]).removeprefix("\\")
            title = f"{words[0].strip('`')} {way}".strip()
            for column, cell in zip(columns, words[-len(columns) :], strict=True):
                if cell in outcomes:
                    cells[title, column] = outcomes[cell]
    return cells


def check(rows: Sequence[Row], columns: Sequence[DiskTemplate], found: Cells, place: Path) -> None:
    """The page has these. @raise AssertionError: it has not; with them it is written there then."""
    text = PAGE.read_text() if PAGE.exists() else ""
    wanted = page(rows, columns, {**known(text, columns), **found})
    if wanted != text:
        place.write_text(wanted)
        raise AssertionError(f"{PAGE} does not say what the tests have found; that is in {place.resolve()}")
