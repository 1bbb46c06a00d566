"""Whether a node has the providers that disks are to be of."""

from collections.abc import Collection, Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.disks.plan import DiskPlan
from ganeti_tx.logic.disks.same_storage import reserve_storage
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import ask
from ganeti_tx.model.base import Params
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_template import Template
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.disk import provider_params
from ganeti_tx.rpc.calls.ext_storage import ExtstorageDiagnose, ProviderReport


async def check_providers(
    parts: Parts, node: Node, disks: Sequence[DiskPlan | Disk], own: Collection[str] = ()
) -> None:
    """Storage that is there already is reserved for the disks.

    @param own: the uuids of these disks, as far as they are in the configuration.
    @raise OpPrereqError: the node has not the provider of a disk, or not a good one, or one that knows not its parameters; or
        another disk is on the same storage.
    """
    wanted = [(template_of(disk), disk.params or {}) for disk in disks]
    provided = [(template, params) for template, params in wanted if template.provider_key is not None]
    if not provided:
        return
    counting: dict[str, ProviderReport] = {}
    for report in await ask(parts.nodes, node, ExtstorageDiagnose(), ECode.ENVIRON):
        counting.setdefault(report.name, report)
    for template, params in provided:
        name = str(params.get(template.provider_key or "", ""))
        if name not in counting:
            there = ", ".join(sorted(counting)) or "none"
            raise OpPrereqError(f"provider {name!r} not found on node {node.name}; there: {there}", ECode.NOENT)
        check_provider(provider_params(template, params), node, counting[name])
    identities = {name: report.identity for name, report in counting.items()}
    await reserve_storage(parts.config, provided, identities, own)


def template_of(disk: DiskPlan | Disk) -> Template:
    """The declaration of its template."""
    return disk.template if isinstance(disk, Disk) else TEMPLATES[disk.template]


def check_provider(params: Params, node: Node, report: ProviderReport) -> None:
    """@raise OpPrereqError: it cannot be used, or does not know a parameter."""
    if not report.valid:
        raise OpPrereqError(
            f"provider {report.name!r} of node {node.name} cannot be used: {report.diagnose}", ECode.ENVIRON
        )
    known = [name for name, _help in report.parameters]
    if unknown := sorted(params.keys() - set(known)):
        allowed = ", ".join(known) or "none"
        raise OpPrereqError(
            f"provider {report.name!r} has no parameter {unknown[0]!r}; allowed: {allowed}", ECode.INVAL
        )
