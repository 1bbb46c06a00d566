"""Calls by which administrators act on machines."""

from typing import ClassVar

from ganeti_tx.rpc.calls.base import SLOW, NodeCall

#: Seconds that the answer takes to come back, besides the program's own.
MARGIN = 60.0


class RestrictedCommand(NodeCall[str], frozen=True, kw_only=True):
    """Run a program of the administrator's by its name, without arguments; gives what it said."""

    name: ClassVar[str] = "restricted_command"
    timeout: ClassVar[float] = SLOW
    command: str
