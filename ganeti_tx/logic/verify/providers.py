"""Whether the nodes of a group have the same providers of external storage, and good ones, where disks may be of these."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.node import Node
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.check_answers import ToldProvider

CHECK = "storage-providers"
#: Ganeti has no code for them; they are scripts that sites add, as those are for which it has this one.
finding = partial(Verdict, VerifyCode.ENODEUSERSCRIPTS)


def ask_providers(scene: GroupScene) -> Mapping[str, Any]:
    """All that are there, where a template needs them."""
    needed = any(TEMPLATES[word].provider_key is not None for word in scene.cluster.enabled_disk_templates)
    return {CHECK: None} if needed else {}


def reports_of(told: Told, node: Node) -> dict[str, list[ToldProvider]] | None:
    """What a node has, by name, what counts first; None if it does not tell."""
    reports: list[ToldProvider] | None = told.check(node, CHECK, None)
    if reports is None:
        return None
    found: dict[str, list[ToldProvider]] = {}
    for report in reports:
        found.setdefault(report.name, []).append(report)
    return found


def used(scene: GroupScene) -> dict[str, str]:
    """The providers of the instances' disks, each with an instance that has one of its."""
    return {
        str(disk.logical_id[0]): view.instance.name
        for view in scene.instances
        for disk in view.disks
        if disk.template.provider_key is not None and disk.logical_id
    }


def judge_providers(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of each by itself, and beside the first node's that has it."""
    own = reports_of(told, node)
    if own is None:
        return
    for name, reports in own.items():
        first = reports[0]
        text = f"Invalid storage provider {name} (located at {first.path}): {first.fault}"
        yield finding(node.name, text, bool(first.fault))
        text = f"storage provider {name} has multiple entries (first one shadows the rest): "
        yield finding(node.name, text + ", ".join(each.path for each in reports), len(reports) > 1, warning=True)
    yield from judge_beside(scene, told, node, own)
    for name, instance in used(scene).items():
        yield finding(node.name, f"storage provider {name} of instance {instance} is missing", name not in own)


def judge_beside(scene: GroupScene, told: Told, node: Node, own: Mapping[str, list[ToldProvider]]) -> Iterator[Verdict]:
    """What others have and this node has not, or has otherwise."""
    theirs: dict[str, tuple[Node, ToldProvider]] = {}
    for other in (each for each in scene.online if each.vm_capable):
        for name, reports in (reports_of(told, other) or {}).items():
            theirs.setdefault(name, (other, reports[0]))
    for name, (other, report) in theirs.items():
        if name not in own:
            if name not in used(scene):
                yield finding(node.name, f"storage provider {name} is on node {other.name} and missing on this node")
        elif not own[name][0].fault and not report.fault:
            here, there = (sorted(known for known, _ in each.parameters) for each in (own[name][0], report))
            text = f"parameters of storage provider {name} differ from node {other.name}: "
            yield finding(node.name, f"{text}[{', '.join(here)}] vs. [{', '.join(there)}]", here != there)


SUBJECTS = (Subject(judge_providers, ask_providers, of_hosts=True),)
