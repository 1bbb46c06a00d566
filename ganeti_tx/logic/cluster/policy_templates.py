"""The disk templates that a cluster's instance policy allows, when others are enabled and nothing is said of the policy."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.enums import DiskTemplate


def following(before: Cluster, after: Cluster, given: Mapping[str, Any]) -> Cluster:
    """A policy that allowed all that was enabled does so afterwards; one that did not allows nothing new.

    It allows nothing that is not enabled: nobody could make that, and who plans with the policy would.
    """
    if "enabled_disk_templates" not in given or "disk-templates" in (given.get("ipolicy") or {}):
        return after
    held, enabled = after.ipolicy.disk_templates, after.enabled_disk_templates
    allowed = enabled if _allows_all(before, held) else tuple(word for word in held if word in enabled)
    if not allowed or set(allowed) == set(held):  # a policy that allows nothing is none
        return after
    return replace(after, ipolicy=replace(after.ipolicy, disk_templates=allowed))


def _allows_all(cluster: Cluster, allowed: Collection[DiskTemplate]) -> bool:
    return set(cluster.enabled_disk_templates) <= set(allowed)


def notes(before: Cluster, after: Cluster, given: Mapping[str, Any]) -> Iterator[str]:
    """What is told of it, and of what is newly enabled and not allowed."""
    if "enabled_disk_templates" not in given or "disk-templates" in (given.get("ipolicy") or {}):
        return
    allowed = after.ipolicy.disk_templates
    if set(allowed) != set(before.ipolicy.disk_templates):
        yield f"The instance policy allows now the disk templates {', '.join(allowed)}"
    new = set(after.enabled_disk_templates) - set(before.enabled_disk_templates) - set(allowed)
    if new:
        yield (
            f"The instance policy does not allow the newly enabled disk templates {', '.join(sorted(new))};"
            " --ipolicy-disk-templates does"
        )
