"""Whether the enabled hypervisors work on a node, and what runs there is what should (reference: verify.json)."""

from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.logic.instance.presence import others_machine
from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told, value
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.node import Node
from ganeti_tx.model.other_machine import how_it_ends
from ganeti_tx.model.params.hypervisor import instance_hvparams
from ganeti_tx.model.verify_codes import VerifyCode


def ask_hypervisors(scene: GroupScene) -> Mapping[str, Any]:
    """Whether each works, and takes the parameters of the group's instances."""
    params = [
        (
            f"instance {view.instance.name}",
            view.instance.hypervisor.value,
            dict(instance_hvparams(scene.cluster, view.instance)),
        )
        for view in scene.instances
    ]
    enabled = [each.value for each in scene.cluster.enabled_hypervisors]
    return {"hypervisor": enabled, "hvparams": params}


def judge_hypervisors(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of each; parameters count where the instance runs, or may after a failover."""
    faults: dict[str, str | None] = told.check(node, "hypervisor", {})
    for name, fault in faults.items():
        text = f"hypervisor {name} verify failure: '{fault}'"
        yield Verdict(VerifyCode.ENODEHV, node.name, text, fault is not None)
    own = {f"instance {view.instance.name}" for view in scene.instances if node.uuid in view.nodes}
    refused: list[tuple[str, str, str]] = told.check(node, "hvparams", [])
    for source, name, reason in refused:
        text = f"hypervisor {name} parameter verify failure (source {source}): {reason}"
        yield Verdict(VerifyCode.ENODEHV, node.name, text, source in own)


def judge_running(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of every instance that runs there: whether it is known, and in its place."""
    outcome = told.running.get(node.name)
    if outcome is not None and outcome.error is not None:
        yield Verdict(VerifyCode.ENODEHV, node.name, f"rpc call to node failed (instancelist): {outcome.error}")
    known = {each.name: each for each in scene.everything.instances if not each.forthcoming}
    running = value(outcome) or {}
    for name, seen in ((each, seen) for each in sorted(running) for seen in running[each].machines()):
        if name not in known:
            text = f"unknown instance {name} is running{how_it_ends(seen.ended_by)}"
            yield Verdict(VerifyCode.ENODEORPHANINSTANCE, node.name, text)
        elif not seen.is_of(known[name]):
            text = others_machine(seen, name, node)
            yield Verdict(VerifyCode.ENODEORPHANINSTANCE, node.name, text)
        else:
            text = f"instance should not run on node {node.name}"
            yield Verdict(VerifyCode.EINSTANCEWRONGNODE, name, text, known[name].primary_node != node.uuid)


SUBJECTS = (
    Subject(judge_hypervisors, ask_hypervisors, of_hosts=True),
    Subject(judge_running, of_hosts=True),
)
