"""What units about one node group share: its lock, its nodes, and that names are not taken twice."""

from collections.abc import Iterator, Sequence

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Lock, Mode
from ganeti_tx.model.group_scopes import GroupScopes, kept_text
from ganeti_tx.model.names import check_name
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup


def on_groups(*uuids: str) -> list[LockRequest]:
    """The exclusive locks of some groups."""
    return [LockRequest(Lock(Level.NODEGROUP, uuid), Mode.EXCLUSIVE) for uuid in sorted(set(uuids))]


async def nodes_of_group(config: IConfig, group: NodeGroup) -> list[Node]:
    """Its nodes, by name."""
    return [node for node in await config.nodes() if node.group == group.uuid]


def left_by(name: str, scopes: GroupScopes) -> Iterator[str]:
    """What is to be told when a group is not called so any more: scopes of the Remote API go by names."""
    if kept := scopes.get(name):
        yield (
            f"{kept_text(name, kept)}: nothing is in that scope from now on, and whatever will be in a group that is called so"
            " later; change these scopes before"
        )


def given_to(name: str, scopes: GroupScopes) -> Iterator[str]:
    """What is to be told when a group comes to be called so."""
    if kept := scopes.get(name):
        yield f"{kept_text(name, kept)}: what will be in this group is in that scope"


async def check_free(config: IConfig, name: str, clash: str) -> None:
    """A new name can be given.

    @raise OpPrereqError: already_exists; `clash` says it, with the name in it, up to the uuid of who has the name. Or
        wrong_input: it cannot be a name.
    """
    check_name("node group", name)
    for group in await config.groups():
        if name.lower() in (group.name.lower(), group.uuid):
            raise OpPrereqError(f"{clash} (UUID: {group.uuid})", ECode.EXISTS)


def described(group: NodeGroup) -> tuple[str, ...]:
    """The group, for a plan."""
    return (f"node group {group.name}",)


async def listed(config: IConfig, names: Sequence[str]) -> list[NodeGroup]:
    """Groups without repetition. @raise OpPrereqError: there is no such group."""
    return list({group.uuid: group for group in await config.groups(names)}.values()) if names else []
