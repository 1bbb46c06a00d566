"""Reads what `drbdsetup show` of DRBD 8.4 prints: how each device is set up."""

import re
from collections.abc import Iterator
from typing import Any

from attrs import evolve, field, frozen

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.drbd.mirror import End

_TOKEN = re.compile(r'\s+|#[^\n]*|"([^"\n]*)"|([{};])|([^\s{};"#]+)')
_ADDRESS = re.compile(r"\[?([0-9a-fA-F.:]+?)\]?:(\d+)")


@frozen
class Shown:
    """One minor. Without `disk` it has no part of its own, without `peer` it stands alone."""

    resource: str
    minor: int
    disk: str | None = None
    meta: str | None = None
    local: End | None = None
    peer: End | None = None
    secret: str | None = field(default=None, repr=False)
    two_primaries: bool = False


def parse_show(text: str) -> list[Shown]:
    """All of them. @raise BlockDeviceError: it is not what drbdsetup prints."""
    try:
        return [each for kind, body in _block(_tokens(text)) for each in _resource(kind, body)]
    except (LookupError, ValueError, TypeError, StopIteration, RuntimeError, RecursionError):
        raise BlockDeviceError("cannot read what drbdsetup show prints") from None


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(text[at : at + 20])
        at = match.end()
        if match[1] is not None:
            yield match[1]
        elif word := match[2] or match[3]:
            yield word


Body = list[tuple[list[str], Any]]


def _block(tokens: Iterator[str]) -> Body:
    """Statements: words, and what stands in braces behind them, or None."""
    found: Body = []
    words: list[str] = []
    for token in tokens:
        if token == "}":
            break
        if token == "{":
            found.append((words, _block(tokens)))
            words = []
        elif token == ";":
            found.append((words, None))
            words = []
        else:
            words.append(token)
    return found


def _resource(kind: list[str], body: Body) -> Iterator[Shown]:
    """Its minors; all have the same connection."""
    name = kind[kind.index("resource") + 1]
    net = _values(_inner(body, "net"))
    here, there = _inner(body, "_this_host"), _inner(body, "_remote_host")
    common = Shown(
        name,
        -1,
        local=_end(here),
        peer=_end(there),
        secret=net.get("shared-secret"),
        two_primaries=net.get("allow-two-primaries") == "yes",
    )
    for words, inner in here:
        if words[0] == "volume":
            values = _values(inner)
            minor = int(next(each for each, _ in inner if each[0] == "device")[-1])
            yield evolve(common, minor=minor, disk=values.get("disk"), meta=values.get("meta-disk"))


def _inner(body: Body, name: str) -> Body:
    return next((inner for words, inner in body if words[0] == name and inner is not None), [])


def _values(body: Body) -> dict[str, str]:
    return {words[0]: words[1] for words, inner in body if inner is None and len(words) > 1}


def _end(body: Body) -> End | None:
    for words, inner in body:
        if inner is None and words[0] == "address":
            match = _ADDRESS.fullmatch(words[-1])
            if match is None:
                raise ValueError(words[-1])
            return match[1], int(match[2])
    return None
