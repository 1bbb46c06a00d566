"""What is said between the node on which clusters are merged and the nodes of the other one."""

from ganeti_tx.model.base import Wire


class Told(Wire, frozen=True, kw_only=True):
    """What the other cluster's master knows. `halted`: a merge that was broken off has stopped its daemons, and these instances.

    `known_hosts`: how its nodes show who they are.
    """

    version: str
    config: bytes
    known_hosts: str
    was_drained: bool
    pause_end: float | None
    halted: bool
    stopped: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Told of version {self.version}>"


class Looked(Wire, frozen=True, kw_only=True):
    """One node of it: the version of this program, and its own name.

    `strayed`: it had begun to join this cluster when a merge was broken off.
    """

    version: str
    name: str
    strayed: bool


class Admission(Wire, frozen=True, kw_only=True):
    """The public key that is let in."""

    key: str


class Pause(Wire, frozen=True, kw_only=True):
    """Until when the watcher is paused, in seconds since the epoch; None: it is not."""

    end: float | None


class Halting(Wire, frozen=True, kw_only=True):
    """What the cluster was before the merge: the instances that were up, and whether its queue took no jobs."""

    stopped: tuple[str, ...]
    was_drained: bool


class Named(Wire, frozen=True, kw_only=True):
    """Some instances."""

    names: tuple[str, ...]


class Empty(Wire, frozen=True, kw_only=True):
    """Nothing to be said."""
