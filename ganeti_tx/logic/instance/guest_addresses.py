"""What guests say of their addresses: each node is asked once for all of its guests that have an agent."""

from collections.abc import Mapping, Sequence

from ganeti_tx.logic.instance.presence import HALTED, is_running
from ganeti_tx.model.guest_interface import GuestInterfaces
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.rpc.calls.guest import GuestAddresses
from ganeti_tx.rpc.calls.instance import RunningInstance
from ganeti_tx.rpc.interfaces import PROMPT, INodeRpc

#: The parameter of those hypervisors whose guests may have an agent.
AGENT = "use_guest_agent"


async def guest_interfaces(
    nodes: INodeRpc, targets: Sequence[InstanceView], running: Mapping[str, Mapping[str, RunningInstance]]
) -> Mapping[str, GuestInterfaces]:
    """By instance name; nothing of those that do not run or say nothing. @param running: what runs, by node uuid and name"""
    asked: dict[str, list[InstanceView]] = {}
    for target in targets:
        seen = running.get(target.primary.uuid, {}).get(target.instance.name)
        if seen is None or not is_running(seen) or seen.state == HALTED:
            continue
        if target.spec().hvparams.get(AGENT):
            asked.setdefault(target.instance.hypervisor.value, []).append(target)
    found: dict[str, GuestInterfaces] = {}
    for hypervisor, views in asked.items():
        call = GuestAddresses(hypervisor=hypervisor, instances=[view.instance.name for view in views])
        homes = {view.primary.uuid: view.primary for view in views}
        told = await nodes.call_many(homes.values(), call, PROMPT)
        for view in views:  # of each what its own node says, whatever others tell of it
            if (said := (told[view.primary.name].value or {}).get(view.instance.name)) is not None:
                found[view.instance.name] = said
    return found
