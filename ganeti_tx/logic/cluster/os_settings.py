"""What settings of the cluster say of operating systems: what the nodes think of it, and which changes are none."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.os import fill_osparams, fill_private_osparams
from ganeti_tx.model.settings.changes import is_addition
from ganeti_tx.model.values import ListAction
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.rpc.interfaces import INodeRpc

#: The settings that are lists of names, and how they are called.
LISTS = {"hidden_os": "hidden", "blacklisted_os": "blacklisted"}


def changed_oses(before: Cluster, after: Cluster) -> list[str]:
    """The OSes, or variants, whose parameters become others."""
    names = {*before.osparams, *after.osparams, *before.osparams_private_cluster, *after.osparams_private_cluster}
    return sorted(name for name in names if _params(before, name) != _params(after, name))


async def check_osparams(
    nodes: INodeRpc, able: Sequence[Node], cluster: Cluster, oses: Iterable[str], limit: float
) -> None:
    """Nodes that have the OS judge its parameters, whatever the variant.

    @param limit: seconds for the nodes to answer. @raise OpPrereqError: one refuses them.
    """
    for os in oses:
        params = _params(cluster, os)
        call = OsValidate(
            required=False,
            os_name=os,
            checks=["parameters"],
            osparams=params,
            force_variant=True,
            hidden=[*fill_private_osparams(cluster, os)],
        )
        for outcome in (await nodes.call_many(able, call, limit)).values():
            if outcome.error is not None:
                raise OpPrereqError(str(outcome.error), ECode.INVAL)


def _params(cluster: Cluster, os: str) -> dict[str, str]:
    return {**fill_osparams(cluster, os), **fill_private_osparams(cluster, os)}


def vain_changes(cluster: Cluster, given: Mapping[str, Any]) -> Iterator[str]:
    """One line for each name that shall come into a list that has it, or leave one that does not."""
    for setting, word in LISTS.items():
        held = set(getattr(cluster, setting))
        actions: Sequence[tuple[ListAction, str]] = given.get(setting) or ()
        for action, name in actions:
            if is_addition(action) and name in held:
                yield f"OS {name} already in {word} OS list, ignoring"
            elif not is_addition(action) and name not in held:
                yield f"OS {name} not found in {word} OS list, ignoring"
            (held.add if is_addition(action) else held.discard)(name)
