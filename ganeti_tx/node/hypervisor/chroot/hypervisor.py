"""Instances in a chroot: a root is mounted, its script starts what runs in it, and at the end nothing of that is left."""

import signal
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from zope.interface import implementer

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.chroot import record as records
from ganeti_tx.node.hypervisor.chroot.init_script import InitScripts
from ganeti_tx.node.hypervisor.chroot.layout import ChrootLayout, chroot_layout
from ganeti_tx.node.hypervisor.chroot.parameters import init_script_of
from ganeti_tx.node.hypervisor.chroot.processes import Inhabitants
from ganeti_tx.node.hypervisor.chroot.record import ChrootRecord, record_of
from ganeti_tx.node.hypervisor.chroot.roots import Roots
from ganeti_tx.node.hypervisor.host import read_host_facts
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk, IHypervisor, IKeepsState, InstanceInfo, RunState
from ganeti_tx.node.hypervisor.live import not_running
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.own_directories import check_directories
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

log = Logger()

DIRECTORY_MODE = 0o750
#: Seconds within which what was started is to be up, as its script sees it.
UP_LIMIT = 10.0
PAUSE = 0.1
#: Seconds that an instance has to go down before it is started again.
REBOOT_LIMIT = 30.0
#: Seconds that processes have to end by themselves when they are told to, and until killed ones are gone.
TERM_LIMIT = 2.0
KILL_LIMIT = 30.0


