"""The jobs in both clusters, and what they say."""

import time
from collections.abc import Callable
from typing import Any

from attrs import define, field

from ganeti_tx.errors import GanetiError, GenericError
from ganeti_tx.model.remote_moves import REMOTE_IMPORT
from ganeti_tx.rapi_client import Client, ClientError, RapiError
from ganeti_tx.rapi_client.backoff import Backoff
from ganeti_tx.rapi_client.records.job import FINAL


@define
class Job:
    """One that was submitted. @ivar tell: is told what it says."""

    client: Client
    id: int | str
    where: str
    tell: Callable[[str], None]
    _status: str | None = None
    _serial: int | None = None
    _told: dict[str, Any] | None = field(default=None)

    def until_listening(self) -> dict[str, Any]:
        """Where it listens. @raise GanetiError: it ended before it did."""
        while self._told is None:
            if self._status in FINAL:
                self.result()
                raise GenericError(f"{self.name} ended, and has not said where it listens")
            self._follow()
        return self._told

    def result(self) -> Any:
        """What its only opcode gave, once it has ended. @raise GanetiError: what it failed with."""
        while self._status not in FINAL:
            self._follow()
        done = self.client.wait_for_job(self.id)
        return (done.opresult or (None,))[0]

    def error(self) -> str:
        """Why it failed; empty if it did not."""
        try:
            self.result()
        except GanetiError as error:
            return f"{self.name}: {error}"
        return ""

    def cancel(self) -> None:
        """Have it stop, if it can be."""
        try:
            self.client.cancel_job(self.id)
        except ClientError as error:
            self.tell(f"{self.name} could not be cancelled: {error}")

    @property
    def name(self) -> str:
        """As people look for it."""
        return f"job {self.id} of {self.where}"

    def _follow(self) -> None:
        """Wait for the next change, also while the server is started again."""
        backoff = Backoff()
        known = None if self._status is None else [self._status]
        while True:
            try:
                change = self.client.wait_for_job_change(self.id, ["status"], known, self._serial)
                break
            except RapiError as error:
                if error.status == 404:
                    raise GenericError(f"{self.name} is not there any more") from None
                time.sleep(backoff.after(error))
            except ClientError as error:
                time.sleep(backoff.after(error))
        if change is not None:
            self._status = str((change.job_info or (None,))[0])
            for entry in change.log_entries or ():
                self._read(entry)

    def _read(self, entry: Any) -> None:
        match entry:
            case [int() as serial, _, kind, message]:
                self._serial = max(serial, self._serial or 0)
                if kind == REMOTE_IMPORT and isinstance(message, dict):
                    self._told = message
                elif isinstance(message, str):
                    self.tell(f"{self.name}: {message}")
