"""The driver of instances in a chroot: what is asked of it, and which of its parts does that."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.model.console import ToldConsole
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.chroot.console import told_console
from ganeti_tx.node.hypervisor.chroot.ending import ChrootEnding
from ganeti_tx.node.hypervisor.chroot.own import OwnChroots
from ganeti_tx.node.hypervisor.chroot.parameters import init_script_of
from ganeti_tx.node.hypervisor.chroot.starting import ChrootStarting
from ganeti_tx.node.hypervisor.host import read_host_facts
from ganeti_tx.node.hypervisor.interfaces import (
    AttachedDisk,
    IChecksStart,
    IHypervisor,
    IKeepsState,
    InstanceInfo,
    Owner,
)
from ganeti_tx.node.hypervisor.root_disk import RootDisks
from ganeti_tx.runtime.files import IFiles


@implementer(IChecksStart, IHypervisor, IKeepsState)
@frozen(kw_only=True)
class ChrootHypervisor:
    """Decides nothing itself. No part knows it, and the daemon may be restarted at any time (`OwnChroots`)."""

    files: IFiles
    own: OwnChroots
    starting: ChrootStarting
    ending: ChrootEnding
    disks: RootDisks
    name: str = "chroot"

    async def start(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool = False) -> None:
        """As IHypervisor says."""
        await self.starting.start(instance, disks, paused)

    async def stop(self, instance_name: str, timeout: float, force: bool = False) -> str | None:
        """As IHypervisor says."""
        return await self.ending.stop(instance_name, timeout, force)

    async def reboot(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> str | None:
        """As IHypervisor says."""
        return await self.starting.reboot(instance, disks)

    async def info(self, instance_name: str) -> InstanceInfo | None:
        """As IHypervisor says."""
        return await self.own.info(instance_name)

    async def owner(self, instance_name: str, other_than: str = "") -> Owner | None:
        """As IHypervisor says."""
        return await self.own.owner(instance_name, other_than)

    async def list_instances(self) -> list[InstanceInfo]:
        """As IHypervisor says."""
        return await self.own.all()

    async def node_info(self) -> Mapping[str, Any]:
        """As IHypervisor says."""
        return read_host_facts(self.files).as_hv_info()

    async def verify(self) -> list[str]:
        """As IHypervisor says."""
        return await self.disks.missing()

    async def validate(self, hvparams: Mapping[str, Any]) -> None:
        """As IHypervisor says; what is in an instance's root is seen when it is started."""
        init_script_of(hvparams)

    async def check_start(self, instance: InstanceSpec) -> None:
        """As IChecksStart says."""
        await self.starting.check(instance)

    async def console(self, instance: InstanceSpec) -> ToldConsole:
        """As IHypervisor says."""
        return told_console(self.own.layout(instance.name))

    def kept_names(self) -> list[str]:
        """As IKeepsState says."""
        return self.own.names()
