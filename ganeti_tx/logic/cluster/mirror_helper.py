"""The program that DRBD is to call on all nodes: what the cluster says of it must be what their modules do."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.verify.mirrors import CHECK, mirroring
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.node import NodeVerify


async def check_helper(parts: Parts, before: Cluster, after: Cluster, nodes: Sequence[Node], timeout: float) -> None:
    """A helper that is named now, or counts from now on, is called by each node that answers.

    @raise OpPrereqError: a node's module calls another one, or there is none.
    """
    helper, templates = after.drbd_usermode_helper, mirroring(after)
    if not helper or (helper, templates) == (before.drbd_usermode_helper, mirroring(before)):
        return
    if not templates:
        parts.info("Note that you specified a drbd user helper, but did not enable the drbd disk template.")
        return
    call = NodeVerify(checks={CHECK: templates}, cluster_name=after.cluster_name)
    for name, outcome in (await parts.nodes.call_many(nodes, call, timeout)).items():
        if (why := outcome.error or outcome.get().failed(CHECK)) is not None:
            parts.warn(f"node {name} does not tell what its DRBD calls: {why}")
            continue
        for found in outcome.get().get(CHECK, {}).values():
            called = found if isinstance(found, str) else f"drbd usermode helper is {found.helper!r}"
            if isinstance(found, str) or found.helper != helper:
                raise OpPrereqError(
                    f"Error on node '{name}': {called}, not {helper!r}; 'options drbd usermode_helper={helper}' in"
                    " /etc/modprobe.d, or writing it to /sys/module/drbd/parameters/usermode_helper, mends that",
                    ECode.ENVIRON,
                )
