"""More processors and memory for an instance that runs, if that is asked for with its new parameters."""

import attrs

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.instance.presence import is_running
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.instance import OpInstanceSetParams
from ganeti_tx.model.params.backend import instance_beparams
from ganeti_tx.rpc.calls.hotplug import HotplugSupported, InstanceGrow
from ganeti_tx.rpc.calls.instance import RunningInstance
from ganeti_tx.rpc.interfaces import NodeCallError, RpcError

GROW = "give the running instance its processors and memory"
#: The parameters of which a running machine can have more.
GROWING = ("vcpus", "maxmem")


@attrs.frozen
class Growth:
    """What the machine comes to have: processors, and MiB."""

    vcpus: int
    memory: int


async def growth(
    parts: Parts, op: OpInstanceSetParams, before: InstanceView, after: InstanceView, seen: RunningInstance | None
) -> Growth | None:
    """What is to be done at once. @raise OpPrereqError: wrong_state, it must be, and cannot."""
    had, has = (instance_beparams(view.cluster, view.instance) for view in (before, after))
    changed = [name for name in GROWING if getattr(had, name) != getattr(has, name)]
    if not (op.hotplug or op.hotplug_if_possible) or not changed or not is_running(seen):
        return None
    try:
        call = HotplugSupported(instance=before.spec(), vcpus=has.vcpus, memory=has.maxmem)
        await parts.nodes.call(before.primary, call)
    except RpcError as error:
        if op.hotplug:
            code = ECode.STATE if isinstance(error, NodeCallError) else ECode.ENVIRON
            raise OpPrereqError(f"Hotplug is not possible: {error}", code) from None
        parts.warn(f"{error}; it will have what it is given after its next start")
        return None
    return Growth(has.vcpus, has.maxmem)


async def grow(parts: Parts, view: InstanceView, wanted: Growth, *, forced: bool) -> None:
    """Do it; the configuration has it already. @raise OpExecError: it was not done, and has to be."""
    name = view.instance.name
    async with parts.step(GROW):
        try:
            call = InstanceGrow(instance=view.spec(), vcpus=wanted.vcpus, memory=wanted.memory)
            await parts.nodes.call(view.primary, call)
        except RpcError as error:
            text = f"instance {name} will have its processors and memory after its next start: {error}"
            if forced:
                raise OpExecError(text) from None
            parts.warn(text)
