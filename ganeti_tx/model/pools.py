"""Which pool the disks of a template lie in: a volume group or a directory that the cluster's settings name."""

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_template import Template


def pool_of(template: Template, cluster: Cluster) -> str:
    """The pool's name; empty if the template has none whose room nodes tell, or the cluster does not name it."""
    return str(getattr(cluster, template.pool) or "") if template.pool is not None else ""


def has_place(template: Template, cluster: Cluster) -> bool:
    """Whether the cluster names the pool that the template needs."""
    return template.pool is None or bool(pool_of(template, cluster))
