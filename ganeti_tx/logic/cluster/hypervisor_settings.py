"""Hypervisor parameters that the cluster's settings bring to all instances, or to those of an OS: what the nodes think of them."""

from collections.abc import Iterator, Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.base import Params
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.hypervisor import fill_hvparams
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams
from ganeti_tx.rpc.interfaces import INodeRpc

#: The OS, as it were, of instances whose OS has no parameters of its own.
NO_OS = ""


def changed_hvparams(before: Cluster, after: Cluster) -> Iterator[tuple[Hypervisor, str, Params]]:
    """What instances get that they have not got until now: of each enabled hypervisor, by OS or variant, each value once."""
    for hypervisor in after.enabled_hypervisors:
        judged: list[Params] = []
        if hypervisor in before.enabled_hypervisors:
            judged = [fill_hvparams(before, hypervisor, os) for os in (NO_OS, *before.os_hvp)]
        for os in (NO_OS, *sorted(after.os_hvp)):
            params = fill_hvparams(after, hypervisor, os)
            if params not in judged:
                judged.append(params)
                yield hypervisor, os, params


def _without_coming(before: Cluster, after: Cluster, params: Params) -> dict[str, object]:
    """As the nodes can judge it: of a pool of user ids that comes by the same change they do not know yet."""
    comes = after.uid_pool and not before.uid_pool
    return {**params, "security_model": "none"} if comes and params.get("security_model") == "pool" else {**params}


async def check_hvparams(nodes: INodeRpc, able: Sequence[Node], before: Cluster, after: Cluster, limit: float) -> None:
    """The nodes judge parameters that become others.

    @param limit: seconds for the nodes to answer. @raise OpPrereqError: one cannot run instances with them.
    """
    for hypervisor, os, params in changed_hvparams(before, after):
        call = HypervisorValidateParams(hypervisor=hypervisor.value, hvparams=_without_coming(before, after, params))
        for outcome in (await nodes.call_many(able, call, limit)).values():
            if outcome.error is not None:
                whose = f"OS {os}: " if os else ""
                raise OpPrereqError(f"{whose}{outcome.error}", ECode.INVAL)
