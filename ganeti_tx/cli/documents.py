"""Values as one document for programs; read only by commands that were asked for one."""

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ganeti_tx.cli.parsing import OptionError, Parsed
from ganeti_tx.cli.yaml_text import yaml_text

Document = Callable[[Any, Sequence[str] | None], str]


def document_of(options: Parsed) -> Document:
    """How the options ask for one. @raise OptionError: a separator that CSV cannot have."""
    given = vars(options)
    if given["output_format"] != "csv":
        write = {"json": _json, "yaml": yaml_text}[given["output_format"]]
        return lambda value, columns: write(_possible(value))
    separator = given.get("separator") or ","
    if len(separator) != 1 or separator in '"\r\n':
        raise OptionError(f"option --separator: not possible in CSV: {separator!r}: give one character")
    headers = not given.get("no_headers")
    return lambda value, columns: _csv(_possible(value), columns, separator, headers)


def _possible(value: Any) -> Any:
    """The value with nothing in it that JSON cannot say: keys are texts, numbers are finite."""
    if isinstance(value, Mapping):
        return {str(key): _possible(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_possible(inner) for inner in (value if isinstance(value, (list, tuple)) else sorted(value))]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def _csv(value: Any, columns: Sequence[str] | None, separator: str, headers: bool) -> str:
    """As RFC 4180 says; a cell that is no single value is JSON, one without a value is empty."""
    rows = value if isinstance(value, list) else [value]
    names = list(dict.fromkeys([*(columns or ()), *(name for row in rows for name in row)]))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator)
    if headers:
        writer.writerow(names)
    writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
