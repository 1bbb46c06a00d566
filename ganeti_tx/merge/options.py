"""What the command line of cluster-merge says."""

from enum import StrEnum

from attrs import frozen

from ganeti_tx.config.merging.choices import Conflict, SameGroup

#: Seconds for which watchers are paused.
PAUSE_PERIOD = 1800


class Restart(StrEnum):
    """Which instances of the other clusters are started in the end: none, those that were up, all."""

    NONE = "none"
    UP = "up"
    ALL = "all"


@frozen(kw_only=True)
class MergeOptions:
    """As `parser` has them."""

    pause_period: float = PAUSE_PERIOD
    groups: SameGroup | None = None
    restart: Restart = Restart.UP
    conflicts: Conflict = Conflict.STRICT
    skip_stop_instances: bool = False
