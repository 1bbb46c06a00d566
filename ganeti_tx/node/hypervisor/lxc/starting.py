"""How containers come to run: a disk is mounted, interfaces are made, LXC starts what is there; what fails leaves nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisor import Shape
from ganeti_tx.model.hypervisors.lxc import LxcParams, unfit
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.value_form import listed
from ganeti_tx.node.hypervisor.instance_record import save
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.live import not_running
from ganeti_tx.node.hypervisor.lxc.config_file import SECCOMP, config_text
from ganeti_tx.node.hypervisor.lxc.containers import Containers
from ganeti_tx.node.hypervisor.lxc.control_groups import ControlGroups
from ganeti_tx.node.hypervisor.lxc.ending import ContainerEnding
from ganeti_tx.node.hypervisor.lxc.first_error import first_error
from ganeti_tx.node.hypervisor.lxc.layout import ContainerLayout
from ganeti_tx.node.hypervisor.lxc.network import Veths
from ganeti_tx.node.hypervisor.lxc.own import OwnContainers
from ganeti_tx.node.hypervisor.lxc.parameters import checked, lxc_params
from ganeti_tx.node.hypervisor.lxc.record import ContainerRecord, VethState
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.parameters import refuse_any
from ganeti_tx.node.hypervisor.processors import missing_processors
from ganeti_tx.node.hypervisor.root_disk import RootDisks
from ganeti_tx.runtime.files import IFiles

DIRECTORY_MODE = 0o750
FILE_MODE = 0o640
LOG_LIMIT = 1 << 20


@frozen
class ContainerStarting:
    """Of instances that begin here, or begin anew."""

    files: IFiles
    containers: Containers
    own: OwnContainers
    groups: ControlGroups
    disks: RootDisks
    veths: Veths
    ending: ContainerEnding

    def validate(self, hvparams: Mapping[str, Any]) -> None:
        """See `IHypervisor`."""
        params = checked(lxc_params(hvparams))
        unknown = self.groups.unknown(listed(params.extra_cgroups))
        refuse_any([*unknown, *missing_processors(self.files, params.cpu_mask)])

    async def reboot(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> None:
        """See `IHypervisor`; as a machine's reset button, this asks nobody in it."""
        if await self.own.running(self.own.layout(instance.name)) is None:
            raise not_running(instance.name)
        await self.ending.stop(instance.name, 0.0, force=True)
        await self.start(instance, disks, paused=False)

    async def start(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool) -> None:
        """See `IHypervisor`."""
        layout = self.own.layout(instance.name)
        await self._make_way(layout)
        with naming(instance.name):
            if paused:
                raise HypervisorError("a container begins to run at once, it cannot be started paused")
            params = checked(lxc_params(instance.hvparams))
            sizes = instance.beparams
            shape = Shape(memory=sizes["maxmem"], vcpus=sizes["vcpus"], disks=len(disks))
            refuse_any(unfit(instance.hvparams, shape))
            await self._bring_up(instance, params, disks[0], layout)

    async def _make_way(self, layout: ContainerLayout) -> None:
        """Leave nothing of what has ended by itself. @raise HypervisorError: it runs."""
        if self.files.exists(layout.directory):
            if await self.containers.look(layout) is not None:
                raise HypervisorError(f"instance {layout.name} runs already")
            await self.ending.clear(layout)

    async def _bring_up(
        self, instance: InstanceSpec, params: LxcParams, disk: AttachedDisk, layout: ContainerLayout
    ) -> None:
        await self.groups.mount(listed(params.extra_cgroups))
        veths = await self.veths.plan(instance)
        started = False
        try:
            await self._write_down(instance, veths, layout)
            await self.disks.mount(disk, layout.root)
            await self.veths.connect(veths)
            await self._launch(instance, params, veths, layout)
            started = True
        finally:
            if not started:
                await self.ending.end(layout)

    async def _write_down(self, instance: InstanceSpec, veths: Sequence[VethState], layout: ContainerLayout) -> None:
        """What is remembered comes first: nothing is made that a daemon that is started then would not remove."""
        memory, vcpus = int(instance.beparams["maxmem"]), int(instance.beparams["vcpus"])
        self.files.mkdir(layout.above, DIRECTORY_MODE)
        layout.check_own(self.files)
        self.files.mkdir(layout.directory, DIRECTORY_MODE)
        self.files.mkdir(layout.root, DIRECTORY_MODE)
        record = ContainerRecord(memory=memory, vcpus=vcpus, veths=veths, uuid=instance.uuid)
        await save(self.files, layout.record, record)

    async def _launch(
        self, instance: InstanceSpec, params: LxcParams, veths: Sequence[VethState], layout: ContainerLayout
    ) -> None:
        """@raise HypervisorError: it does not run; some of it may."""
        seccomp = self.files.exists(SECCOMP)
        text = config_text(instance, params, layout, veths, unified=self.groups.unified, seccomp=seccomp)
        await self.files.write_atomic(layout.config, text.encode(), FILE_MODE)
        try:
            await self.containers.start(layout, params.startup_timeout)
        except HypervisorError as error:
            said = first_error(self._log(layout).decode("utf-8", "replace"))
            raise HypervisorError(said or str(error))
        if await self.containers.look(layout) is None:
            raise HypervisorError("its first process ended at once")

    def _log(self, layout: ContainerLayout) -> bytes:
        return self.files.read(layout.log, LOG_LIMIT) if self.files.exists(layout.log) else b""
