"""How to reach the console of an instance."""

from collections.abc import Sequence
from typing import Literal

from ganeti_tx.model.base import Wire


class InstanceConsole(Wire, frozen=True, kw_only=True):
    """What a client must open or run; which fields are set follows from `kind`."""

    instance: str
    kind: Literal["ssh", "vnc", "spice", "msg"]
    message: str | None = None
    host: str | None = None
    port: int | None = None
    user: str | None = None
    command: Sequence[str] | str | None = None
    display: int | None = None
