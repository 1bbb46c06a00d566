"""`burnin` against a cluster in this process, whose time passes while it waits."""

import io
from collections.abc import Callable

from attrs import define, field

from ganeti_tx.burnin.confd_questions import Ask
from ganeti_tx.burnin.main import burn
from ganeti_tx.cli.program import CommandContext
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.commands import DrivingClient


@define
class Burning:
    """Runs it on the master node. Nobody answers for the configuration daemons and the instances unless a test does."""

    cluster: InProcessCluster
    confd: Callable[[], Ask] | None = None
    fetch: Callable[[str], str] = lambda name: "nobody answers"
    out: io.StringIO = field(factory=io.StringIO)
    err: io.StringIO = field(factory=io.StringIO)

    def __call__(self, line: str, client: DrivingClient | None = None) -> int:
        """The exit status."""
        luxi = client or DrivingClient(self.cluster)
        context = CommandContext(
            environ={"GANETI_HOSTNAME": self.cluster.master.name},
            out=self.out,
            err=self.err,
            stdin=io.StringIO(),
            connect=lambda: luxi,
            run=lambda argv, document: 1,
            now=self.cluster.time.seconds,
            sleep=self.cluster.pass_time,
        )
        words = line.split() if self.confd else ["--no-confd", *line.split()]
        try:
            return burn(words, context, self.confd or self._nobody, self.fetch, lambda name: (name, ""))
        finally:
            luxi.close()

    @staticmethod
    def _nobody() -> Ask:
        raise AssertionError("no configuration daemon is asked")
