"""What every client of confd does, whatever carries its datagrams."""

from collections.abc import Awaitable
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import TestCase

from ganeti_tx.confd import questions
from ganeti_tx.confd.poll import Answer
from ganeti_tx.confd.protocol import Present
from ganeti_tx.confd.questions import Question
from ganeti_tx.errors import ConfdClientError
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.test.confd.cases import CLUSTER, CONFIG, present


class ConfdClientContract(TestCase):
    """A subclass brings `serve` and `ask`."""

    def serve(self, *servers: Present | None) -> None:
        """Have servers that answer with these, or not at all; the client asks all of them."""
        raise NotImplementedError

    def ask(self, question: Question[Any]) -> Awaitable[Answer[Any]]:
        """Ask them, with half a second until the question expires."""
        raise NotImplementedError

    def test_answers(self) -> "Deferred[None]":
        """Questions of all shapes have their answers in their types."""

        async def asking() -> None:
            self.serve(present(), present())
            self.assertEqual((await self.ask(questions.ping())).value, 3000000)
            self.assertEqual((await self.ask(questions.node_role("node2"))).value.name, "CANDIDATE")
            self.assertEqual((await self.ask(questions.master())).value.node_ip, "192.0.2.11")
            self.assertEqual((await self.ask(questions.config("/cluster/tags"))).value, ["a/b", "m~n"])
            self.assertEqual(len((await self.ask(questions.node_instances("node2"))).value.secondary), 1)

        return Deferred.fromCoroutine(asking())

    def test_large(self) -> "Deferred[None]":
        """An answer of tens of kilobytes comes whole."""

        async def asking() -> None:
            tags = tuple(f"tag {number:05}" for number in range(4000))
            self.serve(present(replace(CONFIG, cluster=replace(CLUSTER, tags=tags))))
            self.assertEqual((await self.ask(questions.config("/cluster/tags"))).value, list(tags))

        return Deferred.fromCoroutine(asking())

    def test_highest(self) -> "Deferred[None]":
        """The highest serial number wins; a silent peer is waited for, not for ever."""

        async def asking() -> None:
            self.serve(present(of(5)), None, present(of(9)), present(of(7)))
            found = await self.ask(questions.candidate_ips())
            self.assertEqual((found.serial, len(found.peers)), (9, 1))

        return Deferred.fromCoroutine(asking())

    def test_settled(self) -> "Deferred[None]":
        """Where the serial numbers leave it open, that of the configuration decides."""

        async def asking() -> None:
            self.serve(present(), present(replace(CONFIG, serial_no=43, instances={})))
            self.assertEqual((await self.ask(questions.node_drbd("node1"))).value, [])

        return Deferred.fromCoroutine(asking())

    def test_error(self) -> "Deferred[None]":
        """An error of the servers is raised as one line."""

        async def asking() -> None:
            self.serve(present(), present())
            with self.assertRaisesRegex(ConfdClientError, "^Node 'node9' not known$"):
                await self.ask(questions.node_role("node9"))

        return Deferred.fromCoroutine(asking())

    def test_silence(self) -> "Deferred[None]":
        """When nobody answers, that is an error."""

        async def asking() -> None:
            self.serve(None, None)
            with self.assertRaisesRegex(ConfdClientError, "^no answer within 0.5 s from "):
                await self.ask(questions.ping())

        return Deferred.fromCoroutine(asking())


def of(serial: int) -> ConfigData:
    """A configuration with this serial number of the cluster."""
    return replace(CONFIG, cluster=replace(CLUSTER, serial_no=serial))
