"""What is looked at before anything is done."""

from collections.abc import Callable, Iterable

from ganeti_tx.burnin.exports import exports
from ganeti_tx.burnin.instances import is_named, rows
from ganeti_tx.burnin.ring import Ring
from ganeti_tx.burnin.wanted import Wanted
from ganeti_tx.errors import ECode, OpPrereqError, ResolverError
from ganeti_tx.luxi.client import Client
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisor import HypervisorKind
from ganeti_tx.model.hypervisors import HYPERVISORS

#: The full name and the address of a name.
Resolve = Callable[[str], tuple[str, str]]
NODE_FIELDS = ("name", "offline", "drained", "vm_capable")


def usable_nodes(client: Client, wanted: Wanted) -> Ring:
    """The nodes that are named, or all that may hold instances. @raise OpPrereqError: one is not there, or may not."""
    found = {row[0]: row[1:] for row in rows(client, "node", NODE_FIELDS)}
    free = [name for name, (offline, drained, vm_capable) in found.items() if vm_capable and not (offline or drained)]
    chosen = [_node(typed, found) for typed in wanted.nodes]
    if unfit := [name for name in chosen if name not in free]:
        raise OpPrereqError(
            f"--nodes: {', '.join(unfit)} may hold no new instances (offline, drained, or not vm_capable)", ECode.STATE
        )
    nodes = chosen or sorted(free)
    needed = 1 + wanted.kind.secondaries
    if len(nodes) < needed:
        raise OpPrereqError(
            f"disk template {wanted.template.value} needs {needed} nodes, and {len(nodes)} may be used", ECode.STATE
        )
    return Ring(nodes)


def _node(typed: str, known: Iterable[str]) -> str:
    for name in known:
        if is_named(name, typed):
            return name
    raise OpPrereqError(f"--nodes: there is no node {typed!r}; give some of {', '.join(sorted(known))}", ECode.NOENT)


def check_names(client: Client, wanted: Wanted) -> None:
    """@raise OpPrereqError: there is an instance, or an export, of a name that is to be used."""
    typed = [*wanted.names, *([wanted.rename] if wanted.rename else [])]
    for kind, there in (("an instance", rows(client, "instance", ["name"])), ("an export", exports(client))):
        taken = {name for name, *_ in there if any(is_named(name, each) for each in typed)}
        if taken:
            raise OpPrereqError(f"there is {kind} {', '.join(sorted(taken))}; give names that are free", ECode.EXISTS)


def check_resolved(wanted: Wanted, resolve: Resolve) -> None:
    """@raise OpPrereqError: a name that is to be used stands for no address, and that is not to be passed over."""
    for name in [*wanted.names, *([wanted.rename] if wanted.rename else [])] if wanted.name_check else ():
        try:
            resolve(name)
        except ResolverError as error:
            raise OpPrereqError(
                f"the name {name} does not resolve ({error}); --no-name-check does without", ECode.RESOLVER
            ) from None


def check_template(client: Client, wanted: Wanted) -> None:
    """@raise OpPrereqError: the cluster does not have it."""
    enabled = client.query_cluster_info()["enabled_disk_templates"]
    if wanted.template.value not in enabled:
        raise OpPrereqError(
            f"--disk-template: {wanted.template.value!r} is none of the cluster's disk templates: {', '.join(enabled)}",
            ECode.INVAL,
        )


def hypervisor_of(client: Client, wanted: Wanted) -> tuple[str, HypervisorKind]:
    """The one that the instances get, with what it can. @raise OpPrereqError: the cluster does not have it."""
    enabled = client.query_cluster_info()["enabled_hypervisors"]
    name = wanted.hypervisor or enabled[0]
    if name not in enabled:
        raise OpPrereqError(
            f"--hypervisor-parameters: {name!r} is none of the cluster's hypervisors: {', '.join(enabled)}", ECode.INVAL
        )
    return name, HYPERVISORS[Hypervisor(name)]
