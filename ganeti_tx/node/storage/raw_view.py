"""The bytes of disks as programs of this node see them: scripts of OS definitions, what fills and what wipes."""

from collections.abc import Sequence

from attrs import frozen


@frozen
class RawView:
    """A file or device with the bytes of a disk.

    @ivar path: it is there as long as a program runs that has `prefix` before its own command.
    @ivar filling: what stands there instead to have all that the program prints on the disk; empty: `path` can be opened as it
        is.
    """

    path: str
    prefix: Sequence[str] = ()
    filling: Sequence[str] = ()
