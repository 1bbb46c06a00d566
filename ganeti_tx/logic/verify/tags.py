"""Whether instances that are to be apart are (reference: verify.json, EEXTAGS)."""

from collections import Counter
from collections.abc import Iterator

from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.node import Node
from ganeti_tx.model.verify_codes import VerifyCode

#: Tags of the cluster that begin with it name beginnings of instances' tags of which a node shall have one each.
EXCLUSION = "htools:iextags:"


def judge_tags(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of the tags of the instances that have the node as primary."""
    prefixes = tuple(
        f"{tag.removeprefix(EXCLUSION)}:"
        for tag in scene.cluster.tags
        if tag.startswith(EXCLUSION) and tag != EXCLUSION
    )
    count = Counter(tag for view in scene.primaries(node) for tag in view.instance.tags if tag.startswith(prefixes))
    shared = sorted(tag for tag, number in count.items() if number > 1)
    yield Verdict(VerifyCode.EEXTAGS, node.name, f"Tags where there is more than one instance: {shared}", bool(shared))


SUBJECTS = (Subject(judge_tags, of_hosts=True),)
