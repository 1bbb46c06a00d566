"""Calls about a node's own switch, of Open vSwitch (node parameters ovs, ovs_name, ovs_link)."""

from collections.abc import Iterable
from typing import ClassVar

from ganeti_tx.rpc.calls.base import FAST, NodeCall, Question


class CanConfigureOvs(Question[None], frozen=True, kw_only=True):
    """Could the node have this switch, with this device of its own in it (if any)?"""

    name: ClassVar[str] = "can_configure_ovs"
    timeout: ClassVar[float] = FAST
    ovs_name: str
    ovs_link: str


class NodeConfigureOvs(NodeCall[None], frozen=True, kw_only=True):
    """Have it."""

    name: ClassVar[str] = "node_configure_ovs"
    timeout: ClassVar[float] = FAST
    ovs_name: str
    ovs_link: str

    def reserves(self) -> Iterable[str]:
        """The switch."""
        return (f"switch {self.ovs_name}",)
