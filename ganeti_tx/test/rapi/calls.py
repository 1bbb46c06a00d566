"""Requests to the Remote API without HTTP: method, address and body straight to the operation."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from twisted.internet.task import Clock

from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.rapi.caller import ANONYMOUS
from ganeti_tx.rapi.measures import Measures
from ganeti_tx.rapi.operations.operation import Call, Operation
from ganeti_tx.rapi.resources.table import OPERATIONS

RECEIVED = 1_700_000_000_123_456_789
#: What the named parts of paths may look like (Ganeti 3.0 RAPI table, uri_patterns).
PARTS = {"job_id": r"\d+", "disk_index": r"\d+"}
NAME = r"[\w\._-]+"


def pattern(path: str) -> str:
    """A regular expression of the paths that a path with named parts means."""
    return re.sub(r"\{(\w+)\}", lambda found: f"(?P<{found[1]}>{PARTS.get(found[1], NAME)})", path)


def found(method: str, path: str) -> tuple[Operation, dict[str, str]]:
    """The operation of a request, and the parts of its path."""
    (match,) = (
        (operation, matched.groupdict())
        for operation in OPERATIONS
        if operation.method == method and (matched := re.fullmatch(pattern(operation.path), path))
    )
    return match


def request(luxi: AsyncCalls, method: str, address: str, body: Any = None) -> Call:
    """The call of a request that came just now."""
    split = urlsplit(address)
    operation, parts = found(method, split.path)
    return Call(
        operation=operation,
        parts=parts,
        arguments=parse_qs(split.query),
        body=body,
        caller=ANONYMOUS,
        luxi=luxi,
        received=RECEIVED,
        measures=Measures(Clock()),
    )