@implementer(IHypervisor, IKeepsState)
@frozen(kw_only=True)
class ChrootHypervisor:
    """Everything is found again from the node's run directory and its processes, so the daemon may be restarted at any time."""

    paths: Paths
    files: IFiles
    clock: IReactorTime
    scripts: InitScripts
    processes: Inhabitants
    roots: Roots
    name: str = "chroot"

    async def start(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool = False) -> None:
        """As IHypervisor says."""
        layout = self._layout(instance.name)
        if self.files.exists(layout.directory):
            if await self.info(instance.name) is not None:
                raise HypervisorError(f"instance {instance.name} runs already")
            await self.stop(instance.name, 0.0, force=True)  # what one that ended by itself has left
        with naming(instance.name):
            if paused:
                raise HypervisorError("a script starts all that is in a chroot at once, it cannot be started paused")
            record = record_of(instance, init_script_of(instance.hvparams))
            self.roots.check(layout, disks)
            await self._bring_up(layout, record, disks)

    async def _bring_up(self, layout: ChrootLayout, record: ChrootRecord, disks: Sequence[AttachedDisk]) -> None:
        up = False
        try:
            for directory in (layout.above, layout.log.parent):
                self.files.mkdir(directory, DIRECTORY_MODE)
            layout.check_own(self.files)
            for directory in (layout.directory, layout.root):
                self.files.mkdir(directory, DIRECTORY_MODE)
            await records.save(self.files, layout, record)
            await self.roots.mount(layout, disks)
            await self.scripts.start(layout, record)
            await self._see_it_up(layout, record)
            up = True
        finally:
            if not up:
                await self._end(layout, force=True)

    async def _see_it_up(self, layout: ChrootLayout, record: ChrootRecord) -> None:
        if not await self.processes.of(layout.root):
            raise HypervisorError(f"'{record.init_script} start' has ended well, but left no process running")
        deadline = self.clock.seconds() + UP_LIMIT
        while not await self.scripts.runs(layout, record):
            if self.clock.seconds() > deadline:
                raise HypervisorError(
                    f"'{record.init_script} status' says {UP_LIMIT:.0f} seconds after the start that it does not run"
                )
            await deferLater(self.clock, PAUSE)

    async def stop(self, instance_name: str, timeout: float, force: bool = False) -> None:
        """As IHypervisor says."""
        layout = self._layout(instance_name)
        if not self.files.exists(layout.directory):
            return
        with naming(instance_name):
            if not force and timeout > 0 and await self.processes.of(layout.root):
                await self._ask_to_end(layout, timeout)
            await self._end(layout, force)

    async def _ask_to_end(self, layout: ChrootLayout, timeout: float) -> None:
        """By its script, which has done so when no process is left."""
        record = records.load(self.files, layout)
        deadline = self.clock.seconds() + timeout
        try:
            if record is not None:
                await self.scripts.stop(layout, record, timeout)
                await self.processes.when_none(layout.root, deadline - self.clock.seconds())
        except HypervisorError as error:
            log.warn("instance {name} is ended, though {error}", name=layout.name, error=error)

    async def _end(self, layout: ChrootLayout, force: bool) -> None:
        """Its processes, its mounts, its files."""
        layout.check_own(self.files)
        if not force:
            await self.processes.when_none(layout.root, TERM_LIMIT, signal.SIGTERM)
        if left := await self.processes.when_none(layout.root, KILL_LIMIT, signal.SIGKILL):
            raise HypervisorError(f"these processes of it cannot be killed, see dmesg: {', '.join(map(str, left))}")
        layout.check_own(self.files)
        if self.files.exists(layout.root):
            await self.roots.unmount(layout)
        try:
            if self.files.exists(layout.root):
                self.files.rmdir(layout.root)  # before all else: a guest's files are never ours to delete
            self.files.remove_tree(layout.directory)
        except OSError as error:
            raise HypervisorError(f"cannot remove {error.filename}: {error.strerror}")

    def _layout(self, name: str) -> ChrootLayout:
        """@raise HypervisorError: it is no instance name, or somebody else could have said what is to be there."""
        layout = chroot_layout(self.paths, name)
        with naming(name):
            layout.check_own(self.files)
        return layout

    async def reboot(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> None:
        """As IHypervisor says; its script stops it first, as there is no machine with a reset button."""
        if await self.info(instance.name) is None:
            raise not_running(instance.name)
        await self.stop(instance.name, REBOOT_LIMIT)
        await self.start(instance, disks)

    async def info(self, instance_name: str) -> InstanceInfo | None:
        """As IHypervisor says; it runs while it has processes and its script says so."""
        layout = self._layout(instance_name)
        with naming(instance_name):
            record = records.load(self.files, layout)
            processes = await self.processes.of(layout.root) if record is not None else []
            if record is None or not processes or not await self.scripts.runs(layout, record):
                return None
            used = await self.processes.cpu_seconds(processes)
            number = self.files.stat(layout.directory).inode  # as long as it runs, no other one has it
            return InstanceInfo(instance_name, number, record.memory, record.vcpus, RunState.RUNNING, used)

    def kept_names(self) -> list[str]:
        """As IKeepsState says."""
        above = self.paths.chroot_run_dir
        check_directories(self.files, [above])
        return sorted(self.files.listdir(above)) if self.files.exists(above) else []

    async def list_instances(self) -> list[InstanceInfo]:
        """As IHypervisor says; their scripts are asked at the same time, and one that does not answer hides no other."""
        asked = [Deferred.fromCoroutine(self._info_or_none(name)) for name in self.kept_names()]
        found: list[InstanceInfo | None] = await gatherResults(asked, consumeErrors=True)
        return [each for each in found if each is not None]

    async def _info_or_none(self, name: str) -> InstanceInfo | None:
        try:
            return await self.info(name)
        except HypervisorError as error:
            log.error("instance {name}: {error}", name=name, error=error)
            return None

    async def node_info(self) -> Mapping[str, Any]:
        """As IHypervisor says."""
        return read_host_facts(self.files).as_hv_info()

    async def verify(self) -> list[str]:
        """As IHypervisor says."""
        return await self.roots.disks.missing()

    async def validate(self, hvparams: Mapping[str, Any]) -> None:
        """As IHypervisor says; what is in an instance's root is seen when it is started."""
        init_script_of(hvparams)

    async def console(self, instance: InstanceSpec, node_name: str) -> Mapping[str, Any]:
        """As IHypervisor says: a shell in its root."""
        command = ["chroot", str(self._layout(instance.name).root), "/bin/sh"]
        return {"instance": instance.name, "kind": "ssh", "host": node_name, "user": "root", "command": command}
