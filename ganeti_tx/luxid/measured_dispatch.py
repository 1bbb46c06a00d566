"""LUXI's requests, timed and counted."""

from typing import Any

from attrs import frozen
from twisted.internet.defer import CancelledError
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.luxi.peer import Peer
from ganeti_tx.luxi.server import Dispatch
from ganeti_tx.metrics.luxi import FAILURES, REQUESTS
from ganeti_tx.metrics.tally import Tally


@frozen
class MeasuredDispatch:
    """Passes requests on. Their methods are names of LUXI's table, so that the series are few."""

    dispatch: Dispatch
    tally: Tally
    clock: IReactorTime

    async def __call__(self, method: str, args: list[Any], peer: Peer | None) -> object:
        """As Dispatch says."""
        begun = self.clock.seconds()
        failed = True
        try:
            result = await self.dispatch(method, args, peer)
            failed = False
            return result
        except CancelledError:
            failed = False  # who asked has hung up
            raise
        finally:
            self.tally.observe(REQUESTS, self.clock.seconds() - begun, method)
            if failed:
                self.tally.count(FAILURES, method)
