"""Node calls about instances."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field
from msgspec.structs import replace
from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.console import ToldConsole
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import Side
from ganeti_tx.node.answers import answers
from ganeti_tx.node.disks import Disks
from ganeti_tx.node.hypervisor.interfaces import IChecksStart, IHypervisor, IKeepsFirmware, ILiveMigration
from ganeti_tx.node.hypervisor.interfaces import InstanceInfo as Seen
from ganeti_tx.node.metadata.guests_told import Nobody, ToldOfInstances
from ganeti_tx.node.other_machines import about_it, is_others
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
from ganeti_tx.rpc.calls.kept import InstanceKeep, InstanceKept, KeptNames, KeptOwners

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
    async def start(self, call: InstanceStart) -> str | None:
        """Ready the disks and start; one that runs already is left alone.

        @raise HypervisorError: it does not run, but a migration has left something of it here.
        """
        hypervisor = self.of(call.instance.hypervisor)
        if await hypervisor.info(call.instance.name) is not None:
            await check_whole(hypervisor, call.instance.name)
            return None
        attached = await self.disks.attach(call.instance)
        await self.told.prepare(call.instance)
        await hypervisor.start(call.instance, attached, call.startup_paused)
        return await self.told.tell(call.instance, call.variables)

    @answers(InstanceShutdown)
    async def shutdown(self, call: InstanceShutdown) -> str | None:
        """Stop it; one that does not run is left alone, and so is another one's machine that has its name."""
        hypervisor = self.of(call.hypervisor)
        if others := await about_it(hypervisor, call.instance_name, call.instance_uuid, self.node_name):
            return others
        said = await hypervisor.stop(call.instance_name, call.shutdown_timeout, call.force)
        self.disks.links.unlink_all(call.instance_name)
        await self.told.forget(call.instance_name)
        return said

    @answers(InstanceForget)
    async def forget(self, call: InstanceForget) -> None:
        """@raise HypervisorError: it runs here."""
        if keeper := await self._keeper(call.instance):
            await keeper.forget(call.instance)

    @answers(KeptOwners)
    async def kept_owners(self, call: KeptOwners) -> list[str]:
        """Of one that keeps nothing like that none."""
        hypervisor = self.of(call.hypervisor)
        return list(IKeepsFirmware(hypervisor).owners()) if IKeepsFirmware.providedBy(hypervisor) else []

    @answers(KeptNames)
    async def kept_names(self, call: KeptNames) -> list[str]:
        """Of one that keeps nothing like that none. @raise HypervisorError: it cannot be read."""
        hypervisor = self.of(call.instance.hypervisor)
        keeps = IKeepsFirmware.providedBy(hypervisor)
        return list(IKeepsFirmware(hypervisor).names(call.instance)) if keeps else []

    @answers(InstanceKept)
    async def kept(self, call: InstanceKept) -> dict[str, bytes]:
        """@raise HypervisorError: it runs here and all is wanted, or does not and only the rest is; what is kept cannot be read."""
        if call.idle:
            hypervisor = self.of(call.instance.hypervisor)
            idle = IKeepsFirmware.providedBy(hypervisor)
            return dict(await IKeepsFirmware(hypervisor).idle(call.instance)) if idle else {}
        keeper = await self._keeper(call.instance)
        return {} if keeper is None else dict(await keeper.kept(call.instance))

    @answers(InstanceKeep)
    async def keep(self, call: InstanceKeep) -> None:
        """@raise HypervisorError: it runs here, or its hypervisor keeps nothing like that."""
        keeper = await self._keeper(call.instance)
        if keeper is None:
            raise HypervisorError(f"hypervisor {call.instance.hypervisor} keeps nothing beside disks")
        await keeper.keep(call.instance, call.files)

    async def _keeper(self, instance: InstanceSpec) -> IKeepsFirmware | None:
        """Who keeps something of it, if anybody does. @raise HypervisorError: it runs here."""
        hypervisor = self.of(instance.hypervisor)
        runs = await hypervisor.info(instance.name) is not None
        if runs and not await is_others(hypervisor, instance.name, instance.uuid):
            raise HypervisorError(f"instance {instance.name} runs on node {self.node_name}")
        return IKeepsFirmware(hypervisor) if IKeepsFirmware.providedBy(hypervisor) else None

    @answers(InstanceReboot)
    async def reboot(self, call: InstanceReboot) -> str | None:
        """Reset it from inside, or stop and start it. @raise HypervisorError: it does not run, or could not be started again."""
        hypervisor, instance = self.of(call.instance.hypervisor), call.instance
        if await hypervisor.info(instance.name) is None:
            raise HypervisorError(f"cannot reboot instance {instance.name}: it does not run on node {self.node_name}")
        attached = await self.disks.attach(instance)
        if call.reboot_type == "soft":
            said = await hypervisor.reboot(instance, attached)
        else:
            await check_start(hypervisor, instance.hvparams, instance)
            said = await hypervisor.stop(instance.name, call.shutdown_timeout, False)
            await self.told.forget(instance.name)
            await hypervisor.start(instance, attached, False)
        untold = await self.told.tell(instance)  # some hypervisors connect it anew in either case
        return "; ".join(each for each in (said, untold) if each is not None) or None

    @answers(InstanceInfo)
    async def info(self, call: InstanceInfo) -> RunningInstance | None:
        """What has its name; another hypervisor that does not tell keeps nobody from an answer."""
        asked = self.of(call.hypervisor)
        found = [(asked.name, await asked.info(call.instance_name))]
        for name, hypervisor in self.hypervisors.items():
            if name != call.hypervisor:
                try:
                    found.append((name, await hypervisor.info(call.instance_name)))
                except HypervisorError as error:
                    log.warn("hypervisor {name}: {error}", name=name, error=error)
        machines = [running(seen, name) for name, seen in found if seen is not None]
        return together(machines) if machines else None

    @answers(AllInstancesInfo)
    async def all_info(self, call: AllInstancesInfo) -> dict[str, RunningInstance]:
        """All instances of these hypervisors."""
        found: dict[str, list[RunningInstance]] = {}
        for name in call.hypervisors:
            for seen in await self.of(name).list_instances():
                found.setdefault(seen.name, []).append(running(seen, name))
        return {name: together(machines) for name, machines in found.items()}

    @answers(InstanceConsole)
    async def console(self, call: InstanceConsole) -> ToldConsole:
        """How to reach the console."""
        return await self.of(call.instance.hypervisor).console(call.instance)

    @answers(InstanceConsoles)
    async def consoles(self, call: InstanceConsoles) -> dict[str, ToldConsole]:
        """How to reach each of these consoles, where that is known."""
        found: dict[str, ToldConsole] = {}
        for instance in call.instances:
            try:
                hypervisor = self.of(instance.hypervisor)
                if not await is_others(hypervisor, instance.name, instance.uuid):
                    found[instance.name] = await hypervisor.console(instance)
            except HypervisorError as error:
                log.info("no console of instance {name}: {why}", name=instance.name, why=error)
        return found

    @answers(HypervisorValidateParams)
    async def validate(self, call: HypervisorValidateParams) -> None:
        """Check parameters, and an instance, against this node."""
        await check_start(self.of(call.hypervisor), call.hvparams, call.instance)


