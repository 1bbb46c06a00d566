"""Whether nodes reach the pools that disk parameters name, which an administrator has made outside of the cluster."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.disk import fill_diskparams
from ganeti_tx.model.verify_codes import VerifyCode

CHECK = "named-pools"
#: Ganeti has no code for them: without the programs, or their settings, a node is not set up for them.
finding = partial(Verdict, VerifyCode.ENODESETUP)


def used(scene: GroupScene) -> dict[str, tuple[str, str]]:
    """Storage type and pool by each enabled template that has such a parameter."""
    filled = fill_diskparams(scene.cluster, scene.group)
    return {
        word.value: (template.storage.value, str(filled[word][template.pool_param]))
        for word in scene.cluster.enabled_disk_templates
        for template in (TEMPLATES[word],)
        if template.pool_param is not None
    }


def ask_pools(scene: GroupScene) -> Mapping[str, Any]:
    """Why they cannot be used."""
    pools = used(scene)
    return {CHECK: list(pools.values())} if pools else {}


def judge_pools(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of each pool."""
    pools = used(scene)
    faults: list[str | None] = told.check(node, CHECK, [None] * len(pools))
    for (word, (_, pool)), fault in zip(pools.items(), faults, strict=False):
        yield finding(node.name, f"{word} pool {pool!r} cannot be used: {fault}", fault is not None)


SUBJECTS = (Subject(judge_pools, ask_pools, of_hosts=True),)
