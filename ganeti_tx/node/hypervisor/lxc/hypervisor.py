"""Instances as containers: the first disk is mounted, LXC starts what is on it, and at the end nothing is left."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen
from twisted.logger import Logger
from zope.interface import implementer

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.lxc import LxcParams
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.nic_link import NicLink
from ganeti_tx.node.hypervisor.host import read_host_facts
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk, IHypervisor, IKeepsState, InstanceInfo, IPlugs, RunState
from ganeti_tx.node.hypervisor.live import not_running
from ganeti_tx.node.hypervisor.lxc import record as records
from ganeti_tx.node.hypervisor.lxc.config_file import SECCOMP, config_text
from ganeti_tx.node.hypervisor.lxc.containers import Containers
from ganeti_tx.node.hypervisor.lxc.control_groups import ControlGroups
from ganeti_tx.node.hypervisor.lxc.layout import ContainerLayout, container_layout
from ganeti_tx.node.hypervisor.lxc.network import Veths
from ganeti_tx.node.hypervisor.lxc.parameters import faults, listed, lxc_params
from ganeti_tx.node.hypervisor.lxc.record import ContainerRecord
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.own_directories import check_directories
from ganeti_tx.node.hypervisor.root_disk import RootDisks
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

log = Logger()

DIRECTORY_MODE = 0o750
FILE_MODE = 0o640
LOG_LIMIT = 1 << 20
#: What helps where the kernel has AppArmor, but not LXC's profiles.
NO_PROFILE = (
    "; install apparmor and have LXC's profiles loaded ('apparmor_parser -r /etc/apparmor.d/lxc-containers'),"
    " or do without: extra_config=lxc.apparmor.profile = unconfined"
)


@implementer(IHypervisor, IKeepsState, IPlugs)
@frozen(kw_only=True)
class LxcHypervisor:
    """Everything is found again from the node's run directory and from LXC, so the daemon may be restarted at any time."""

    paths: Paths
    files: IFiles
    containers: Containers
    groups: ControlGroups
    disks: RootDisks
    veths: Veths
    name: str = "lxc"

    async def start(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool = False) -> None:
        """As IHypervisor says."""
        layout = self._layout(instance.name)
        if self.files.exists(layout.directory):
            if await self.containers.look(layout) is not None:
                raise HypervisorError(f"instance {instance.name} runs already")
            await self._clear(layout)  # one that ended by itself
        with naming(instance.name):
            if paused:
                raise HypervisorError("a container begins to run at once, it cannot be started paused")
            params = checked(lxc_params(instance.hvparams))
            if not disks:
                raise HypervisorError("a container needs a disk, which has its root file system")
            await self._bring_up(instance, params, disks[0], layout)

    async def _bring_up(
        self, instance: InstanceSpec, params: LxcParams, disk: AttachedDisk, layout: ContainerLayout
    ) -> None:
        await self.groups.mount(listed(params.extra_cgroups))
        veths = await self.veths.plan(instance)
        memory, vcpus = int(instance.beparams["maxmem"]), int(instance.beparams["vcpus"])
        started = False
        try:
            self.files.mkdir(layout.above, DIRECTORY_MODE)
            layout.check_own(self.files)
            self.files.mkdir(layout.directory, DIRECTORY_MODE)
            self.files.mkdir(layout.root, DIRECTORY_MODE)
            await records.save(self.files, layout, ContainerRecord(memory=memory, vcpus=vcpus, veths=veths))
            await self.disks.mount(disk, layout.root)
            await self.veths.connect(veths)
            seccomp = self.files.exists(SECCOMP)
            text = config_text(instance, params, layout, veths, unified=self.groups.unified, seccomp=seccomp)
            await self.files.write_atomic(layout.config, text.encode(), FILE_MODE)
            await self._launch(layout, params)
            started = True
        finally:
            if not started:
                layout.check_own(self.files)  # LXC runs what a configuration says, also when it ends a container
                await self.containers.kill(layout)
                await self._clear(layout)

    async def _launch(self, layout: ContainerLayout, params: LxcParams) -> None:
        try:
            await self.containers.start(layout, params.startup_timeout)
        except HypervisorError as error:
            said = first_error(self._log(layout).decode("utf-8", "replace"))
            raise HypervisorError(said or str(error))
        if await self.containers.look(layout) is None:
            raise HypervisorError("its first process ended at once")

    def _log(self, layout: ContainerLayout) -> bytes:
        return self.files.read(layout.log, LOG_LIMIT) if self.files.exists(layout.log) else b""

    async def stop(self, instance_name: str, timeout: float, force: bool = False) -> None:
        """As IHypervisor says."""
        layout = self._layout(instance_name)
        if not self.files.exists(layout.directory):
            return
        with naming(instance_name):
            if not force and await self.containers.look(layout) is not None:
                await self.containers.power_off(layout, timeout)
            if await self.containers.look(layout) is not None:
                await self.containers.kill(layout)
                if await self.containers.look(layout) is not None:
                    raise HypervisorError("it runs on, though everything in it was ended")
            await self._clear(layout)

    async def _clear(self, layout: ContainerLayout) -> None:
        """Leave nothing of what does not run."""
        layout.check_own(self.files)
        record = records.load(self.files, layout)
        if record is not None:
            await self.veths.release(record.veths)
        if self.files.exists(layout.root):
            await self.disks.unmount(layout.root)
        try:
            if self.files.exists(layout.root):
                self.files.rmdir(layout.root)  # before all else: a guest's files are never ours to delete
            self.files.remove_tree(layout.directory)
        except OSError as error:
            raise HypervisorError(f"cannot remove {error.filename}: {error.strerror}")

    async def reboot(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> None:
        """As IHypervisor says; as a machine's reset button, this asks nobody in it."""
        if await self.info(instance.name) is None:
            raise not_running(instance.name)
        await self.stop(instance.name, 0.0, force=True)
        await self.start(instance, disks)

    async def info(self, instance_name: str) -> InstanceInfo | None:
        """As IHypervisor says."""
        layout = self._layout(instance_name)
        record = records.load(self.files, layout)
        if record is None or (seen := await self.containers.look(layout)) is None:
            return None
        return InstanceInfo(instance_name, seen.pid, record.memory, record.vcpus, RunState.RUNNING, seen.cpu_seconds)

    def _layout(self, name: str) -> ContainerLayout:
        """@raise HypervisorError: it is no instance name, or somebody else could have said what LXC is told of it."""
        layout = container_layout(self.paths, name)
        with naming(name):
            layout.check_own(self.files)
        return layout

    def kept_names(self) -> list[str]:
        """As IKeepsState says."""
        above = self.paths.lxc_run_dir
        check_directories(self.files, [above])
        return sorted(self.files.listdir(above)) if self.files.exists(above) else []

    async def list_instances(self) -> list[InstanceInfo]:
        """As IHypervisor says; one that cannot be looked at hides no other."""
        found = []
        for name in self.kept_names():
            try:
                found.append(await self.info(name))
            except HypervisorError as error:
                log.error("instance {name}: {error}", name=name, error=error)
        return [each for each in found if each is not None]

    async def node_info(self) -> Mapping[str, Any]:
        """As IHypervisor says."""
        return read_host_facts(self.files).as_hv_info(await self.containers.version())

    async def verify(self) -> list[str]:
        """As IHypervisor says."""
        missing = await self.disks.missing()
        try:
            await self.containers.version()
        except HypervisorError as error:
            return [str(error), *missing]
        return missing

    async def validate(self, hvparams: Mapping[str, Any]) -> None:
        """As IHypervisor says."""
        checked(lxc_params(hvparams))

    async def check_link(self, link: NicLink) -> None:
        """As IPlugs says."""
        await self.veths.ends.check_link(link)

    async def console(self, instance: InstanceSpec, node_name: str) -> Mapping[str, Any]:
        """As IHypervisor says."""
        layout = self._layout(instance.name)
        if not lxc_params(instance.hvparams).num_ttys:
            text = f"Instance {instance.name} has no console: its parameter num_ttys is 0"
            return {"instance": instance.name, "kind": "msg", "message": text}
        command = ["lxc-console", "-P", str(layout.above), "-n", layout.name, "-t", "0"]
        return {"instance": instance.name, "kind": "ssh", "host": node_name, "user": "root", "command": command}


def first_error(text: str) -> str:
    """Of LXC's log, as what follows follows from it; empty when there is none."""
    lines = text.strip().splitlines()
    if not lines:
        return ""
    advice = NO_PROFILE if "apparmor" in lines[0] else ""
    return f"LXC says: {lines[0][:500]}{advice}"


def checked(params: LxcParams) -> LxcParams:
    """The same. @raise HypervisorError: all faults in one text."""
    if wrong := [*faults(params)]:
        raise HypervisorError("; ".join(wrong))
    return params
