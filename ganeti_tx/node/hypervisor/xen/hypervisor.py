"""Instances as domains of Xen: written down, made by xl, looked at in its list, and ended so that nothing is left."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, evolve
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk, IBalloon, IHypervisor, IKeepsState, InstanceInfo
from ganeti_tx.node.hypervisor.kvm.secrets import VNC_PASSWORD_LIMIT, read_password
from ganeti_tx.node.hypervisor.live import check_balloon, not_running
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.xen.config_file import config_text, is_ours
from ganeti_tx.node.hypervisor.xen.console import console_of
from ganeti_tx.node.hypervisor.xen.ending import DomainEnding, can_hear
from ganeti_tx.node.hypervisor.xen.guest import Guest
from ganeti_tx.node.hypervisor.xen.kind import XenKind
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout
from ganeti_tx.node.hypervisor.xen.listed import Domain
from ganeti_tx.node.hypervisor.xen.nic_files import write_nics
from ganeti_tx.node.hypervisor.xen.node_facts import hv_info, number
from ganeti_tx.node.hypervisor.xen.own import OwnDomains, find, seen
from ganeti_tx.node.hypervisor.xen.parameters import check_processors
from ganeti_tx.node.hypervisor.xen.record import DomainRecord, load_domain, load_move, save, write
from ganeti_tx.node.hypervisor.xen.toolstack import Xl
from ganeti_tx.node.hypervisor.xen.vifs import check_nics
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner

log = Logger()

DIRECTORY_MODE = 0o750
#: Of Xen's own directory, and of a configuration, which has the password of the display.
CONFIG_DIRECTORY_MODE = 0o755
CONFIG_MODE = 0o600
SETTING_LIMIT = 1024
#: Seconds in which a guest that was asked for a reboot begins anew, and comes to have another amount of memory.
REBOOT_LIMIT = 60.0
BALLOON_LIMIT = 60.0


@implementer(IHypervisor, IKeepsState, IBalloon)
@define
class XenHypervisor:
    """Everything is found again from the node's run directory and from xl, so the daemon may be restarted at any time."""

    paths: Paths
    files: IFiles
    runner: IProcessRunner
    clock: IReactorTime
    xl: Xl
    own: OwnDomains
    ending: DomainEnding
    kind: XenKind

    @property
    def name(self) -> str:
        """As IHypervisor says."""
        return self.kind.name

    # Starting

    async def start(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool = False) -> None:
        """As IHypervisor says."""
        layout = self.own.layout(instance.name)
        await self._make_way(layout)
        with naming(instance.name):
            guest = await self._planned(instance, disks)
            started = False
            try:
                await self._write_down(layout, guest)
                await self.xl.create(layout.config, paused)
                started = True
            finally:
                if not started:
                    await self.ending.end(layout)

    async def _make_way(self, layout: DomainLayout) -> None:
        """Leave nothing of what has ended by itself. @raise HypervisorError: it runs, or somebody else's domain has its name."""
        if await self.own.living(layout) is not None:
            raise HypervisorError(f"instance {layout.name} runs already")
        if load_move(self.files, layout) is not None:
            raise HypervisorError(
                f"a migration has left something of instance {layout.name} here; 'gnt-instance migrate --cleanup' finds out"
            )
        await self.ending.stop(layout, 0.0, True)
        await self.own.check_free(layout.name)

    async def _planned(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> Guest:
        """@raise HypervisorError: this node cannot run it, and why."""
        self._check(instance.hvparams)
        params = self.kind.params(instance.hvparams)
        stays = self._setting("enabled_user_shutdown") == "True"
        place = self.kind.password_file(instance.hvparams)
        password = read_password(self.files, Path(place))[:VNC_PASSWORD_LIMIT] if place else ""
        guest = Guest(instance, self._named(instance.name, disks), stays, password)
        check_processors(params, guest, number(await self.xl.info(), "nr_cpus"))
        await check_nics(self.runner, instance, params.vif_script)
        config_text(self.kind, guest)  # what cannot be written down fails here, before there is anything
        return guest

    def _named(self, name: str, disks: Sequence[AttachedDisk]) -> list[AttachedDisk]:
        """The disks by the names that they have on every node: a domain that goes to another node looks for the same there."""
        links = [(disk, self.paths.instance_disk_link(name, disk.spec.index)) for disk in disks]
        return [evolve(disk, path=str(link)) if self.files.exists(link) else disk for disk, link in links]

    def _check(self, hvparams: Mapping[str, Any]) -> None:
        if wrong := [*self.kind.faults(hvparams, self.files.exists)]:
            raise HypervisorError("; ".join(wrong))

    def _setting(self, key: str) -> str:
        """What the simple configuration says; empty when there is none."""
        try:
            return self.files.read(self.paths.ssconf_file(key), SETTING_LIMIT).decode("ascii", "replace").strip()
        except FileNotFoundError:
            return ""

    async def _write_down(self, layout: DomainLayout, guest: Guest) -> None:
        """What is remembered comes first: nothing is made of which nobody knows whose it is."""
        if self.files.exists(layout.config) and not is_ours(self.files, layout.config):
            raise HypervisorError(f"{layout.config} is there, which was not written for this instance; remove it")
        params = self.kind.params(guest.spec.hvparams)
        record = DomainRecord(
            uuid=guest.spec.uuid,
            memory=guest.memory,
            vcpus=guest.vcpus,
            stays=guest.stays,
            exits_on_reboot=params.reboot_behavior == "exit",
            disks=[disk.path for disk in guest.disks],
        )
        self.files.mkdir(layout.directory, DIRECTORY_MODE)
        layout.check_own(self.files)
        await save(self.files, layout.record, record)
        await write_nics(self.files, layout, guest.spec)
        self.files.mkdir(layout.config.parent, CONFIG_DIRECTORY_MODE)
        await write(self.files, layout.config, config_text(self.kind, guest).encode(), CONFIG_MODE)

    # Stopping

    async def stop(self, instance_name: str, timeout: float, force: bool = False) -> None:
        """As IHypervisor says."""
        with naming(instance_name):
            await self.ending.stop(self.own.layout(instance_name), timeout, force)

    async def reboot(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> None:
        """As IHypervisor says; a guest that cannot be asked, or does not obey, is started anew, as by a reset button."""
        layout = self.own.layout(instance.name)
        record, domain = load_domain(self.files, layout), await self.own.living(layout)
        if record is None or domain is None:
            raise not_running(instance.name)
        with naming(instance.name):
            before = domain.id
            asked = (
                not record.exits_on_reboot and can_hear(domain) and await self.xl.ask("reboot", before, REBOOT_LIMIT)
            )
            if asked and await self.ending.reaches(
                layout, REBOOT_LIMIT, lambda now: now is not None and now.id != before
            ):
                return
            await self.ending.end(layout)
            await self.start(instance, disks)

    # Looking

    async def info(self, instance_name: str) -> InstanceInfo | None:
        """As IHypervisor says."""
        layout = self.own.layout(instance_name)
        record = load_domain(self.files, layout)
        if record is None or (domain := find(await self.xl.domains(), instance_name, record)) is None:
            return None
        return seen(instance_name, domain, record)

    def kept_names(self) -> list[str]:
        """As IKeepsState says."""
        return self.own.names()

    async def list_instances(self) -> list[InstanceInfo]:
        """As IHypervisor says; without an instance of ours nobody need ask xl."""
        if not (names := self.own.names()):
            return []
        domains = await self.xl.domains()
        found = []
        for name in names:
            try:
                found.append(self._among(domains, name))
            except HypervisorError as error:  # one that cannot be looked at hides no other
                log.error("instance {name}: {error}", name=name, error=error)
        return [each for each in found if each is not None]

    def _among(self, domains: Sequence[Domain], name: str) -> InstanceInfo | None:
        record = load_domain(self.files, self.own.layout(name))
        domain = find(domains, name, record) if record is not None else None
        return seen(name, domain, record) if domain is not None and record is not None else None

    async def node_info(self) -> Mapping[str, Any]:
        """As IHypervisor says."""
        return hv_info(await self.xl.info(), await self.xl.domains())

    async def verify(self) -> list[str]:
        """As IHypervisor says."""
        try:
            await self.node_info()
        except HypervisorError as error:
            return [str(error)]
        return []

    async def validate(self, hvparams: Mapping[str, Any]) -> None:
        """As IHypervisor says."""
        self._check(hvparams)

    async def console(self, instance: InstanceSpec, node_name: str) -> Mapping[str, Any]:
        """As IHypervisor says."""
        return console_of(self.own.layout(instance.name), node_name)

    # Changing what runs

    async def balloon(self, instance_name: str, memory: int) -> None:
        """As IBalloon says; a guest that stops half way may have again what it had."""
        layout = self.own.layout(instance_name)
        record, domain = load_domain(self.files, layout), await self.own.living(layout)
        if record is None or domain is None:
            raise not_running(instance_name)
        check_balloon(instance_name, memory, record.memory)
        with naming(instance_name):
            await self.xl.set_memory(domain.id, memory)
            if await self.ending.reaches(layout, BALLOON_LIMIT, lambda now: now is None or now.memory == memory):
                return
            await self.xl.set_memory(domain.id, domain.memory)
            raise HypervisorError(
                f"the guest of instance {instance_name} does not come to have {memory} MiB, and may have {domain.memory}"
                " again; it needs the driver xen-balloon, and memory that it can spare"
            )
