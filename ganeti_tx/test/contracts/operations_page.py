"""The page that says what each operation does with each disk template, as the tests have found it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.test.contracts.operation_cells import DONE
from ganeti_tx.test.contracts.operations import Row

PAGE = Path(__file__).parents[3] / "doc" / "operations.rst"
#: What became of an operation, by its title and the template.
Cells = Mapping[tuple[str, DiskTemplate], str]


def section(title: str, rows: Sequence[Row], columns: Sequence[DiskTemplate], cells: Cells) -> str:
    """One table with what its numbers mean; a cell of which nothing is known is empty."""
    found = {(row, column): cells.get((row.title, column), "") for row in rows for column in columns}
    reasons = [each for each in dict.fromkeys(found.values()) if each not in (DONE, "")]
    numbers = {text: str(number) for number, text in enumerate(reasons, 1)}
    lines = [
        [
            f"``{row.op.op_id()}``",
            row.way,
            *(numbers.get(text, text) for text in (found[row, column] for column in columns)),
        ]
        for row in rows
    ]
    notes = [f"{number}. refused: ``{text}``" for text, number in numbers.items()]
    return "\n".join([title, "-" * len(title), "", *grid([["opcode", "way", *columns], *lines]), "", *notes, ""])


def grid(lines: Sequence[Sequence[str]]) -> list[str]:
    """A simple table, the first line of which is its head."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = " ".join("=" * width for width in widths)
    head, *rest = (
        " ".join((cell or "\\").ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
    return [rule, head, rule, *rest, rule]


def check(found: str, place: Path, page: Path = PAGE) -> None:
    """The page has this section. @raise AssertionError: it has not; the section is written there then."""
    if found not in (page.read_text() if page.exists() else ""):
        place.write_text(found)
        raise AssertionError(f"{page} does not say what the tests have found; that is in {place.resolve()}")
