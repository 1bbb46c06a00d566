"""Whether a node has the providers that disks are to be of."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.disks.plan import DiskPlan
from ganeti_tx.logic.questions import ask
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.disk import provider_params
from ganeti_tx.rpc.calls.ext_storage import ExtstorageDiagnose, ProviderReport
from ganeti_tx.rpc.interfaces import INodeRpc


async def check_providers(nodes: INodeRpc, node: Node, plans: Sequence[DiskPlan]) -> None:
    """@raise OpPrereqError: the node has not the provider of a disk, or not a good one, or one that knows not its parameters."""
    provided = [plan for plan in plans if TEMPLATES[plan.template].provider_key is not None]
    if not provided:
        return
    counting: dict[str, ProviderReport] = {}
    for report in await ask(nodes, node, ExtstorageDiagnose(), ECode.ENVIRON):
        counting.setdefault(report.name, report)
    for plan in provided:
        key = TEMPLATES[plan.template].provider_key
        name = str(plan.params[key or ""])
        if name not in counting:
            there = ", ".join(sorted(counting)) or "none"
            raise OpPrereqError(f"provider {name!r} not found on node {node.name}; there: {there}", ECode.NOENT)
        check_provider(plan, node, counting[name])


def check_provider(plan: DiskPlan, node: Node, report: ProviderReport) -> None:
    """@raise OpPrereqError: it cannot be used, or does not know a parameter."""
    if not report.valid:
        raise OpPrereqError(
            f"provider {report.name!r} of node {node.name} cannot be used: {report.diagnose}", ECode.ENVIRON
        )
    known = [name for name, _help in report.parameters]
    if unknown := sorted(provider_params(TEMPLATES[plan.template], plan.params).keys() - set(known)):
        allowed = ", ".join(known) or "none"
        raise OpPrereqError(
            f"provider {report.name!r} has no parameter {unknown[0]!r}; allowed: {allowed}", ECode.INVAL
        )
