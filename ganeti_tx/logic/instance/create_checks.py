"""What is asked before an instance is made: whether its address is free, and whether its nodes can have it."""

from collections.abc import Iterable, Mapping, Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.disks.plan import DiskPlan, space_wanted
from ganeti_tx.logic.instance.create_plan import CreatePlan
from ganeti_tx.logic.instance.fitting import check_fits
from ganeti_tx.logic.instance.links import links_question, planned_links
from ganeti_tx.logic.instance.presence import others_machine
from ganeti_tx.logic.instance.taken import check_host_name, host_addresses
from ganeti_tx.logic.questions import ask, ask_bridges, ask_os, check_free_memory, check_room
from ganeti_tx.logic.unit import Ping
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.os import fill_private_osparams, os_name
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams, InstanceInfo
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.rpc.interfaces import INodeRpc

NOTHING: Mapping[tuple[str, str], int] = {}


async def check_address(name: str, address: str | None, cluster: Cluster, nodes: Iterable[Node], ping: Ping) -> None:
    """@raise OpPrereqError: the instance's name, or its address, is the cluster's or a node's own, or another host's."""
    hosts = [*nodes]
    if address is not None and (host := host_addresses(cluster, hosts).get(address)) is not None:
        raise OpPrereqError(f"IP {address} of instance {name} is already in use by {host}", ECode.NOTUNIQUE)
    check_host_name(name, cluster, hosts)
    if address is not None and await ping(address):
        raise OpPrereqError(
            f"IP {address} of instance {name} is already in use: a host answers there (--no-ip-check does not ask)",
            ECode.NOTUNIQUE,
        )


async def check_runs(
    nodes: INodeRpc, node: Node, plan: CreatePlan, cluster: Cluster, *, force_variant: bool, scripts: Sequence[str] = ()
) -> None:
    """@raise OpPrereqError: the primary node cannot install or run it. @param scripts: that its OS must have besides."""
    if plan.wants_os and {plan.os, os_name(plan.os)} & set(cluster.blacklisted_os):
        raise OpPrereqError(f"Guest OS '{plan.os}' is not allowed for installation", ECode.STATE)
    await check_no_machine(nodes, node, plan.name, plan.hypervisor)
    hvparams = plan.filled_hvparams(cluster)
    check_fits(plan.hypervisor, hvparams, plan.filled_beparams(cluster), len(plan.disks))
    call = HypervisorValidateParams(hypervisor=plan.hypervisor.value, hvparams=hvparams)
    await ask(nodes, node, call, told=f"Hypervisor parameter validation failed on node {node.name}")
    if (links := links_question(plan.hypervisor.value, planned_links(cluster, plan.nics))) is not None:
        await ask_bridges(nodes, node, links)
    if plan.wants_os:
        os_call = OsValidate(
            required=True,
            os_name=plan.os,
            checks=["parameters"],
            osparams=plan.filled_osparams(cluster),
            force_variant=force_variant,
            hypervisor=plan.hypervisor.value,
            scripts=[*scripts],
            on_node=plan.install and not cluster.install_image,
            hidden=sorted({*fill_private_osparams(cluster, plan.os, plan.osparams_private), *plan.osparams_secret}),
        )
        await ask_os(nodes, node, os_call)
    if plan.start:
        needed = plan.filled_beparams(cluster).maxmem
        await check_free_memory(nodes, node, plan.hypervisor.value, needed, f"creating instance {plan.name}")


async def check_no_machine(nodes: INodeRpc, node: Node, name: str, hypervisor: Hypervisor) -> None:
    """@raise OpPrereqError: a machine has the new name of an instance there, under any hypervisor, which can be none of its own."""
    call = InstanceInfo(instance_name=name, hypervisor=hypervisor.value)
    if (seen := await ask(nodes, node, call, ECode.ENVIRON)) is not None:
        raise OpPrereqError(others_machine(seen, name, node), ECode.STATE)


async def check_space(
    nodes: INodeRpc,
    node: Node,
    disks: Sequence[DiskPlan],
    reserved: Mapping[tuple[str, str], int] = NOTHING,
    *,
    exclusive: bool = False,
) -> None:
    """@raise OpPrereqError: a pool is too full; one whose room the node cannot tell is tried.

    @param reserved: MiB that others will take, by kind and name of the pool.
    """
    wanted = [(unit, size + reserved.get((unit.type, unit.name), 0)) for unit, size in space_wanted(disks)]
    await check_room(nodes, node, wanted, exclusive=exclusive)
