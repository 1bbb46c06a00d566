"""How to take back what an opcode has begun, as data: it stands in the job's file before the thing is begun.

Each undo can be done twice, and for something that was never begun, without harm (doc/design/undo.rst).
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from ganeti_tx.model import logical_id as ids
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate


class NodeUndo(msgspec.Struct, frozen=True, kw_only=True, tag="node"):
    """A node call: its name in the table of calls, and its arguments as `without_secrets` leaves them.

    @ivar title: what it does, for the operator: "remove disk/0 of instance web1 on node2".
    @ivar elsewhere: whether another node of its group can do the same, as they share what it is about.
    @ivar otherwise: what is told when it cannot be done, if what was begun before must then stay as it is.
    @ivar by_hand: what is told, too, when it cannot be done: the command that helps.
    """

    title: str
    node: str
    primary_ip: str
    offline: bool = False
    call: str
    arguments: dict[str, Any]
    elsewhere: bool = False
    otherwise: str | None = None
    by_hand: str | None = None


class ConfigUndo(msgspec.Struct, frozen=True, kw_only=True, tag="config"):
    """An operation of the configuration, by its name on the wire; an object that is not there needs no undo."""

    title: str
    operation: str
    arguments: list[Any]
    otherwise: str | None = None


Undo = NodeUndo | ConfigUndo


class UndoRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What takes back what the running opcode has begun, in the order of its steps, and the locks that it needs for that.

    @ivar cause: what ended the opcode's process, once luxid knows.
    @ivar killed: whether that was asked for.
    @ivar tries: how many processes were to take it back so far.
    """

    steps: list[Undo]
    locks: dict[str, str]
    cause: str | None = None
    killed: bool = False
    tries: int = 0


#: Keys whose values no file may hold; a node needs none of them to take something back.
SECRET_KEYS = frozenset({"osparams_private", "osparams_secret"})


def without_secrets(value: Any) -> Any:
    """A call's arguments as plain data, with nothing secret in them."""
    if isinstance(value, dict):
        kept = {key: {} if key in SECRET_KEYS else without_secrets(each) for key, each in value.items()}
        if "dev_type" in kept and kept.get("logical_id") is not None:
            template = TEMPLATES[DiskTemplate(kept["dev_type"])]
            kept["logical_id"] = list(ids.without_secret(template.logical_id, kept["logical_id"]) or ())
        return kept
    if isinstance(value, list):
        return [without_secrets(each) for each in value]
    return value


def with_secrets(value: Any, disks: Mapping[str, Disk]) -> Any:
    """What `without_secrets` left, with the secrets of the disks (by uuid) that are known."""
    if isinstance(value, list):
        return [with_secrets(each, disks) for each in value]
    if not isinstance(value, dict):
        return value
    filled = {key: with_secrets(each, disks) for key, each in value.items()}
    if "dev_type" in filled and (disk := disks.get(str(filled.get("uuid")))) is not None:
        shape = disk.template.logical_id
        known = ids.with_parts(shape, filled.get("logical_id"), {ids.Secret: disk.secrets})
        filled["logical_id"] = None if known is None else list(known)
    return filled
