"""Whose storage units can be told of, and on which nodes."""

from collections.abc import Sequence

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import REPORTED_STORAGE, StorageType
from ganeti_tx.model.node import Node
from ganeti_tx.model.storage_unit import enabled_in, holder


def reported_type(asked: StorageType | None, cluster: Cluster) -> StorageType:
    """What was asked for, or that of the cluster's first template. @raise OpPrereqError: nothing is told of such units."""
    kind = asked or TEMPLATES[cluster.enabled_disk_templates[0]].storage
    if kind not in REPORTED_STORAGE:
        raise OpPrereqError(
            f"Storage reporting for storage type '{kind.value}' is not supported. Please use the --storage-type option"
            f" to specify one of the supported storage types ({', '.join(each.value for each in REPORTED_STORAGE)}) or set the"
            " default disk template to one that supports storage reporting.",
            ECode.INVAL,
        )
    check_enabled(kind, cluster)
    return kind


def check_enabled(kind: StorageType, cluster: Cluster) -> None:
    """@raise OpPrereqError: the cluster keeps no disks in such units."""
    if not enabled_in(kind, cluster):
        raise OpPrereqError(
            f"No disk template of storage type '{holder(kind).value}' is enabled in this cluster. Enabled disk templates"
            f" are: {','.join(cluster.enabled_disk_templates)}",
            ECode.STATE,
        )


async def asked_nodes(config: IConfig, names: Sequence[str]) -> list[Node]:
    """Those that are named, or all; offline ones are left out. @raise OpPrereqError: there is no such."""
    nodes = [await config.node(name) for name in names] or await config.nodes()
    return sorted((node for node in nodes if not node.offline and node.vm_capable), key=lambda node: node.name)


def check_fields(asked: Sequence[str], known: Sequence[str]) -> None:
    """@raise OpPrereqError: some are not known."""
    if unknown := [name for name in asked if name not in known]:
        raise OpPrereqError(
            f"Unknown output fields selected: {', '.join(unknown)}; there are {', '.join(known)}", ECode.INVAL
        )
