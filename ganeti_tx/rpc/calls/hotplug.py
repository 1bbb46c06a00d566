"""Calls that change an instance while it runs: its devices, and how much memory it has."""

from collections.abc import Iterable
from enum import StrEnum
from typing import ClassVar

from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.rpc.calls.base import URGENT, NodeCall, Question
from ganeti_tx.rpc.calls.disk import disk_tree
from ganeti_tx.rpc.calls.instance import named


class HotplugAction(StrEnum):
    """What is done to a device (Ganeti's words)."""

    ADD = "hotadd"
    REMOVE = "hotremove"
    MODIFY = "hotmod"


class HotplugSupported(Question[None], frozen=True, kw_only=True):
    """Can devices of this instance, and its disks or NICs above all, be changed while it runs? What is refused says why.

    @ivar vcpus: and can it come to have so many processors, and so many MiB of `memory`? (Not asked: None.)
    """

    name: ClassVar[str] = "hotplug_supported"
    timeout: ClassVar[float] = URGENT
    instance: InstanceSpec
    disks: bool = False
    nics: bool = False
    vcpus: int | None = None
    memory: int | None = None


class HotplugDevice(NodeCall[None], frozen=True, kw_only=True):
    """Plug a disk or a NIC (one of the two) into the running instance, out of it, or plug it anew with other parameters.

    A disk that is plugged in is made ready first; one that is out stays ready. What is as it should be is left alone.

    @ivar index: the device's place among those of its kind.
    """

    name: ClassVar[str] = "hotplug_device"
    instance: InstanceSpec
    action: HotplugAction
    index: int
    disk: DiskSpec | None = None
    nic: NicSpec | None = None

    def reserves(self) -> Iterable[str]:
        """The instance, and the disk."""
        return [named(self.instance.name), *(disk_tree(self.disk) if self.disk is not None else ())]


class InstanceGrow(NodeCall[None], frozen=True, kw_only=True):
    """Let the running instance have so many processors, and so many MiB of memory; it loses none."""

    name: ClassVar[str] = "instance_grow"
    instance: InstanceSpec
    vcpus: int
    memory: int

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance.name)]


class InstanceBalloonMemory(NodeCall[None], frozen=True, kw_only=True):
    """Give the running instance so many MiB of memory."""

    name: ClassVar[str] = "instance_balloon_memory"
    instance: InstanceSpec
    memory: int

    def reserves(self) -> Iterable[str]:
        """The instance."""
        return [named(self.instance.name)]
