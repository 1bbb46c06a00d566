"""Whether the cluster's volume group is whole on each node (reference: verify.json, ENODELVM)."""

from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.node import Node
from ganeti_tx.model.storage_unit import VOLUME_GROUP, enabled_in
from ganeti_tx.model.verify_codes import VerifyCode


def ask_group(scene: GroupScene) -> Mapping[str, Any]:
    """Where disks lie in one."""
    name = scene.cluster.volume_group_name
    return {VOLUME_GROUP: name} if name is not None and enabled_in(StorageType.LVM_VG, scene.cluster) else {}


def judge_group(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of a node that can have instances: it is there, and lacks nothing."""
    fault = told.check(node, VOLUME_GROUP, None) if ask_group(scene) and node.vm_capable else None
    yield Verdict(VerifyCode.ENODELVM, node.name, str(fault), fault is not None)


SUBJECTS = (Subject(judge_group, ask_group, of_hosts=True),)
