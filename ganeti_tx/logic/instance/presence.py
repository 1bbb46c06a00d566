"""Whether an instance runs, and starting and stopping it on its node."""

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.disks.lost import what_mends_lost
from ganeti_tx.logic.disks.on_nodes import Warn, assemble_elsewhere
from ganeti_tx.logic.instance.links import links_of, links_question
from ganeti_tx.logic.questions import ask, ask_bridges
from ganeti_tx.logic.undos import in_config, on_node
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.other_machine import other_machine
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.instance import InstanceInfo, InstanceShutdown, InstanceStart, RunningInstance
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, RpcError

#: The state that a hypervisor reports when the user inside has shut the instance down.
SHUT_DOWN_BY_USER = 1
#: That of an instance which it has stopped after an error: its machine is there, with disks and memory, and its guest does nothing.
HALTED = 2


def own_machine(seen: RunningInstance | None, instance: Instance) -> RunningInstance | None:
    """The machine that was found under its name, unless it was started for another instance that had the name."""
    return None if seen is None else seen.own(instance)


def refuse_others_machine(seen: RunningInstance | None, instance: Instance, node: Node) -> None:
    """@raise OpPrereqError: a machine that was found under its name on a node was started for another instance."""
    for each in () if seen is None else seen.machines():
        if not each.is_of(instance):
            raise OpPrereqError(others_machine(each, instance.name, node), ECode.STATE)


def others_machine(seen: RunningInstance, name: str, node: Node) -> str:
    """What a machine is that was found under an instance's name on a node, and is not the instance's."""
    return other_machine(name, node.name, seen.uuid, seen.ended_by, seen.hypervisor)


async def seen_running(nodes: INodeRpc, target: InstanceView, timeout: float | None = None) -> RunningInstance | None:
    """What the hypervisor has of the instance. @raise OpPrereqError: its node does not tell.

    @param timeout: seconds that it has: `PROMPT` where somebody waits at a terminal for nothing else.
    """
    seen = await ask(nodes, target.primary, InstanceInfo.of(target.instance), ECode.ENVIRON, timeout=timeout)
    return own_machine(seen, target.instance)


async def seen_before_start(
    nodes: INodeRpc, target: InstanceView, timeout: float | None = None
) -> RunningInstance | None:
    """The same of one that is started where that is nothing. @raise OpPrereqError: another one's machine has its name, too."""
    seen = await ask(nodes, target.primary, InstanceInfo.of(target.instance), ECode.ENVIRON, timeout=timeout)
    if (own := own_machine(seen, target.instance)) is None:
        refuse_others_machine(seen, target.instance, target.primary)
    return own


def is_running(seen: RunningInstance | None) -> bool:
    """Whether it executes; what its user shut down does not."""
    return seen is not None and seen.state != SHUT_DOWN_BY_USER


async def check_bridges(nodes: INodeRpc, target: InstanceView) -> None:
    """@raise OpPrereqError: a bridge, a switch or a routing table that the instance needs is not there."""
    links = links_of(target.nic_spec(nic) for nic in target.instance.nics)
    if (question := links_question(target.instance.hypervisor.value, links)) is not None:
        await ask_bridges(nodes, target.primary, question)


async def start(
    nodes: INodeRpc,
    target: InstanceView,
    spec: InstanceSpec,
    warn: Warn,
    *,
    paused: bool = False,
    secondaries_needed: bool = True,
) -> None:
    """Make its disks ready and start it, as `spec` has it. @raise OpExecError: it may run all the same, if an answer got lost."""
    await assemble_elsewhere(nodes, target, warn, needed=secondaries_needed)
    try:
        said = await nodes.call(target.primary, InstanceStart(instance=spec, startup_paused=paused))
    except RpcError as error:
        mends = await what_mends_lost(nodes, target) if isinstance(error, NodeCallError) else ""
        raise OpExecError(f"could not start instance {target.instance.name}: {error}{mends}") from None
    pass_on(said, target, warn)


async def mark_active(config: IConfig, instance: Instance) -> None:
    """Say that its disks are to be ready, and nothing else of its state."""
    await config.set_instance_state(instance.uuid, instance.admin_state, instance.admin_state_source, True)


def state_as_before(instance: Instance) -> Undo:
    """What gives an instance back the state that it has now."""
    return in_config(
        f"mark instance {instance.name} as {instance.admin_state.value} again",
        IConfig.set_instance_state,
        instance.uuid,
        instance.admin_state,
        instance.admin_state_source,
        instance.disks_active,
    )


def stop_call(target: InstanceView, timeout: float, force: bool = False) -> InstanceShutdown:
    """What stops it."""
    instance = target.instance
    return InstanceShutdown(
        instance_name=instance.name,
        hypervisor=instance.hypervisor.value,
        shutdown_timeout=timeout,
        force=force,
        instance_uuid=instance.uuid,
    )


def stop_again(target: InstanceView, otherwise: str) -> Undo:
    """What stops an instance of which nobody knows whether it has been started.

    @param otherwise: what its operator is told when it may run on; what was done before the start stays then.
    """
    name, node = target.instance.name, target.primary
    told = f"instance {name} may run on node {node.name}, so it {otherwise}"
    return on_node(f"stop instance {name}", node, stop_call(target, 0, force=True), otherwise=told)


async def stop(nodes: INodeRpc, target: InstanceView, timeout: float, warn: Warn, force: bool = False) -> None:
    """Stop it on its node, and warn if it did not end as it was asked to. @raise OpExecError: it may still run."""
    try:
        said = await nodes.call(target.primary, stop_call(target, timeout, force))
    except RpcError as error:
        raise OpExecError(f"could not shut down instance {target.instance.name}: {error}") from None
    pass_on(said, target, warn)


def pass_on(said: str | None, target: InstanceView, warn: Warn) -> None:
    """Warn of what its node has said of a start or a stop that was done all the same, if anything."""
    if said is not None:
        warn(f"node {target.primary.name}: {said}")
