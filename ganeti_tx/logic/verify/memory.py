"""Whether nodes have room for the instances that would come to them if another failed (reference: verify.json, nplusone)."""

from collections.abc import Iterator

from ganeti_tx.logic.verify.scene import GroupScene, Told, value
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.backend import instance_beparams
from ganeti_tx.model.verify_codes import VerifyCode


def needed(scene: GroupScene, node: Node) -> dict[str, int]:
    """MiB that would have to be there, by the name of the node that fails; those of shared storage can go anywhere."""
    sums: dict[str, int] = {}
    for view in scene.instances:
        params = instance_beparams(scene.cluster, view.instance)
        reserved = params.auto_balance and view.instance.admin_state is not AdminState.OFFLINE
        if reserved and node.uuid in {each.uuid for each in view.secondaries}:
            sums[view.primary.name] = sums.get(view.primary.name, 0) + params.minmem
    return sums


def judge_memory(scene: GroupScene, told: Told) -> Iterator[Verdict]:
    """Of each node that tells how much it has, and each that may fail."""
    for node in scene.online:
        facts = value(told.facts.get(node.name))
        known = [] if facts is None else facts.hypervisors.values()
        free = next((each["memory_free"] for each in known if isinstance(each.get("memory_free"), int)), None)
        if free is None:
            continue
        for peer, wanted in sorted(needed(scene, node).items()):
            text = (
                f"not enough memory to accommodate instance failovers should node {peer} fail "
                f"({wanted}MiB needed, {free}MiB available)"
            )
            yield Verdict(VerifyCode.ENODEN1, node.name, text, wanted > free)
