"""What a daemon tells of its own process: what it uses, and how late its reactor is."""

from collections.abc import Callable

from attrs import define, field
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.metrics.process import LAG, Usage, record_usage
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.runtime.process_usage import read_usage
from ganeti_tx.runtime.reactor_lag import ReactorLag


@define(eq=False)
class OwnProcess:
    """Records into a tally under the daemon's name, such as "ganeti-mond"."""

    daemon: str
    tally: Tally
    clock: IReactorTime
    read: Callable[[], Usage] = read_usage
    _lag: ReactorLag = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._lag = ReactorLag(self.clock, lambda seconds: self.tally.observe(LAG, seconds, self.daemon))

    def start(self) -> None:
        """Look at the reactor's lag from now on."""
        self._lag.start()

    def record(self) -> None:
        """Record what is used now; called before the tally is read."""
        record_usage(self.tally, self.daemon, self.read())

    def stop(self) -> None:
        """Look no more."""
        self._lag.stop()
