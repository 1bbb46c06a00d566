"""What the master's daemons keep in files beside the configuration."""

from collections.abc import Callable

from attrs import frozen


@frozen
class MasterState:
    """Read at each call.

    @ivar is_drained: whether no new jobs are taken.
    @ivar watcher_pause: until when the watcher is paused, in seconds since the epoch; None when it is not.
    """

    is_drained: Callable[[], bool]
    watcher_pause: Callable[[], float | None]
