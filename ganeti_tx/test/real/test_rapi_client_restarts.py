"""Each client of the Remote API while the daemons behind it are killed and started again."""

import signal
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import TestCase

from ganeti_tx.test.real import client_styles
from ganeti_tx.test.real.rapi_cluster import rapi_cluster

STYLES: tuple[Any, ...] = (client_styles.blocking, client_styles.with_asyncio, client_styles.with_twisted)


class RestartTests(TestCase):
    """Who waits goes on waiting."""

    async def test_waiting_for_a_job(self) -> None:
        """A job that ends while the daemons are away and come again is seen to end."""
        cluster = rapi_cluster("restarts")
        job = await deferToThread(cluster.cluster.submit, "gnt-debug", "delay", "3")

        async def use(client: Any) -> Any:
            return (await client.wait_for_job(job, limit=100)).status

        waiting: list[Deferred[Any]] = [style(cluster.server(), use) for style in STYLES]
        for daemon in ("ganeti-master", "ganeti-rapi"):
            await deferToThread(cluster.cluster.end, daemon, signal.SIGKILL)
            await deferToThread(cluster.cluster.must, daemon)
        self.assertEqual([await each for each in waiting], ["success"] * len(STYLES))
