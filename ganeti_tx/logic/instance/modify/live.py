"""What a change of devices and memory comes down to while the instance runs."""

from collections.abc import Awaitable, Callable, Iterator, Sequence

import attrs

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.instance.presence import is_running
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.questions import check_free_memory
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.instance import OpInstanceSetParams
from ganeti_tx.model.params.backend import instance_beparams
from ganeti_tx.rpc.calls.hotplug import HotplugAction, HotplugDevice, HotplugSupported, InstanceBalloonMemory
from ganeti_tx.rpc.calls.instance import RunningInstance
from ganeti_tx.rpc.interfaces import NodeCallError, RpcError

BALLOON = "change the memory that the instance has"
WORDS = {HotplugAction.ADD: "plug in", HotplugAction.REMOVE: "unplug", HotplugAction.MODIFY: "plug anew"}


@attrs.frozen
class LiveChange:
    """One device that is plugged in, out or anew, and the call that does the opposite."""

    title: str
    told: tuple[str, object]
    call: HotplugDevice
    back: HotplugDevice
    needed: bool


def live_changes(before: InstanceView, after: InstanceView) -> list[LiveChange]:
    """In their order: first out, then in, so that there is room. A disk that cannot be plugged out cannot leave."""
    old, new = before.spec(), after.spec()
    gone = [disk for disk in old.disks if disk.uuid not in {each.uuid for each in new.disks}]
    come = [disk for disk in new.disks if disk.uuid not in {each.uuid for each in old.disks}]
    return [
        *(of_disk(HotplugAction.REMOVE, before, after, disk) for disk in gone),
        *nic_changes(old, new),
        *(of_disk(HotplugAction.ADD, before, after, disk) for disk in come),
    ]


def of_disk(action: HotplugAction, before: InstanceView, after: InstanceView, disk: DiskSpec) -> LiveChange:
    """A disk that comes or leaves."""
    old, new = before.spec(), after.spec()
    plugs = action is HotplugAction.ADD
    back = HotplugAction.REMOVE if plugs else HotplugAction.ADD
    return LiveChange(
        f"{WORDS[action]} {'disk' if plugs else 'what was disk'}/{disk.index}",
        (f"disk/{disk.index}", "hotplug:done"),
        HotplugDevice(instance=new if plugs else old, action=action, index=disk.index, disk=disk),
        HotplugDevice(instance=old, action=back, index=disk.index, disk=disk),
        needed=not plugs,
    )


def nic_changes(old: InstanceSpec, new: InstanceSpec) -> Iterator[LiveChange]:
    """NICs that leave, are other ones, and come."""
    before = {nic.uuid: (index, nic) for index, nic in enumerate(old.nics)}
    after = {nic.uuid: (index, nic) for index, nic in enumerate(new.nics)}
    for uuid, (index, nic) in before.items():
        if uuid not in after:
            yield of_nic(HotplugAction.REMOVE, old, index, nic, HotplugAction.ADD, old, nic)
    for uuid, (index, nic) in after.items():
        if uuid not in before:
            yield of_nic(HotplugAction.ADD, new, index, nic, HotplugAction.REMOVE, old, nic)
        elif connection(nic) != connection(before[uuid][1]):
            yield of_nic(HotplugAction.MODIFY, new, index, nic, HotplugAction.MODIFY, old, before[uuid][1])


def of_nic(
    action: HotplugAction,
    spec: InstanceSpec,
    index: int,
    nic: NicSpec,
    back: HotplugAction,
    former_spec: InstanceSpec,
    former: NicSpec,
) -> LiveChange:
    """A NIC that comes, leaves, or is another one."""
    what = "what was nic" if action is HotplugAction.REMOVE else "nic"
    return LiveChange(
        f"{WORDS[action]} {what}/{index}",
        (f"nic.{index}", "hotplug:done"),
        HotplugDevice(instance=spec, action=action, index=index, nic=nic),
        HotplugDevice(instance=former_spec, action=back, index=index, nic=former),
        needed=False,
    )


