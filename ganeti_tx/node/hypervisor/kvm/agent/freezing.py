"""The file systems of guests stand still while snapshots are made, and never for long: whatever happens, they are let go.

A file beside the instance's sockets says that they may stand still from before they are told to until they are known to go on,
so that a daemon that is started meanwhile lets them go, too.
"""

from collections.abc import Iterable

import msgspec
from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.agent.talk import GuestAgents, Talk
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.runtime.files import IFiles

log = Logger()

#: Seconds in which a guest has written what it must, and in which it has been let go.
FREEZE_LIMIT, THAW_LIMIT = 30.0, 10.0
#: Seconds between two attempts to let a guest go whose agent does not answer, and for how many of them.
PAUSE, ATTEMPTS = 5.0, 120
MAX_FILE = 100
NO_AGENT = "use_guest_agent is off, or it has not been started anew since that was set"


@define
class Freezing:
    """The guests of a node that stand still."""

    files: IFiles
    clock: IReactorTime
    agents: GuestAgents
    _due: dict[str, IDelayedCall] = field(factory=dict, init=False)

    async def freeze(self, layout: InstanceLayout, limit: float) -> str:
        """See `IFreezes.freeze`."""
        if not self.files.exists(layout.guest_agent):
            return NO_AGENT
        asked = False
        try:
            async with self.agents.talk(layout.guest_agent) as talk:
                await self._note(layout, 0)
                asked = True
                self._thaw_in(limit, layout, ATTEMPTS)
                count = await talk.ask("guest-fsfreeze-freeze", FREEZE_LIMIT)
            if not isinstance(count, int) or isinstance(count, bool) or count < 1:
                raise HypervisorError("its agent has frozen nothing")
            await self._note(layout, count)
        except HypervisorError as error:
            if asked:
                await self._thaw_after_all(layout)
            return str(error)
        return ""

    async def _thaw_after_all(self, layout: InstanceLayout) -> None:
        """An agent that failed, or has not answered yet, may have frozen some; if it does not listen it is asked again later."""
        try:
            await self.thaw(layout)
        except HypervisorError as error:
            log.warn("instance {name}: {error}", name=layout.name, error=error)

    async def thaw(self, layout: InstanceLayout) -> bool:
        """See `IFreezes.thaw`."""
        frozen = self._noted(layout)
        if frozen is None:
            self._stop_waiting(layout)
            return False
        try:
            async with self.agents.talk(layout.guest_agent) as talk:
                thawed = await talk.ask("guest-fsfreeze-thaw", THAW_LIMIT)
                await check_thawed(talk)
        except HypervisorError as error:
            self._thaw_in(PAUSE, layout, ATTEMPTS)
            raise HypervisorError(
                f"instance {layout.name}: its file systems may still be frozen: {error}; it is asked again every {PAUSE:.0f} s"
            ) from None
        self._forget(layout)
        return frozen > 0 and thawed == frozen

    def thaw_all(self, layouts: Iterable[InstanceLayout]) -> None:
        """Let those go that a former daemon has left frozen."""
        for layout in layouts:
            if self._noted(layout) is not None:
                self._thaw_in(0.0, layout, ATTEMPTS)

    def _thaw_in(self, seconds: float, layout: InstanceLayout, attempts: int) -> None:
        self._stop_waiting(layout)
        self._due[layout.name] = self.clock.callLater(seconds, self._attempt, layout, attempts)

    def _attempt(self, layout: InstanceLayout, attempts: int) -> None:
        self._due.pop(layout.name, None)
        Deferred.fromCoroutine(self._try(layout, attempts)).addErrback(
            lambda failure: log.failure("cannot thaw instance {name}", failure, name=layout.name)
        )

    async def _try(self, layout: InstanceLayout, attempts: int) -> None:
        if self._noted(layout) is None:
            return
        try:
            await self.thaw(layout)
            log.warn("instance {name}: its file systems were frozen for long, and were let go", name=layout.name)
        except HypervisorError as error:
            self._stop_waiting(layout)
            if attempts > 1:
                self._thaw_in(PAUSE, layout, attempts - 1)
            log.error("{error} ({attempts} times more)", error=error, attempts=attempts - 1)

    def _stop_waiting(self, layout: InstanceLayout) -> None:
        due = self._due.pop(layout.name, None)
        if due is not None and due.active():
            due.cancel()

    async def _note(self, layout: InstanceLayout, count: int) -> None:
        await self.files.write_atomic(layout.frozen, msgspec.json.encode(count), 0o600, sync=False)

    def _noted(self, layout: InstanceLayout) -> int | None:
        """How many file systems may stand still; 0: nobody knows, None: none."""
        try:
            return msgspec.json.decode(self.files.read(layout.frozen, MAX_FILE), type=int)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError):
            return 0

    def _forget(self, layout: InstanceLayout) -> None:
        self._stop_waiting(layout)
        try:
            self.files.remove(layout.frozen)
        except FileNotFoundError:
            pass  # it has ended meanwhile


async def check_thawed(talk: Talk) -> None:
    """@raise HypervisorError: the guest does not say that all goes on."""
    if await talk.ask("guest-fsfreeze-status", THAW_LIMIT) != "thawed":
        raise HypervisorError("its agent says that they are")
