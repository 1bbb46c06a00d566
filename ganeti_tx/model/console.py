"""How to reach the console of an instance."""

from collections.abc import Sequence

from ganeti_tx.model.base import Wire
from ganeti_tx.model.hypervisor import ConsoleKind


class InstanceConsole(Wire, frozen=True, kw_only=True):
    """What a client must open or run; which fields are set follows from `kind`."""

    instance: str
    kind: ConsoleKind
    message: str | None = None
    host: str | None = None
    port: int | None = None
    user: str | None = None
    command: Sequence[str] | str | None = None
    display: int | None = None
