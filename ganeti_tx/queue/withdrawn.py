"""Callers of the Remote API whose rights were taken away, or changed: what they asked for before is not begun any more.

Their jobs that wait are cancelled by whoever changes the rights. But a request that was let in before may submit its job only after
that, and so may a job that runs.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from attrs import define, field
from twisted.logger import Logger

from ganeti_tx.errors import ECode, JobCanceled, OpPrereqError
from ganeti_tx.model.signature import requests_of
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.files_retry import in_place
from ganeti_tx.runtime.path_modes import FILE_MODES
from ganeti_tx.runtime.paths import Paths

log = Logger()

MODE = FILE_MODES["/var/run/ganeti/luxidmessages/withdrawn"].mode
#: Of so many callers it is known; who was withdrawn longest ago goes first.
MOST = 5000
#: Nanoseconds since the epoch: the year 2262.
LAST = 2**63 - 1
#: Characters of a caller.
LONGEST = 256
#: Bytes, in which all of them fit.
MAX_FILE = 8 * 1024 * 1024
#: Names nobody: others are shown what a job has submitted.
REFUSED = (
    "the rights of whoever asked for this were taken away or changed after that, so it is not done; whoever may do it now can "
    "ask for it again"
)


@define
class WithdrawnCallers:
    """Until when each asked for nothing that may be begun; who asks later may have been given the name, or other rights, anew.

    It outlasts this daemon, as jobs do that run, but no reboot, which ends them.
    """

    files: IFiles
    paths: Paths
    #: In nanoseconds since the epoch, in the order of withdrawal.
    _until: dict[str, int] = field(factory=dict)

    def load(self) -> None:
        """Know what an earlier daemon knew."""
        path = self.paths.withdrawn_file
        try:
            self._until = msgspec.json.decode(self.files.read(path, MAX_FILE), type=dict[str, int])
        except FileNotFoundError:
            pass
        except (OSError, msgspec.DecodeError) as error:  # a ValidationError is one, too
            why = reason(error) if isinstance(error, OSError) else str(error)
            log.error("{path} cannot be read: {why}; jobs that run may submit others with rights that were taken away",
                      path=str(path), why=why)  # fmt: skip

    async def withdraw(self, caller: str, until: int) -> bool:
        """From now on nothing is begun that a caller asked for until then; always true.

        @param until: nanoseconds since the epoch.
        @raise OpPrereqError: there is no such time, or nobody has such a name.
        """
        if until > LAST:
            raise OpPrereqError(f"a time is {LAST} ns since the epoch at most, not {until}", ECode.INVAL)
        if len(caller) > LONGEST:
            raise OpPrereqError(f"a caller has {LONGEST} characters at most, not {len(caller)}", ECode.INVAL)
        self._until[caller] = max(until, self._until.pop(caller, 0))
        for name in list(self._until)[:-MOST]:
            del self._until[name]
        path = self.paths.withdrawn_file
        try:
            await in_place(self.files.write_atomic(path, msgspec.json.encode(self._until), MODE))
        except OSError as error:
            log.error(
                "{path} cannot be written: {why}; a restart forgets what it would say",
                path=str(path),
                why=reason(error),
            )
        return True

    def refusal(self, reasons: Iterable[Iterable[Sequence[Any]]]) -> JobCanceled | None:
        """Why a job is not begun. @param reasons: the reason trails of its opcodes"""
        if not self._until:
            return None
        for caller, at in (request for trail in reasons for request in requests_of(trail)):
            if at <= self._until.get(caller, -1):
                log.info("what {caller} asked for before a change of rights is not begun", caller=caller)
                return JobCanceled(REFUSED)
        return None
