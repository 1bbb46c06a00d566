"""What nodes are asked before an instance is changed: whether they can have it as it is to be."""

from collections.abc import Awaitable, Callable, Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.instance.links import links_of, links_question
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import ask, ask_bridges, ask_os
from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.opcodes.instance import OpInstanceSetParams
from ganeti_tx.model.params.backend import instance_beparams
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams, RunningInstance
from ganeti_tx.rpc.calls.node import NodeInfo
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.rpc.interfaces import RpcError

Seen = Callable[[], Awaitable[RunningInstance | None]]


async def check_hypervisor(parts: Parts, op: OpInstanceSetParams, after: InstanceView) -> None:
    """@raise OpPrereqError: one of its nodes does not take the hypervisor parameters."""
    if not op.hvparams:
        return
    spec = after.spec()
    call = HypervisorValidateParams(hypervisor=spec.hypervisor, hvparams=spec.hvparams)
    for node in after.nodes.values():
        if node.offline:
            parts.warn(f"node {node.name} is offline, so it was not asked whether it takes the hypervisor parameters")
        else:
            await ask(parts.nodes, node, call)


async def check_os(parts: Parts, op: OpInstanceSetParams, after: InstanceView) -> None:
    """@raise OpPrereqError: the primary node does not have the OS, or its script refuses the parameters."""
    changed = op.osparams or op.osparams_private or op.os_name
    if not changed or not after.instance.os:
        return
    if after.primary.offline or (op.os_name and op.force):
        parts.warn(f"OS {after.instance.os} and its parameters are not checked")
        return
    spec = after.spec()
    call = OsValidate(
        required=True,
        os_name=spec.os,
        checks=["parameters"],
        osparams={**spec.osparams, **spec.osparams_private},
        force_variant=op.force_variant,
        hidden=[*spec.osparams_private],
    )
    await ask_os(parts.nodes, after.primary, call)


async def check_bridges(parts: Parts, op: OpInstanceSetParams, after: InstanceView, nics: Sequence[Nic]) -> None:
    """@raise OpPrereqError: environment_error, a bridge or table of a new NIC is not there, unless that is forced."""
    links = links_of(after.nic_spec(nic) for nic in nics)
    if any(link.mode == NicMode.OPENVSWITCH for link in links):
        parts.info("- INFO: OVS links are currently not checked for correctness")
    checked = [link for link in links if link.mode != NicMode.OPENVSWITCH]
    question = links_question(after.instance.hypervisor.value, checked)
    if question is None or after.primary.offline:
        return
    try:
        await ask_bridges(parts.nodes, after.primary, question)
    except OpPrereqError as error:
        if not op.force:
            raise
        parts.warn(str(error.args[0]))


async def check_memory(
    parts: Parts, op: OpInstanceSetParams, before: InstanceView, after: InstanceView, seen: Seen
) -> None:
    """@raise OpPrereqError: insufficient_resources, it could not be started with more memory, unless that is forced."""
    wanted = instance_beparams(after.cluster, after.instance).maxmem
    more = wanted > instance_beparams(before.cluster, before.instance).maxmem
    if op.force or not more or after.primary.offline:
        return
    node, hypervisor = after.primary, after.instance.hypervisor.value
    try:
        facts = await parts.nodes.call(node, NodeInfo(storage_units=[], hypervisors=[hypervisor]))
        running = await seen()
    except (RpcError, OpPrereqError) as error:
        parts.warn(f"Can't get info from primary node {node.name}: {error}")
        return
    free = facts.hypervisors.get(hypervisor, {}).get("memory_free")
    if not isinstance(free, int):
        parts.warn(f"Node data from primary node {node.name} doesn't contain free memory information")
        return
    missing = wanted - (0 if running is None else running.memory) - free
    if missing > 0:
        raise OpPrereqError(
            f"This change will prevent the instance from starting, due to {missing} MB of memory missing on its primary"
            " node; --force does it all the same",
            ECode.NORES,
        )
