"""`/`, `/2` and `/version`."""

from ganeti_tx.rapi.operation import Call, Operation

#: Of the Remote API.
VERSION = 2


async def nothing(call: Call) -> None:
    """There is something here, which is all that is told."""


async def version(call: Call) -> int:
    """The version of the Remote API."""
    return VERSION


OPERATIONS = (
    Operation("GET", "/", "root", frozenset(), nothing, "Whether there is a Remote API", {"type": "null"}),
    Operation("GET", "/2", "2", frozenset(), nothing, "Whether there is version 2", {"type": "null"}),
    Operation("GET", "/version", "version", frozenset(), version, "The version", {"type": "integer"}),
)
