"""What whoever merges clusters decides."""

from enum import StrEnum

from ganeti_tx.model.base import Wire


class SameGroup(StrEnum):
    """What becomes of a node group whose name this cluster has, too."""

    MERGE = "merge"
    RENAME = "rename"


class Conflict(StrEnum):
    """What becomes of parameters in which the clusters differ."""

    STRICT = "strict"
    WARN = "warn"


class Choices(Wire, frozen=True, kw_only=True):
    """Without `groups`, groups of the same name are an obstacle."""

    groups: SameGroup | None = None
    conflicts: Conflict = Conflict.STRICT
