"""Whether nodes can make mirrors, with what the cluster wants, and only those that it has (reference: verify.json)."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_template import Mirrored
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.node import Node
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.check_answers import ToldModule

CHECK = "mirrors"
#: What the module is to call where the cluster names nothing else. Its own choice, drbdadm, knows no mirror of ours and
#: refuses to have it filled, so that the connection is dropped.
USUAL_HELPER = "/bin/true"
#: By the templates; a text says why it cannot be told.
Modules = Mapping[str, ToldModule | str]
finding = partial(Verdict, VerifyCode.ENODEDRBD)


def ask_modules(scene: GroupScene) -> Mapping[str, Any]:
    """Of the enabled templates of mirrors."""
    words = mirroring(scene.cluster)
    return {CHECK: words} if words else {}


def mirroring(cluster: Cluster) -> list[str]:
    """The enabled templates whose disks nodes mirror."""
    return [word.value for word in cluster.enabled_disk_templates if TEMPLATES[word].mirrored is Mirrored.INTERNALLY]


def judge_modules(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of one node, beside those of its group."""
    listed: Modules = told.check(node, CHECK, {})
    for template, module in listed.items():
        if isinstance(module, str):
            yield finding(node.name, f"cannot read the state of {template}: {module}")
            continue
        wanted = scene.cluster.drbd_usermode_helper or USUAL_HELPER
        text = f"usermode helper is {module.helper or 'not set'}, the cluster's {wanted}"
        yield Verdict(VerifyCode.ENODEDRBDHELPER, node.name, text, module.helper != wanted)
        yield from judge_version(scene, told, node, template, module)
        yield from judge_minors(scene, node, set(module.minors))


def judge_version(scene: GroupScene, told: Told, node: Node, template: str, module: ToldModule) -> Iterator[Verdict]:
    """It is that of the group's first node which tells one."""
    for other in (each for each in scene.online if each.vm_capable):
        told_there: Modules = told.check(other, CHECK, {})
        theirs = told_there.get(template)
        if isinstance(theirs, ToldModule):
            text = f"DRBD version is {module.version}, that of node {other.name} {theirs.version}"
            yield Verdict(VerifyCode.ENODEDRBDVERSION, node.name, text, module.version != theirs.version)
            return


def judge_minors(scene: GroupScene, node: Node, used: set[int]) -> Iterator[Verdict]:
    """Each is a disk's, and each disk that is to be ready has its own."""
    owned = {minor: disk for disk in scene.everything.disks.values() for minor in minors_on(disk, node)}
    for minor in sorted(used - owned.keys()):
        yield finding(node.name, f"DRBD minor {minor} is in use, and no disk has it")
    owners = {uuid: each for each in scene.everything.instances for uuid in each.disks}
    for minor, disk in sorted(owned.items()):
        owner = owners.get(disk.uuid)
        missing = minor not in used and owner is not None and owner.disks_active and not owner.forthcoming
        text = f"DRBD minor {minor} of instance {owner.name if owner is not None else '?'} is not in use"
        yield finding(node.name, text, missing)


def minors_on(disk: Any, node: Node) -> Iterator[int]:
    """Those that a disk has on a node."""
    if TEMPLATES[disk.dev_type].mirrored is Mirrored.INTERNALLY and disk.logical_id:
        first, second, _, minor_a, minor_b, *_ = disk.logical_id
        yield from (minor for uuid, minor in ((first, minor_a), (second, minor_b)) if uuid == node.uuid)


SUBJECTS = (Subject(judge_modules, ask_modules, of_hosts=True),)
