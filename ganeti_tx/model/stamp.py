"""Who sent a message and when: what lets a node tell a late message, or one of a former master, from the newest."""

from ganeti_tx.model.base import Wire


class Stamp(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """`term` counts the masters of a cluster (a uuid), `sequence` rises with time while one master lives."""

    cluster: str
    master: str
    term: int
    sequence: int = 0
