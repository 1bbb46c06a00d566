"""Asking the nodes of a group all that verification wants to know."""

from collections.abc import Callable, Mapping, Sequence

from attrs import evolve

from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.verify.scene import GroupScene, Told
from ganeti_tx.logic.verify.subjects import SUBJECTS
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.node import fill_ndparams
from ganeti_tx.model.ssh_setup import SshSetup
from ganeti_tx.rpc.calls.check_answers import CheckAnswers
from ganeti_tx.rpc.calls.instance import AllInstancesInfo
from ganeti_tx.rpc.calls.node import NodeCryptoTokens, NodeHasIpAddress, NodeInfo, NodeVerify
from ganeti_tx.rpc.calls.os import OsDiagnose
from ganeti_tx.rpc.interfaces import Outcome


async def gather(parts: Parts, scene: GroupScene, now: Callable[[], float], clutter: bool) -> Told:
    """The answers, but for disks; who does not answer the first question is not asked the others."""
    cluster = scene.cluster
    began = now()
    first = await ask_first(parts, scene)
    ended = now()
    there = [node for node in scene.online if first[node.name].error is None]
    hosts = [node for node in there if node.vm_capable]
    enabled = [each.value for each in cluster.enabled_hypervisors]
    told = Told(
        checks=first,
        ssh={},
        running=await parts.nodes.call_many(hosts, AllInstancesInfo(hypervisors=enabled)),
        facts=await parts.nodes.call_many(hosts, NodeInfo(storage_units=[], hypervisors=enabled)),
        oses=await parts.nodes.call_many(hosts, OsDiagnose()),
        tokens=await parts.nodes.call_many(there, NodeCryptoTokens()),
        has_master_ip=await master_has_address(parts, scene),
        began=began,
        ended=ended,
    )
    setup = await parts.config.ssh_setup()
    return told if setup is None else evolve(told, ssh=await ask_ssh(parts, scene, there, setup, clutter))


async def ask_first(parts: Parts, scene: GroupScene) -> Mapping[str, Outcome[CheckAnswers]]:
    """The checks that each node makes; one that can have no instances may lack the programs for disks."""
    answers: dict[str, Outcome[CheckAnswers]] = {}
    for is_host in (True, False):
        alike = [node for node in scene.online if node.vm_capable is is_host]
        if alike:
            concerned = [subject for subject in SUBJECTS if subject.concerns(alike[0])]
            checks = {name: argument for subject in concerned for name, argument in subject.asks(scene).items()}
            call = NodeVerify(checks=checks, cluster_name=scene.cluster.cluster_name)
            answers.update(await parts.nodes.call_many(alike, call))
    return answers


async def master_has_address(parts: Parts, scene: GroupScene) -> Outcome[bool]:
    """Whether the master has the cluster's address, as its node daemon says."""
    master = scene.master
    answers = await parts.nodes.call_many([master], NodeHasIpAddress(address=scene.cluster.master_ip))
    return answers[master.name]


async def ask_ssh(
    parts: Parts, scene: GroupScene, there: Sequence[Node], setup: SshSetup, clutter: bool
) -> Mapping[str, Outcome[CheckAnswers]]:
    """What nodes have of SSH; candidates that take part also say whom they reach of those that do."""
    await parts.config.when_distributed()
    ports = {
        node.name: int(fill_ndparams(scene.cluster, scene.everything.groups.get(node.group), node)["ssh_port"])  # type: ignore[call-overload]
        for node in scene.everything.nodes.values()
        if node.uuid in setup.taking_part and not node.offline
    }
    found: dict[str, Outcome[CheckAnswers]] = {}
    for node in there:
        checks = setup.checks(node)
        if node.uuid in setup.taking_part and node.master_candidate:
            checks["ssh-reach"] = {name: port for name, port in ports.items() if name != node.name}
        if clutter:
            checks["ssh-clutter"] = sorted(each.name for each in scene.everything.nodes.values())
        call = NodeVerify(checks=checks, cluster_name=scene.cluster.cluster_name)
        found |= await parts.nodes.call_many([node], call)
    return found
