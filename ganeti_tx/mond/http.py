"""The daemon's answers over plain HTTP: what the URLs of Ganeti's monitoring daemon tell, and /metrics."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.http import INTERNAL_SERVER_ERROR, NOT_ALLOWED, NOT_FOUND, OK
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from ganeti_tx.metrics.page import Page
from ganeti_tx.mond.envelope import listed
from ganeti_tx.mond.run import CollectorFailed
from ganeti_tx.mond.schedule import Schedule
from ganeti_tx.runtime.limited_site import BodilessRequest, LimitedSite, origin_form

log = Logger()

API_VERSIONS = [1]
#: Seconds after which a connection without a request is closed.
IDLE_LIMIT = 60.0


class NotFound(Exception):
    """There is nothing at a path."""


class Reports(Resource):
    """Every path. Reports are the collectors' last ones; nothing is looked up for a request."""

    isLeaf = True

    def __init__(self, schedule: Schedule, metrics: Callable[[str], Page], clock: IReactorTime) -> None:
        super().__init__()
        self._clock = clock
        self._schedule = schedule
        self._metrics = metrics

    def render(self, request: Request) -> bytes | int:
        """Answer when it is this connection's turn and the reports are there."""
        answer = Deferred.fromCoroutine(self._answer(request))
        request.notifyFinish().addErrback(lambda _: answer.cancel())
        answer.addErrback(broken, request)
        return NOT_DONE_YET

    async def _answer(self, request: Request) -> None:
        await deferLater(self._clock, 0)  # others have requests too
        path = origin_form(request.path)
        if request.method not in (b"GET", b"HEAD"):
            request.setHeader(b"Allow", b"GET, HEAD")
            finish(request, NOT_ALLOWED, b"only GET\n")
        elif path == b"/metrics":
            page = self._metrics((request.getHeader(b"accept") or b"").decode("ascii", "replace"))
            request.setHeader(b"Content-Type", page.content_type.encode())
            finish(request, OK, page.body)
        else:
            finish(request, *await self._report(path))

    async def _report(self, path: bytes) -> tuple[int, bytes]:
        """Status and body."""
        try:
            return OK, msgspec.json.encode(await self._found(path))
        except NotFound:
            return NOT_FOUND, b"not found; / lists the versions, /1/list/collectors the collectors\n"
        except CollectorFailed as error:
            return INTERNAL_SERVER_ERROR, f"{error}\n".encode()

    def _found(self, path: bytes) -> Awaitable[Any]:
        match path.decode("ascii", "replace").split("/"):
            case ["", ""]:
                return ready(API_VERSIONS)
            case ["", "1", ""]:
                return ready(None)
            case ["", "1", "list", "collectors"]:
                return ready([listed(run.collector) for run in self._schedule.active()])
            case ["", "1", "report", "all"]:
                return self._all()
            case ["", "1", "report", category, name]:
                return self._one(category, name)
        raise NotFound

    async def _all(self) -> list[Any]:
        return [await run.report() for run in self._schedule.active()]

    async def _one(self, category: str, name: str) -> Any:
        run = self._schedule.find(category, name)
        if run is None:
            raise NotFound
        return await run.report()


async def ready(value: Any) -> Any:
    """A value that is there already."""
    return value


def finish(request: Request, code: int, body: bytes) -> None:
    """Send an answer in chunks, as Ganeti does; nobody may be there any more."""
    if not request._disconnected:
        request.setResponseCode(code)
        request.write(body)
        request.finish()


def broken(failure: Failure, request: Request) -> None:
    """A fault of ours; a client that hung up is none."""
    if failure.check(CancelledError) is None:
        log.failure("an answer broke", failure)
        if not request.finished:
            finish(request, INTERNAL_SERVER_ERROR, b"internal error; the monitoring daemon's log has more\n")


class MonitoringSite(LimitedSite):
    """The HTTP server."""

    def __init__(self, schedule: Schedule, metrics: Callable[[str], Page], reactor: IReactorTime) -> None:
        super().__init__(Reports(schedule, metrics, reactor), BodilessRequest, IDLE_LIMIT, reactor)
