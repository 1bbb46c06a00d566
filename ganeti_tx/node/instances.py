"""Node calls about instances."""

from collections.abc import Mapping
from typing import Any

from attrs import define, field
from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.migration import Side
from ganeti_tx.node.answers import answers
from ganeti_tx.node.disks import Disks
from ganeti_tx.node.hypervisor.interfaces import IHypervisor, IKeepsFirmware, ILiveMigration
from ganeti_tx.node.hypervisor.interfaces import InstanceInfo as Seen
from ganeti_tx.node.metadata.guests_told import Nobody, ToldOfInstances
from ganeti_tx.rpc.calls.instance import (
    AllInstancesInfo,
    HypervisorValidateParams,
    InstanceConsole,
    InstanceConsoles,
    InstanceForget,
    InstanceInfo,
    InstanceReboot,
    InstanceShutdown,
    InstanceStart,
    RunningInstance,
)

log = Logger()


@define
class Instances:
    """The instances of this node. What a call reserves nobody else changes meanwhile (`node.call_order`)."""

    hypervisors: Mapping[str, IHypervisor]
    disks: Disks
    node_name: str
    told: ToldOfInstances = field(factory=Nobody)

    def of(self, name: str) -> IHypervisor:
        """@raise HypervisorError: this node has no such hypervisor."""
        hypervisor = self.hypervisors.get(name)
        if hypervisor is None:
            available = ", ".join(sorted(self.hypervisors))
            raise HypervisorError(f"hypervisor {name!r} is not available on this node; available: {available}")
        return hypervisor

    @answers(InstanceStart)
    async def start(self, call: InstanceStart) -> None:
        """Ready the disks and start; one that runs already is left alone.

        @raise HypervisorError: it does not run, but a migration has left something of it here.
        """
        hypervisor = self.of(call.instance.hypervisor)
        if await hypervisor.info(call.instance.name) is not None:
            await check_whole(hypervisor, call.instance.name)
        else:
            attached = await self.disks.attach(call.instance)
            await self.told.prepare(call.instance)
            await hypervisor.start(call.instance, attached, call.startup_paused)
            await self.told.tell(call.instance, call.variables)

    @answers(InstanceShutdown)
    async def shutdown(self, call: InstanceShutdown) -> None:
        """Stop it; one that does not run is left alone."""
        await self.of(call.hypervisor).stop(call.instance_name, call.shutdown_timeout, call.force)
        self.disks.links.unlink_all(call.instance_name)
        await self.told.forget(call.instance_name)

    @answers(InstanceForget)
    async def forget(self, call: InstanceForget) -> None:
        """@raise HypervisorError: it runs here."""
        hypervisor, name = self.of(call.instance.hypervisor), call.instance.name
        if await hypervisor.info(name) is not None:
            raise HypervisorError(f"instance {name} runs on node {self.node_name}")
        if IKeepsFirmware.providedBy(hypervisor):
            await IKeepsFirmware(hypervisor).forget(call.instance)

    @answers(InstanceReboot)
    async def reboot(self, call: InstanceReboot) -> None:
        """Reset it from inside, or stop and start it. @raise HypervisorError: it does not run."""
        hypervisor, instance = self.of(call.instance.hypervisor), call.instance
        if await hypervisor.info(instance.name) is None:
            raise HypervisorError(f"cannot reboot instance {instance.name}: it does not run on node {self.node_name}")
        attached = await self.disks.attach(instance)
        if call.reboot_type == "soft":
            await hypervisor.reboot(instance, attached)
            return
        await hypervisor.stop(instance.name, call.shutdown_timeout, False)
        await hypervisor.start(instance, attached, False)
        await self.told.tell(instance)

    @answers(InstanceInfo)
    async def info(self, call: InstanceInfo) -> RunningInstance | None:
        """One instance."""
        seen = await self.of(call.hypervisor).info(call.instance_name)
        return None if seen is None else running(seen)

    @answers(AllInstancesInfo)
    async def all_info(self, call: AllInstancesInfo) -> dict[str, RunningInstance]:
        """All instances of these hypervisors. @raise HypervisorError: two of them claim the same name."""
        result: dict[str, RunningInstance] = {}
        for name in call.hypervisors:
            for seen in await self.of(name).list_instances():
                if seen.name in result:
                    raise HypervisorError(f"instance {seen.name} runs under two hypervisors on node {self.node_name}")
                result[seen.name] = running(seen)
        return result

    @answers(InstanceConsole)
    async def console(self, call: InstanceConsole) -> dict[str, Any]:
        """How to reach the console."""
        return dict(await self.of(call.instance.hypervisor).console(call.instance, self.node_name))

    @answers(InstanceConsoles)
    async def consoles(self, call: InstanceConsoles) -> dict[str, dict[str, Any]]:
        """How to reach each of these consoles, where that is known."""
        found: dict[str, dict[str, Any]] = {}
        for instance in call.instances:
            try:
                found[instance.name] = dict(await self.of(instance.hypervisor).console(instance, self.node_name))
            except HypervisorError as error:
                log.info("no console of instance {name}: {why}", name=instance.name, why=error)
        return found

    @answers(HypervisorValidateParams)
    async def validate(self, call: HypervisorValidateParams) -> None:
        """Check parameters against this node."""
        await self.of(call.hypervisor).validate(call.hvparams)


def running(seen: Seen) -> RunningInstance:
    """A hypervisor's finding as it goes over the wire."""
    return RunningInstance(seen.memory, seen.vcpus, int(seen.state), seen.cpu_seconds, seen.why)


async def check_whole(hypervisor: IHypervisor, name: str) -> None:
    """@raise HypervisorError: what is here of the instance only waits for its memory, or has been sent elsewhere."""
    if not ILiveMigration.providedBy(hypervisor):
        return
    side = await ILiveMigration(hypervisor).migration_side(name)
    if side in (Side.INCOMING, Side.SENT):
        raise HypervisorError(
            f"instance {name} does not run here, but a migration that was cut off has left something of it;"
            f" 'gnt-instance migrate --cleanup {name}' finds out where it runs"
        )