async def check_start(hypervisor: IHypervisor, hvparams: Mapping[str, Any], instance: InstanceSpec | None) -> None:
    """@raise HypervisorError: nothing with these parameters, or not this instance, could be started here."""
    await hypervisor.validate(hvparams)
    if instance is not None and IChecksStart.providedBy(hypervisor):
        await IChecksStart(hypervisor).check_start(instance)


def running(seen: Seen, hypervisor: str) -> RunningInstance:
    """A hypervisor's finding as it goes over the wire."""
    return RunningInstance(
        *(seen.memory, seen.vcpus, int(seen.state), seen.cpu_seconds, seen.why, seen.uuid, seen.ended_by),
        hypervisor=hypervisor,
    )


def together(machines: Sequence[RunningInstance]) -> RunningInstance:
    """What has one name: the first, which knows the others."""
    first, *others = machines
    return replace(first, others=tuple(others)) if others else first


async def check_whole(hypervisor: IHypervisor, name: str) -> None:
    """@raise HypervisorError: what is here of the instance only waits for its memory, or has been sent elsewhere."""
    if not ILiveMigration.providedBy(hypervisor):
        return
    side = await ILiveMigration(hypervisor).migration_side(name)
    if side in (Side.INCOMING, Side.SENT, Side.FETCHED):
        raise HypervisorError(
            f"instance {name} does not run here, but a migration that was cut off has left something of it;"
            f" 'gnt-instance migrate --cleanup {name}' finds out where it runs"
        )
