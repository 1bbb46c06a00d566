"""Exclusive storage: the physical volumes of a group are spindles, so that all are of one size (reference: storage-rules.json)."""

from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.params.node import fill_ndparams
from ganeti_tx.model.verify_codes import VerifyCode

CHECK = "physical-volumes"
#: The part by which they may differ.
MARGIN = 0.01


def ask_physical(scene: GroupScene) -> Mapping[str, Any]:
    """What physical volumes there are, where each is one disk's alone."""
    name = scene.cluster.volume_group_name
    if name is None or not fill_ndparams(scene.cluster, scene.group)["exclusive_storage"]:
        return {}
    return {CHECK: name}


def physical_sizes(scene: GroupScene, told: Told) -> Iterator[Verdict]:
    """Of the group as a whole."""
    found: list[tuple[int, str]] = []
    for node in scene.online:
        listed: list[tuple[str, int]] = told.check(node, CHECK, [])
        found.extend((size, node.name) for _, size in listed)
    if found:
        (least, where), (most, elsewhere) = min(found), max(found)
        text = (
            f"PV sizes differ too much in the group; smallest ({least} MB) is on {where},"
            f" biggest ({most} MB) is on {elsewhere}"
        )
        yield Verdict(VerifyCode.EGROUPDIFFERENTPVSIZE, scene.group.name, text, most - least > most * MARGIN)


SUBJECTS = (Subject(lambda *_: (), ask_physical),)
