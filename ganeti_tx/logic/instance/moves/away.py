"""What brings instances away from a node that is gone: it depends on who else has their disks, and on who chooses nodes."""

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.default_allocators import names_for
from ganeti_tx.model.disk_template import Adoption, Mirrored
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.opcodes.types import AllocatorMode


def way_away(template: DiskTemplate, name: str) -> str:
    """A sentence about one instance of a template."""
    if TEMPLATES[template].mirrored is Mirrored.NOT:
        return _lost(template, name)
    return f"{_failover(template, name)} starts it on another one"


def ways_away(template: DiskTemplate, cluster: Cluster, node: str) -> str:
    """A sentence about all instances of a template on a node."""
    mirrored = TEMPLATES[template].mirrored
    if mirrored is Mirrored.NOT:
        return _lost(template, "INSTANCE")
    if mirrored is Mirrored.INTERNALLY or names_for(cluster.default_iallocator, AllocatorMode.RELOCATE):
        return f"'gnt-node failover {node}' starts them on other nodes"
    return f"{_failover(template, 'INSTANCE')} starts each on another one"


def _failover(template: DiskTemplate, name: str) -> str:
    target = "-n NODE " if TEMPLATES[template].shared else ""
    return f"'gnt-instance failover {target}{name}'"


def _lost(template: DiskTemplate, name: str) -> str:
    only = "no other node has the disks"
    if TEMPLATES[template].adoption is Adoption.ALWAYS:
        return only
    return (
        f"{only}; 'gnt-instance recreate-disks -n NODE {name}' makes empty ones elsewhere, once 'gnt-instance shutdown"
        f" --ignore-offline {name}' has marked it as down"
    )
