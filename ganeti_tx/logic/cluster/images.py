"""Images of helper machines: a file that is named now, and which nodes lack, is told at once, as it may still be brought there."""

from collections.abc import Sequence

from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.image import ImageSize

IMAGES = ("install_image", "zeroing_image")


async def warn_of_missing_images(
    parts: Parts, before: Cluster, after: Cluster, nodes: Sequence[Node], timeout: float
) -> None:
    """What a web server has is asked for when it is needed: it may ask for a password, and take its time."""
    for name in IMAGES:
        image = getattr(after, name)
        if image == getattr(before, name) or not image.startswith("/"):
            continue
        for node, outcome in (await parts.nodes.call_many(nodes, ImageSize(image=image), timeout)).items():
            if outcome.error is not None:
                parts.warn(f"{name}: node {node} cannot use it: {outcome.error.reason}")
