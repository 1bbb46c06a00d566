"""Exclusive storage: no two disks lie on the same physical volume (reference: storage-rules.json, exclusive_storage)."""

from collections.abc import Iterable

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_template import Template
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, StorageType
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.node import EXCLUSIVE, fill_ndparams

#: The check by which a node tells its physical volumes.
PHYSICAL_VOLUMES = "physical-volumes"
#: The part by which the physical volumes of a group may differ in size.
MARGIN = 0.01


def is_exclusive(cluster: Cluster, group: NodeGroup | None = None, node: Node | None = None) -> bool:
    """Whether the nodes of a group have it."""
    return bool(fill_ndparams(cluster, group, node)[EXCLUSIVE])


def can_be_exclusive(template: Template) -> bool:
    """Whether such nodes can have instances of a template."""
    return not template.has_disks or (template.storage is StorageType.LVM_VG and not template.children)


def unfit(templates: Iterable[DiskTemplate]) -> list[DiskTemplate]:
    """Those that such nodes cannot have."""
    return sorted({word for word in templates if not can_be_exclusive(TEMPLATES[word])})


def spread(found: Iterable[tuple[int, str]]) -> str | None:
    """What is wrong with the sizes (MiB) of the physical volumes of a group, each with the node that it is of."""
    volumes = sorted(found)
    if not volumes:
        return None
    (least, where), (most, elsewhere) = volumes[0], volumes[-1]
    if most - least <= most * MARGIN:
        return None
    return (
        f"PV sizes differ too much in the group; smallest ({least} MB) is on {where},"
        f" biggest ({most} MB) is on {elsewhere}"
    )


def spindles_of(counts: Iterable[int | None]) -> int | None:
    """How many physical volumes an instance has for itself; None if that is not known of all its disks."""
    known = list(counts)
    return None if None in known else sum(count for count in known if count is not None)
