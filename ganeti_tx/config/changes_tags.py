"""Changes of tags, whatever carries them: pure functions from one configuration to the next."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from ganeti_tx.config.edit import Change, nothing, with_objects
from ganeti_tx.errors import TagError
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.lookup import find
from ganeti_tx.model.tags import check_count, check_tag

#: Which container holds what can be tagged; the cluster stands by itself.
CONTAINERS = {
    TagKind.INSTANCE: "instances",
    TagKind.NETWORK: "networks",
    TagKind.NODE: "nodes",
    TagKind.NODEGROUP: "nodegroups",
}


def change_tags(kind: TagKind, name: str | None, add: Sequence[str], remove: Sequence[str]) -> Change[None]:
    """Add and remove tags of one object in one change; `name` is None for the cluster. @raise TagError: see `new_tags`."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = tagged(config, kind, name)
        tags = new_tags(held.tags, add, remove)
        if tags == tuple(sorted(held.tags)):
            return config
        given = touched(replace(held, tags=tags), now)
        if kind is TagKind.CLUSTER:
            return replace(config, cluster=given)
        return with_objects(config, CONTAINERS[kind], [given])

    return Change(edit, nothing)


def tagged(config: ConfigData, kind: TagKind, name: str | None) -> Any:
    """What carries the tags, by a name, a unique short name or a uuid. @raise OpPrereqError: unknown_entity."""
    if kind is TagKind.CLUSTER:
        return config.cluster
    word = "node group" if kind is TagKind.NODEGROUP else kind.value
    return find(word, getattr(config, CONTAINERS[kind]), name or "")


def new_tags(present: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> tuple[str, ...]:
    """The tags afterwards, sorted. @raise TagError: not a tag, too many, or one to remove is not there."""
    for tag in add:
        check_tag(tag)
    missing = sorted(set(remove).difference(present))
    if missing:
        raise TagError(f"tag(s) not found: {', '.join(missing[:10])}")
    tags = {*present, *add}.difference(remove)
    check_count(tags)
    return tuple(sorted(tags))
