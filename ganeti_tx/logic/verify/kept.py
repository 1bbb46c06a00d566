"""Whether nodes keep something, beside disks, of instances that have gone or are elsewhere: it holds secrets, and grows old."""

from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.node import Node
from ganeti_tx.model.verify_codes import VerifyCode

CHECK = "kept-owners"


def ask_kept(scene: GroupScene) -> Mapping[str, Any]:
    """Of the hypervisors that keep something."""
    keeping = [each.value for each in scene.cluster.enabled_hypervisors if HYPERVISORS[each].keeps]
    return {CHECK: keeping} if keeping else {}


def judge_kept(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of each instance of which something is there."""
    known = {each.uuid: each for each in scene.everything.instances}
    found: dict[str, list[str]] = told.check(node, CHECK, {})
    for hypervisor, uuids in found.items():
        for uuid in uuids:
            if (instance := known.get(uuid)) is None:
                text = f"hypervisor {hypervisor} keeps firmware variables or a TPM of unknown instance {uuid}"
                yield Verdict(VerifyCode.ENODEORPHANINSTANCE, node.name, text, warning=True)
            else:
                text = f"node {node.name} keeps firmware variables or a TPM of it, perhaps of an earlier time"
                wrong = instance.primary_node != node.uuid
                yield Verdict(VerifyCode.EINSTANCEWRONGNODE, instance.name, text, wrong, warning=True)


SUBJECTS = (Subject(judge_kept, ask_kept, of_hosts=True),)
