"""Exclusive storage: the physical volumes of a group are spindles, so that all are of one size (reference: storage-rules.json)."""

from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.exclusive_storage import PHYSICAL_VOLUMES, is_exclusive, spread
from ganeti_tx.model.verify_codes import VerifyCode


def ask_physical(scene: GroupScene) -> Mapping[str, Any]:
    """What physical volumes there are, where each is one disk's alone."""
    name = scene.cluster.volume_group_name
    if name is None or not is_exclusive(scene.cluster, scene.group):
        return {}
    return {PHYSICAL_VOLUMES: name}


def physical_sizes(scene: GroupScene, told: Told) -> Iterator[Verdict]:
    """Of the group as a whole."""
    found: list[tuple[int, str]] = []
    for node in (each for each in scene.online if each.vm_capable):
        listed: list[tuple[str, int]] = told.check(node, PHYSICAL_VOLUMES, [])
        found.extend((size, node.name) for _, size in listed)
    if found:
        fault = spread(found)
        yield Verdict(VerifyCode.EGROUPDIFFERENTPVSIZE, scene.group.name, fault or "", fault is not None)


SUBJECTS = (Subject(lambda *_: (), ask_physical, of_hosts=True),)
