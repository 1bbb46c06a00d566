"""From an instance to what its domain is made from on this node, or to why it cannot run here; nothing is changed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.affinity import ALL
from ganeti_tx.node.hypervisor.cluster_setting import users_may_shut_down
from ganeti_tx.node.hypervisor.displays import read_vnc_password
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.parameters import refuse_any
from ganeti_tx.node.hypervisor.xen.config_file import config_text
from ganeti_tx.node.hypervisor.xen.guest import Guest
from ganeti_tx.node.hypervisor.xen.kind import XenKind
from ganeti_tx.node.hypervisor.xen.node_facts import number
from ganeti_tx.node.hypervisor.xen.parameters import check_masks, check_processors
from ganeti_tx.node.hypervisor.xen.toolstack import Xl
from ganeti_tx.node.hypervisor.xen.vifs import check_nics
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner


@frozen
class DomainPlanning:
    """Asks all that has a say."""

    paths: Paths
    files: IFiles
    runner: IProcessRunner
    xl: Xl
    kind: XenKind

    async def plan(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> Guest:
        """@raise HypervisorError: this node cannot run it, and why."""
        self._check(instance.hvparams)
        params = self.kind.params(instance.hvparams)
        stays = users_may_shut_down(self.files, self.paths)
        guest = Guest(instance, self.named(instance.name, disks), stays, self._password(instance.hvparams))
        check_processors(params, guest, number(await self.xl.info(), "nr_cpus"))
        await check_nics(self.runner, instance, params.vif_script)
        config_text(self.kind, guest)  # what cannot be written down fails here, before there is anything
        return guest

    async def validate(self, hvparams: Mapping[str, Any]) -> None:
        """See `IHypervisor`."""
        self._check(hvparams)
        if (mask := self.kind.params(hvparams).cpu_mask) != ALL:
            check_masks(mask, number(await self.xl.info(), "nr_cpus"))

    def _check(self, hvparams: Mapping[str, Any]) -> None:
        refuse_any(self.kind.faults(hvparams, self.files.exists))

    def named(self, name: str, disks: Sequence[AttachedDisk]) -> list[AttachedDisk]:
        """The disks by the names that they have on every node: a domain that goes to another node looks for the same there."""
        links = [(disk, self.paths.instance_disk_link(name, disk.spec.index)) for disk in disks]
        return [evolve(disk, path=str(link)) if self.files.exists(link) else disk for disk, link in links]

    def _password(self, hvparams: Mapping[str, Any]) -> str:
        """Of its display."""
        place = self.kind.password_file(hvparams)
        return read_vnc_password(self.files, Path(place)) if place else ""
