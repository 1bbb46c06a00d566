"""What the snapshot of a disk is called, so that it can be removed whether anybody has heard of it or not."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance_spec import DiskSpec


def snapshot_id(logical_id: Sequence[Any], name: str) -> list[Any]:
    """The logical id of a snapshot, by that of what it is of: there, by the same name with another behind it."""
    *place, own = logical_id
    return [*place, f"{own}.{name}"]


def snapshot_of(disk: DiskSpec, name: str, uuid: str) -> DiskSpec | None:
    """The snapshot of a disk, or of the child that holds its data, which is the first; None if there can be none."""
    template = TEMPLATES[DiskTemplate(disk.dev_type)]
    if not (template.snapshots or template.may_snapshot) or not disk.logical_id:
        return None
    if disk.children:
        return snapshot_of(disk.children[0], name, uuid)
    made = snapshot_id(disk.logical_id, name)
    return replace(disk, uuid=uuid, logical_id=made, index=-1, name=None, iv_name="", spindles=None)
