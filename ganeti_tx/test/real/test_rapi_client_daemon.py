"""Each client of the Remote API against the running daemon of a devcluster."""

from contextlib import aclosing
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import TestCase

from ganeti_tx.errors import JobLost, OpPrereqError
from ganeti_tx.model.events import GapEvent, JobEvent
from ganeti_tx.rapi_client import UNKNOWN, Login, RapiError
from ganeti_tx.rapi_client.actions.tags import add_group_tags
from ganeti_tx.rapi_client.server import Credentials
from ganeti_tx.test.real import client_styles
from ganeti_tx.test.real.client_styles import Use
from ganeti_tx.test.real.rapi_cluster import READER, WRITER, rapi_cluster

WEB = "web1.example.com"


class DaemonContract:
    """What every kind of client can do with a cluster."""

    style: Any
    assertEqual: Any
    assertIn: Any
    assertGreater: Any
    assertIsNone: Any
    fail: Any

    def setUp(self) -> None:
        self.cluster = rapi_cluster()

    def run_as(self, credentials: Credentials | None, use: Use) -> Deferred[Any]:
        """Use a client with these credentials."""
        done: Deferred[Any] = self.style(self.cluster.server(credentials), use)
        return done

    async def refused(self, credentials: Credentials | None, status: int, use: Use) -> None:
        """The status with which it is refused."""
        try:
            await self.run_as(credentials, use)
        except RapiError as error:
            self.assertEqual(error.status, status)
        else:
            self.fail("it was not refused")

    async def test_what_there_is(self) -> None:
        """Everything that can be shown is shown, typed."""

        async def use(client: Any) -> None:
            info = await client.get_info()
            node = info.master
            self.assertEqual((await client.get_version(), info.enabled_hypervisors), (2, ("fake",)))
            self.assertEqual(await client.get_nodes(), [node])
            self.assertEqual([each.role for each in await client.get_nodes_bulk()], ["M"])
            self.assertEqual(await client.get_node_role(node), "master")
            self.assertEqual((await client.get_node(node)).pip, self.cluster.address)
            self.assertEqual((await client.get_group("default")).node_list, (node,))
            self.assertEqual([each.name for each in await client.get_groups_bulk()], await client.get_groups())
            self.assertEqual(await client.get_networks(), [])
            found = await client.query("node", ["name", "role"], qfilter=["=", "name", node])
            self.assertEqual(found.data, (((0, node), (0, "M")),))
            self.assertEqual((await client.query_fields("node", fields=["name"])).fields[0].title, "Node")
            self.assertIn("# TYPE", await client.get_metrics())
            self.assertIn("/2/info", (await client.get_openapi())["paths"])

        await self.run_as(WRITER, use)

    async def test_life_of_an_instance(self) -> None:
        """An instance is made, started, tagged, seen and removed."""

        async def use(client: Any) -> None:
            node = (await client.get_nodes())[0]
            settings = {"pnode": node, "os_type": "noop", "no_install": True, "name_check": False, "ip_check": False}
            steps = (
                lambda: client.create_instance("create", WEB, "diskless", [], [{}], reason="test", **settings),
                lambda: client.startup_instance(WEB),
                lambda: client.add_instance_tags(WEB, ["a", "b"]),
            )
            for step in steps:
                await client.wait_for_job(await step(), limit=60)
            instance = await client.get_instance(WEB)
            self.assertEqual((instance.status, instance.pnode, sorted(instance.tags)), ("running", node, ["a", "b"]))
            self.assertEqual([each.name for each in await client.get_instances_bulk()], [WEB])
            self.assertEqual((await client.get_instance_console(WEB)).instance, WEB)
            removed = await client.delete_instance(WEB)
            self.assertEqual(await client.wait_for_job_completion(removed), True)
            self.assertEqual(await client.get_instances(), [])
            self.assertIn(str(removed), await client.get_jobs())

        await self.run_as(WRITER, use)

    async def test_failed_job(self) -> None:
        """A job that fails raises what it failed with; one that is not there is lost."""

        async def use(client: Any) -> None:
            for job, kind in ((await client.startup_instance("nowhere"), OpPrereqError), (99999, JobLost)):
                try:
                    await client.wait_for_job(job, limit=60)
                except kind:
                    continue
                self.fail(f"no {kind}")

        await self.run_as(WRITER, use)

    async def test_reader(self) -> None:
        """Who may only read sees a job end, and changes nothing."""
        job = await self.run_as(WRITER, lambda client: client.redistribute_config())
        done = await self.run_as(READER, lambda client: client.wait_for_job(job, limit=60))
        self.assertEqual(done.status, "success")
        await self.refused(READER, 403, lambda client: client.redistribute_config())

    async def test_refused(self) -> None:
        """The status and the text of what is refused are there."""
        await self.refused(None, 401, lambda client: client.redistribute_config())
        await self.refused(Login(WRITER.user, "wrong"), 401, lambda client: client.get_version())
        await self.refused(WRITER, 404, lambda client: client.get_instance("nowhere"))
        await self.refused(WRITER, 400, lambda client: client.query("node", ["name"], qfilter=["nonsense"]))

    async def test_only_if_unchanged(self) -> None:
        """A change on condition that the object is another one now is not made."""
        change = add_group_tags("default", ["late"]).matching('"00000000-0000.1.00"')
        await self.refused(WRITER, 412, lambda client: client.do(change))

    async def test_events(self) -> None:
        """Events come as they happen, and again from where somebody stopped."""

        async def use(client: Any) -> list[Any]:
            first = await self.ends_of_jobs(client, None, [await client.redistribute_config()])
            job = await client.redistribute_config()
            await client.wait_for_job(job, limit=60)
            return [first, await self.ends_of_jobs(client, first[0], [job])]

        (_, first), (_, second) = await self.run_as(WRITER, use)
        self.assertGreater(second, first)

    async def test_archived_job(self) -> None:
        """A job that was archived is still there for who waits for it."""

        async def use(client: Any) -> None:
            job = await client.redistribute_config()
            await client.wait_for_job(job, limit=60)
            self.cluster.cluster.must("gnt-job", "archive", str(job))
            self.assertEqual((await client.wait_for_job(job, limit=60)).status, "success")

        await self.run_as(WRITER, use)

    async def test_events_with_nothing_known(self) -> None:
        """Who knows nothing is told first to read everything, whatever kinds he asks for."""

        async def use(client: Any) -> Any:
            async with aclosing(client.events(UNKNOWN, kinds=["instance"])) as events:
                async for happened in events:
                    return happened.event

        gap = await self.run_as(READER, use)
        self.assertEqual((gap.__class__, "instance" in gap.resync), (GapEvent, True))

    async def ends_of_jobs(self, client: Any, after: str | None, jobs: list[int]) -> tuple[str, int]:
        """The id of the event that one of the jobs has ended, and the job; asks for more events meanwhile."""
        async with aclosing(client.events(after, kinds=["job"])) as events:
            jobs.append(await client.redistribute_config())
            async for happened in events:
                event = happened.event
                if isinstance(event, JobEvent) and event.status == "success" and event.job in jobs:
                    return happened.id, event.job
        raise AssertionError("the events ended")


class BlockingTests(DaemonContract, TestCase):
    """The client that blocks."""

    style = staticmethod(client_styles.blocking)


class AsyncioTests(DaemonContract, TestCase):
    """The client on asyncio."""

    style = staticmethod(client_styles.with_asyncio)


class TwistedTests(DaemonContract, TestCase):
    """The client on Twisted."""

    style = staticmethod(client_styles.with_twisted)
