"""What every node call has: a name, a type of answer, a time limit, and sizes."""

from typing import Any, ClassVar

import msgspec

MiB = 1024 * 1024

#: Time-out classes in seconds.
URGENT = 60.0
FAST = 300.0
NORMAL = 900.0
SLOW = 3600.0
ONE_DAY = 86400.0


class NodeCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call with its arguments. `result` is the type of the answer; sizes are bytes of the encoded body."""

    name: ClassVar[str]
    result: ClassVar[Any] = type(None)
    timeout: ClassVar[float] = NORMAL
    max_request: ClassVar[int] = 4 * MiB
    max_response: ClassVar[int] = 16 * MiB

    def time_limit(self) -> float:
        """Seconds after which the caller gives up."""
        return self.timeout
