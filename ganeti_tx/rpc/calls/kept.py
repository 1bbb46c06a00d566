"""Calls about what a node keeps of instances beside their disks. It holds secrets, so that only the master may ask for it."""

from collections.abc import Iterable
from typing import ClassVar

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.rpc.calls.base import FAST, URGENT, MiB, NodeCall, Question
from ganeti_tx.rpc.calls.instance import named


class KeptOwners(Question[list[str]], frozen=True, kw_only=True):
    """The uuids of all instances under a hypervisor of which the node keeps something, be they known, and on it, or not."""

    name: ClassVar[str] = "kept_owners"
    timeout: ClassVar[float] = URGENT
    hypervisor: str


class KeptNames(Question[list[str]], frozen=True, kw_only=True):
    """The names of the files that the node keeps of an instance, whether it runs or not."""

    name: ClassVar[str] = "kept_names"
    timeout: ClassVar[float] = URGENT
    instance: InstanceSpec


class InstanceKept(NodeCall[dict[str, bytes]], frozen=True, kw_only=True):
    """The files that the node keeps of an instance that does not run, by their names; none is no fault.

    @ivar idle: it runs, and only those are wanted that its machine does not use.
    """

    name: ClassVar[str] = "instance_kept"
    timeout: ClassVar[float] = FAST
    instance: InstanceSpec
    idle: bool = False

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance.name)]


class InstanceKeep(NodeCall[None], frozen=True, kw_only=True):
    """Keep these files of an instance that does not run, instead of whatever the node has of it."""

    name: ClassVar[str] = "instance_keep"
    timeout: ClassVar[float] = FAST
    max_request: ClassVar[int] = 16 * MiB
    instance: InstanceSpec
    files: dict[str, bytes]

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance.name)]
