"""Disks: up to 2.11 inside their instance and without uuids, up to 2.13 without the nodes that they are on."""

from typing import Any

from ganeti_tx.config.older.raw import Raw, fill, mapping, objects, uuid_of
from ganeti_tx.model.disk_template import Template
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate

#: What the kinds of devices were called before 2.9.
DEV_TYPES = {"drbd8": "drbd", "lvm": "plain"}
#: Keys that nobody reads any more (reference: config.json, legacy slots; the physical id is gone since 2.10).
LEGACY = ("dynamic_params", "pci", "hvinfo", "physical_id")


def take_disks_out(raw: Raw) -> None:
    """Instances name their disks, which stand by themselves, with all that they have had since."""
    for instance in objects(raw, "instances"):
        if inside := inner_disks(instance):
            by_uuid = {
                str(disk.setdefault("uuid", uuid_of(instance, f"disk/{at}"))): disk for at, disk in enumerate(inside)
            }
            fill(inside, times_of(instance))
            mapping(raw, "disks").update(by_uuid)
            instance["disks"] = list(by_uuid)
        for index, disk in enumerate(disks_of(raw, instance)):
            disk["iv_name"] = f"disk/{index}"
            complete(disk, str(instance.get("primary_node", "")))
    for disk in objects(raw, "disks"):
        complete(disk, "")


def inner_disks(instance: Raw) -> list[Raw]:
    """Those that stand in an instance itself."""
    held = instance.get("disks")
    return held if isinstance(held, list) and all(isinstance(disk, dict) for disk in held) else []


def disks_of(raw: Raw, instance: Raw) -> list[Raw]:
    """Those that an instance names and that are there."""
    named = instance.get("disks")
    known = mapping(raw, "disks")
    uuids = [uuid for uuid in named if isinstance(uuid, str)] if isinstance(named, list) else []
    return [known[uuid] for uuid in uuids if isinstance(known.get(uuid), dict)]


def times_of(owner: Raw) -> Raw:
    """When something was made and changed of which nobody wrote it down: as its owner."""
    return {key: owner[key] for key in ("ctime", "mtime") if key in owner}


def complete(disk: Raw, primary: str) -> None:
    """A disk, and those that it is made of, with what it lacks.

    @param primary: its instance's node; empty if nobody has it.
    """
    if (word := word_of(disk)) is not None:
        disk["dev_type"] = word.value
    fill([disk], {"serial_no": 1}, LEGACY)
    if "nodes" not in disk:
        disk["nodes"] = nodes_of(disk, primary)
    for index, child in enumerate(objects(disk, "children")):
        child["uuid"] = child.get("uuid") or uuid_of(disk, f"child/{index}")
        fill([child], {"nodes": disk["nodes"], **times_of(disk)})
        complete(child, primary)


def nodes_of(disk: Raw, primary: str) -> list[Any]:
    """A mirror is on the two nodes that its logical id names; what every node reaches is on none."""
    template = template_of(disk)
    if template is None:
        return []
    ends = disk.get("logical_id")
    if template.secondaries and isinstance(ends, list):
        return ends[: 1 + template.secondaries]
    return [] if template.shared or not primary else [primary]


def template_of(disk: Raw) -> Template | None:
    """The declaration of a disk's template, if there is one."""
    word = word_of(disk)
    return None if word is None else TEMPLATES[word]


def word_of(disk: Raw) -> DiskTemplate | None:
    """The template, as it is called today."""
    kind = str(disk.get("dev_type"))
    word = DEV_TYPES.get(kind, kind)
    return DiskTemplate(word) if word in tuple(DiskTemplate) else None
