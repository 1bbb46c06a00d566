"""Calls by which administrators act on machines: programs of theirs on a node, those that power other nodes, a reset."""

from typing import ClassVar

from ganeti_tx.rpc.calls.base import NORMAL, SLOW, URGENT, NodeCall

#: Seconds that the answer takes to come back, besides the program's own.
MARGIN = 60.0


class RestrictedCommand(NodeCall[str], frozen=True, kw_only=True):
    """Run a program of the administrator's by its name, without arguments; gives what it said."""

    name: ClassVar[str] = "restricted_command"
    in_lines: ClassVar[bool] = False
    timeout: ClassVar[float] = SLOW
    command: str


class RunOob(NodeCall[str], frozen=True, kw_only=True):
    """Run an out-of-band program for another node, on the master; gives its standard output."""

    name: ClassVar[str] = "run_oob"
    in_lines: ClassVar[bool] = False
    timeout: ClassVar[float] = NORMAL
    program: str
    command: str
    remote_node: str
    seconds: int

    def time_limit(self) -> float:
        """The program's own, and what the answer takes."""
        return self.seconds + MARGIN


class NodePowercycle(NodeCall[str], frozen=True, kw_only=True):
    """Reset the node as the reset button does, once the answer is out; gives what will be."""

    name: ClassVar[str] = "node_powercycle"
    needs_disk: ClassVar[bool] = False
    timeout: ClassVar[float] = URGENT
