"""The answer of a query to records for programs; read only by commands that were asked for a document."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ganeti_tx.cli.output import NO_DATA, NORMAL, OFFLINE, UNAVAILABLE, UNKNOWN

#: The key under which --verbose tells why values are null, and its words.
ABSENT = "_absent"
WORDS = {UNKNOWN: "unknown", NO_DATA: "nodata", UNAVAILABLE: "unavail", OFFLINE: "offline"}


def of_answer(
    fields: Sequence[Mapping[str, Any]],
    rows: Sequence[Sequence[Any]],
    readers: Mapping[str, Callable[[Any], Any]],
    *,
    verbose: bool,
) -> tuple[list[dict[str, Any]], list[str]]:
    """A record for each row, with the fields' names as keys, and all keys. What could not be had is null."""
    names = [field["name"] for field in fields]
    records = []
    for row in rows:
        cells = list(zip(names, row, strict=True))
        record = {name: _read(readers.get(name), entry) for name, entry in cells}
        if verbose:
            record[ABSENT] = {
                name: WORDS.get(status, str(status)) for name, (status, _value) in cells if status != NORMAL
            }
        records.append(record)
    return records, [*names, ABSENT] if verbose else names


def _read(reader: Callable[[Any], Any] | None, entry: Sequence[Any]) -> Any:
    status, value = entry
    if status != NORMAL:
        return None
    return value if reader is None or value is None else reader(value)