def connection(nic: NicSpec) -> tuple[object, ...]:
    """What of a NIC its guest and its node see."""
    return nic.mac, nic.ip, nic.mode, nic.link, nic.vlan, nic.network


async def can_plug(parts: Parts, op: OpInstanceSetParams, view: InstanceView, changes: Sequence[LiveChange]) -> bool:
    """Whether devices are to be changed at once. @raise OpPrereqError: wrong_state, they must be, and cannot."""
    if not (op.hotplug or op.hotplug_if_possible):
        return False
    disks, nics = (any(getattr(each.call, kind) is not None for each in changes) for kind in ("disk", "nic"))
    try:
        await parts.nodes.call(view.primary, HotplugSupported(instance=view.spec(), disks=disks, nics=nics))
    except RpcError as error:
        if op.hotplug:
            code = ECode.STATE if isinstance(error, NodeCallError) else ECode.ENVIRON
            raise OpPrereqError(f"Hotplug is not possible: {error}", code) from None
        parts.warn(str(error))
        parts.info("- INFO: Modification will take place without hotplugging.")
        return False
    return True


def planned(view: InstanceView, changes: Sequence[LiveChange]) -> list[PlannedStep]:
    """A step for each device."""
    return [PlannedStep(each.title, (view.primary.name,), (f"instance {view.instance.name}",)) for each in changes]


async def plug(parts: Parts, view: InstanceView, change: LiveChange, *, forced: bool) -> list[tuple[str, object]]:
    """Do one; what is told of it. @raise OpExecError: it was not done, and has to be."""
    name = view.instance.name
    async with parts.step(
        change.title, on_node(f"take '{change.title}' of instance {name} back", view.primary, change.back)
    ):
        try:
            await parts.nodes.call(view.primary, change.call)
        except RpcError as error:
            if forced or change.needed or error.may_be_done:
                raise OpExecError(f"could not {change.title} of instance {name}: {error}") from None
            parts.warn(f"could not {change.title} of instance {name}: {error}; it will have it after its next start")
            return [(change.told[0], "hotplug:failed")]
    return [change.told]


async def check_balloon(
    parts: Parts, op: OpInstanceSetParams, after: InstanceView, seen: Callable[[], Awaitable[RunningInstance | None]]
) -> RunningInstance:
    """The running instance, which can have the memory. @raise OpPrereqError: it does not run, or cannot have so much."""
    instance, wanted = after.instance, op.runtime_mem or 0
    running = await seen()
    if running is None or not is_running(running):
        raise OpPrereqError(f"Instance {instance.name} is not running", ECode.STATE)
    bounds = instance_beparams(after.cluster, instance)
    if not op.force and not bounds.minmem <= wanted <= bounds.maxmem:
        raise OpPrereqError(
            f"Instance {instance.name} must have memory between {bounds.minmem} and {bounds.maxmem} MB of memory"
            " unless --force is given",
            ECode.INVAL,
        )
    if wanted > running.memory:
        await check_free_memory(
            parts.nodes,
            after.primary,
            instance.hypervisor.value,
            wanted - running.memory,
            f"ballooning memory for instance {instance.name}",
        )
    return running


async def balloon(parts: Parts, view: InstanceView, running: RunningInstance, memory: int) -> None:
    """Give it so much. @raise OpExecError: it does not take it."""
    name, spec = view.instance.name, view.spec()
    undo = on_node(
        f"give instance {name} {running.memory} MiB again",
        view.primary,
        InstanceBalloonMemory(instance=spec, memory=running.memory),
    )
    async with parts.step(BALLOON, undo):
        try:
            await parts.nodes.call(view.primary, InstanceBalloonMemory(instance=spec, memory=memory))
        except RpcError as error:
            raise OpExecError(f"could not change the memory of instance {name} to {memory} MiB: {error}") from None
