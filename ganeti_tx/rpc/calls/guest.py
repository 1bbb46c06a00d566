"""Calls about what goes on inside of instances, which their agents do or tell."""

from collections.abc import Iterable
from typing import ClassVar

from ganeti_tx.model.guest_interface import GuestInterfaces
from ganeti_tx.rpc.calls.base import FAST, URGENT, NodeCall, Question
from ganeti_tx.rpc.calls.instance import named


class InstanceFreeze(NodeCall[str], frozen=True, kw_only=True):
    """Let the file systems of a guest stand still for `limit` seconds at most; answers why they do not, or nothing."""

    name: ClassVar[str] = "instance_freeze"
    timeout: ClassVar[float] = FAST
    instance_name: str
    hypervisor: str
    limit: float

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance_name)]


class InstanceThaw(NodeCall[bool], frozen=True, kw_only=True):
    """Let them go on; answers whether they have stood still all the time. It may be sent when nothing stands still."""

    name: ClassVar[str] = "instance_thaw"
    timeout: ClassVar[float] = FAST
    instance_name: str
    hypervisor: str

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance_name)]


class GuestAddresses(Question[dict[str, GuestInterfaces]], frozen=True, kw_only=True):
    """What the guests of these instances say of their addresses, by name; those that are not here, or say nothing, are left out."""

    name: ClassVar[str] = "guest_addresses"
    timeout: ClassVar[float] = URGENT
    hypervisor: str
    instances: list[str]
